"""A model behind an OpenAI-compatible endpoint, asked by the package openai.

The package repeats what may succeed later (a busy server, a lost connection), waits as
long as the server says, and ends a request without progress. Ours are the deadline of a
whole request, and the care for the key: it is sent to the endpoint's own address alone,
never over plain HTTP to another machine, and removed from whatever comes back.
"""

import asyncio
import ipaddress
import os
import urllib.parse
from typing import Any

import httpx2
import openai

from anchorjax.errors import TemporaryError, UserError, brief

_HIDDEN = '[key]'


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
        self._runner = asyncio.Runner()
        self._client = openai.AsyncOpenAI(
            base_url=settings['endpoint'],
            api_key=key or 'none',  # the package demands one
            max_retries=retries,
            http_client=_DeadlineClient(timeout),
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
            reason = f'HTTP {e.status_code}: {e.response.text[:300]}'
            raise kind(self._describe(reason)) from None
        except openai.APIError as e:
            reason = f'no answer ({e.__cause__ or e.message})'
            raise TemporaryError(self._describe(reason)) from None
        except (
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            RecursionError,
        ) as e:
            reason = f'no answer in the response ({type(e).__name__})'
            raise TemporaryError(self._describe(reason)) from None

    async def _request(self, prompt: str, id: str) -> Any:
        common = {
            'model': self._settings['model'],
            'extra_body': self._settings['fields'],
            # So that a server that knows such keys answers a repeated request once.
            'extra_headers': {'Idempotency-Key': urllib.parse.quote(id, safe='')},
        }
        if self._settings['api'] == 'completions':
            return await self._client.completions.create(prompt=prompt, **common)
        messages = [{'role': 'user', 'content': prompt}]
        return await self._client.chat.completions.create(messages=messages, **common)

    def _describe(self, reason: str) -> str:
        return brief(self._hide(f'{self._settings["endpoint"]}: {reason}'))

    def _hide(self, text: str) -> str:
        return text.replace(self._key, _HIDDEN) if self._key else text


class _DeadlineClient(openai.DefaultAsyncHttpxClient):
    """Ends every request at its deadline, though bytes keep dripping.

    The package's own time-outs start anew with every byte. Redirects are refused: they
    could lead the key elsewhere.
    """

    def __init__(self, seconds: float):
        super().__init__(timeout=seconds, follow_redirects=False)
        self._seconds = seconds

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            async with asyncio.timeout(self._seconds):
                return await super().send(request, **options)
        except TimeoutError:
            line = f'timed out after {self._seconds:g} s'
            raise httpx2.ReadTimeout(line, request=request) from None


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
    try:
        parts = urllib.parse.urlsplit(endpoint)
        is_usable = parts.scheme in ('http', 'https') and parts.hostname
        is_usable = is_usable and parts.port != 0 and httpx2.URL(endpoint).host
    except (ValueError, httpx2.InvalidURL):
        is_usable = False
    if not is_usable:
        raise UserError('--endpoint: must be https://HOST/..., e.g. .../v1')
    if '@' in parts.netloc or parts.query or parts.fragment:
        raise UserError(
            '--endpoint: must have no user, query or fragment: it is written into '
            'files; a key belongs in the environment'
        )
    if has_key and parts.scheme == 'http' and not _is_this_machine(parts.hostname):
        raise UserError(
            '--endpoint: must be https, or the key could be read on the way'
        )


def _is_this_machine(host: str) -> bool:
    try:
        return host == 'localhost' or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
