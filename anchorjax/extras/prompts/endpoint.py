"""A model behind an OpenAI-compatible endpoint, asked by the package openai.

The package repeats what may succeed later (a busy server, a lost connection) and waits
as long as the server says. Ours are the deadline of a whole question, and the care for
the key: it is sent to the endpoint's own address alone, never over plain HTTP to
another machine, and removed from whatever comes back.
"""

import asyncio
import os
import urllib.parse
from typing import Any

import openai

from anchorjax.errors import TemporaryError, UserError, brief

_HIDDEN = '[key]'
_THIS_MACHINE = ('localhost', '127.0.0.1', '::1')


class Endpoint:
    """Asks a model one prompt after another.

    Args:
      settings: what the replies depend on: `endpoint`, `model`, `api` ('chat' or
        'completions') and `fields`, of the request besides model and prompt.
      key: '' if the endpoint needs none.
      timeout: seconds for one request.
      retries: of one prompt.

    Raises:
      UserError: the address cannot be trusted with a key.
    """

    def __init__(
        self, settings: dict[str, Any], key: str, timeout: float, retries: int
    ):
        check_address(settings['endpoint'], has_key=bool(key))
        self._settings = settings
        self._key = key
        # The package's own time-outs start anew with every byte.
        self._deadline = timeout * (retries + 1)
        self._runner = asyncio.Runner()
        self._client = openai.AsyncOpenAI(
            base_url=settings['endpoint'],
            api_key=key or 'none',  # the package demands one
            max_retries=retries,
            timeout=timeout,
            # A redirect could lead the key elsewhere.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )

    def ask(self, prompt: str, id: str) -> tuple[str, str]:
        """(the reply, why it ended there: 'stop', 'length', ...).

        Raises:
          TemporaryError: there is no answer after all retries.
          UserError: the endpoint refuses.
        """
        try:
            choice = self._runner.run(self._request(prompt, id)).choices[0]
            is_chat = self._settings['api'] == 'chat'
            # None: it only refused, or thought until it had to stop.
            text = (choice.message.content if is_chat else choice.text) or ''
            return self._hide(text), self._hide(choice.finish_reason or '')
        except openai.APIStatusError as e:
            is_final = e.status_code < 500 and e.status_code not in (408, 409, 429)
            kind = UserError if is_final else TemporaryError
            raise kind(
                self._describe(f'HTTP {e.status_code}: {e.response.text}')
            ) from None
        except openai.APIError as e:
            reason = f'no answer ({e.__cause__ or e.message})'
            raise TemporaryError(self._describe(reason)) from None
        except TimeoutError:
            reason = f'timed out after {self._deadline:g} s'
            raise TemporaryError(self._describe(reason)) from None
        except Exception as e:  # the package parses whatever comes back
            reason = f'no answer in the response ({type(e).__name__})'
            raise TemporaryError(self._describe(reason)) from None

    async def _request(self, prompt: str, id: str) -> Any:
        common = {
            'model': self._settings['model'],
            'extra_body': self._settings['fields'],
            # So that a server that knows such keys answers a repeated request once.
            'extra_headers': {'Idempotency-Key': urllib.parse.quote(id, safe='')},
        }
        messages = [{'role': 'user', 'content': prompt}]
        async with asyncio.timeout(self._deadline):
            if self._settings['api'] == 'completions':
                return await self._client.completions.create(prompt=prompt, **common)
            return await self._client.chat.completions.create(
                messages=messages, **common
            )

    def _describe(self, reason: str) -> str:
        return brief(self._hide(f'{self._settings["endpoint"]}: {reason}'))

    def _hide(self, text: str) -> str:
        return text.replace(self._key, _HIDDEN) if self._key else text


def read_key(variable: str) -> str:
    """The key in a variable of the environment; '' if it is not set.

    Raises:
      UserError: it has characters that no key has; HTTP's own error would show it.
    """
    key = os.environ.get(variable, '').strip()
    if not (key.isascii() and key.isprintable()) or ' ' in key:
        raise UserError(f'{variable}: holds characters that no key has (not shown)')
    return key


def check_address(endpoint: str, has_key: bool) -> None:
    """Raises UserError unless the address may be kept in files and given the key."""
    parts = urllib.parse.urlsplit(endpoint)
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        raise UserError('--endpoint: must be https://HOST/..., e.g. .../v1')
    if '@' in parts.netloc or parts.query or parts.fragment:
        raise UserError(
            '--endpoint: must have no user, query or fragment: it is written into '
            'files; a key belongs in the environment'
        )
    is_safe = parts.scheme == 'https' or parts.hostname in _THIS_MACHINE
    if has_key and not is_safe:
        raise UserError(
            '--endpoint: must be https, or the key could be read on the way'
        )
