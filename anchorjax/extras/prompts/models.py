"""Language models to ask: behind an OpenAI-compatible endpoint, or on this machine.

The package openai repeats what may succeed later (a busy server, a lost connection) and
waits as long as the server says. Ours is the care for the key: it is sent to the
endpoint's own address alone, never over plain HTTP to another machine, and removed from
whatever comes back.
"""

import os
import pathlib
import urllib.parse
from typing import Any

from anchorjax.errors import (
    TemporaryError,
    UserError,
    brief,
    describe_cause,
    import_extra,
)

_HIDDEN = '[key]'
_THIS_MACHINE = ('localhost', '127.0.0.1', '::1')


class Endpoint:
    """Asks a model behind an endpoint (extra `prompts`) one prompt after another.

    Args:
      settings: what the replies depend on: `endpoint`, `model`, `api` ('chat' or
        'completions') and `fields`, of the request besides model and prompt.
      key: '' if the endpoint needs none.
      timeout: seconds for one request.
      retries: of one prompt.

    Raises:
      UserError: the address cannot be trusted with a key, or the extra is missing.
    """

    def __init__(
        self, settings: dict[str, Any], key: str, timeout: float, retries: int
    ):
        openai = import_extra('openai', 'prompts')
        check_address(settings['endpoint'], has_key=bool(key))
        self._settings = settings
        self._key = key
        self._openai = openai
        self._client = openai.OpenAI(
            base_url=settings['endpoint'],
            api_key=key or 'none',  # the package demands one
            max_retries=retries,
            timeout=timeout,
            # A redirect could lead the key elsewhere.
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )

    def ask(self, prompt: str, id: str) -> tuple[str, str]:
        """(the reply, why it ended there: 'stop', 'length', ...).

        Raises:
          TemporaryError: there is no answer after all retries.
          UserError: the endpoint refuses.
        """
        try:
            choice = self._request(prompt, id).choices[0]
            is_chat = self._settings['api'] == 'chat'
            # None: it only refused, or thought until it had to stop.
            text = (choice.message.content if is_chat else choice.text) or ''
            return self._hide(text), self._hide(choice.finish_reason or '')
        except self._openai.APIStatusError as e:
            is_final = e.status_code < 500 and e.status_code not in (408, 409, 429)
            kind = UserError if is_final else TemporaryError
            line = f'HTTP {e.status_code}: {e.response.text}'
            raise kind(self._describe(line)) from None
        except self._openai.APIError as e:
            reason = f'no answer ({e.__cause__ or e.message})'
            raise TemporaryError(self._describe(reason)) from None
        except Exception as e:  # the package parses whatever comes back
            reason = f'no answer in the response ({type(e).__name__})'
            raise TemporaryError(self._describe(reason)) from None

    def _request(self, prompt: str, id: str) -> Any:
        common = {
            'model': self._settings['model'],
            'extra_body': self._settings['fields'],
            # So that a server that knows such keys answers a repeated request once.
            'extra_headers': {'Idempotency-Key': urllib.parse.quote(id, safe='')},
        }
        if self._settings['api'] == 'completions':
            return self._client.completions.create(prompt=prompt, **common)
        messages = [{'role': 'user', 'content': prompt}]
        return self._client.chat.completions.create(messages=messages, **common)

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


class LocalModel:
    """A model of the package transformers (extra `llm`), with greedy decoding.

    Only safetensors are read, and no code of the folder is run.

    Args:
      chat: apply the tokenizer's chat template.
      max_tokens: the longest reply.

    Raises:
      UserError: the extra is missing, or the folder holds no model.
    """

    def __init__(self, folder: pathlib.Path, chat: bool, max_tokens: int):
        transformers = import_extra('transformers', 'llm')
        if not (folder / 'config.json').is_file():  # else its name would be downloaded
            raise UserError(f'--local {folder}: no model there (no config.json)')
        try:
            self._generate = transformers.pipeline(
                'text-generation',
                model=str(folder),
                trust_remote_code=False,
                model_kwargs={'use_safetensors': True},
            )
        except Exception as e:  # transformers raises many kinds
            raise UserError(f'--local {folder}: {describe_cause(e)}') from None
        if chat and not self._generate.tokenizer.chat_template:
            raise UserError(f'--local {folder}: its tokenizer has no chat template')
        self._chat = chat
        self._max_tokens = max_tokens

    def ask(self, prompt: str, id: str) -> tuple[str, str]:
        """(the reply, ''); UserError if the prompt does not fit the model."""
        length = len(self._generate.tokenizer(prompt)['input_ids'])
        config = self._generate.model.config
        limit = getattr(config, 'max_position_embeddings', None)
        if limit is not None and length + self._max_tokens > limit:
            raise UserError(
                f'{id}: {length} tokens and a reply of {self._max_tokens}: the model '
                f'has {limit} positions; write prompts with fewer --shots'
            )
        said = [{'role': 'user', 'content': prompt}] if self._chat else prompt
        options = {'max_new_tokens': self._max_tokens, 'do_sample': False}
        (result,) = self._generate(said, return_full_text=False, **options)
        return result['generated_text'], ''
