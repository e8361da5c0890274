"""A model behind an OpenAI-compatible endpoint, asked with the standard library.

The key comes from the environment alone. It is sent to the endpoint's own address and
nowhere else: redirects are refused, and so is plain HTTP to another machine. Whatever
comes back is searched for the key before it is kept or shown.
"""

import http.client
import ipaddress
import json
import math
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Literal, NamedTuple

from anchorjax.errors import UserError, brief
from anchorjax.prompts.asking import Answer, Unavailable

Api = Literal['chat', 'completions']
_PATHS = {'chat': 'chat/completions', 'completions': 'completions'}
_LARGEST = 2**24  # bytes of a response
_BLOCK = 2**16
# Of these the same request may succeed later; any other failure is final.
_TEMPORARY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_HIDDEN = '[key]'


class Settings(NamedTuple):
    """What the replies depend on; kept beside them."""

    endpoint: str
    model: str
    api: Api
    fields: dict[str, Any]  # of the request, besides model and prompt


class Endpoint:
    """A `LanguageModel` behind an endpoint."""

    def __init__(self, settings: Settings, key: str, timeout: float):
        """Raises UserError if the address cannot be trusted with a key."""
        self._settings = settings
        self._key = key
        self._timeout = timeout
        base = settings.endpoint.rstrip('/')
        path = _PATHS[settings.api]
        self._address = f'{base}/{path}'
        check_address(settings.endpoint, has_key=bool(key))
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, prompt: str, id: str) -> Answer:
        """See `LanguageModel`."""
        request = self._make_request(prompt, id)
        deadline = time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                data = _read_until(response, deadline)
        except urllib.error.HTTPError as e:
            with e:  # its connection is open until it is closed
                raise self._judge(e, deadline) from None
        except (OSError, http.client.HTTPException) as e:
            reason = getattr(e, 'reason', e)
            raise Unavailable(self._describe(f'no answer ({reason!r})')) from None
        return self._read_answer(data)

    def _make_request(self, prompt: str, id: str) -> urllib.request.Request:
        content: dict[str, Any] = {'model': self._settings.model}
        if self._settings.api == 'chat':
            content['messages'] = [{'role': 'user', 'content': prompt}]
        else:
            content['prompt'] = prompt
        content |= self._settings.fields
        headers = {
            'Content-Type': 'application/json',
            # So that a server that knows such keys answers a repeated request once.
            'Idempotency-Key': urllib.parse.quote(id, safe=''),
        }
        body = json.dumps(content).encode()
        request = urllib.request.Request(self._address, body, headers, method='POST')
        if self._key:
            request.add_unredirected_header('Authorization', f'Bearer {self._key}')
        return request

    def _judge(
        self, error: urllib.error.HTTPError, deadline: float
    ) -> Unavailable | UserError:
        """What a status other than success means."""
        try:
            detail = _read_until(error, deadline).decode('utf-8', 'replace')
        except (OSError, http.client.HTTPException):
            detail = ''
        text = self._describe(f'HTTP {error.code} {error.reason}: {detail[:300]}')
        if error.code in _TEMPORARY:
            wait = _parse_wait(error.headers.get('Retry-After'))
            return Unavailable(text, wait)
        return UserError(text)

    def _read_answer(self, data: bytes) -> Answer:
        try:
            choice = json.loads(data)['choices'][0]
            text = choice.get('text')
            if self._settings.api == 'chat':
                text = choice['message'].get('content')
            if text is None:  # it only refused, or thought until it had to stop
                text = ''
            if not isinstance(text, str):
                raise TypeError('the reply is no text')
            finish = str(choice.get('finish_reason') or '')
        except (ValueError, LookupError, TypeError, AttributeError) as e:
            reason = f'no answer in the response ({type(e).__name__})'
            raise Unavailable(self._describe(reason)) from None
        return Answer(self._hide(text), self._hide(finish))

    def _describe(self, reason: str) -> str:
        return brief(self._hide(f'{self._settings.endpoint}: {reason}'))

    def _hide(self, text: str) -> str:
        """The text without the key, plain or as it would stand in an address."""
        if not self._key:
            return text
        quoted = urllib.parse.quote(self._key, safe='')
        text = text.replace(self._key, _HIDDEN)
        return text.replace(quoted, _HIDDEN)


def read_key(variable: str) -> str:
    """The key in a variable of the environment; '' if it is not set.

    Raises:
      UserError: it has characters that no key has. (The standard library would show
        the whole key in its error.)
    """
    key = os.environ.get(variable, '').strip()
    is_plain = key.isascii() and key.isprintable() and ' ' not in key
    if not is_plain:
        raise UserError(f'{variable}: holds characters that no key has (not shown)')
    return key


def check_address(endpoint: str, has_key: bool) -> None:
    """Raises UserError unless the address may be kept in files and given the key."""
    if not _is_well_formed(endpoint):
        raise UserError(
            '--endpoint: must be https://HOST:PORT/... in plain ASCII without spaces, '
            'with a number as port, or without one'
        )
    parts = urllib.parse.urlsplit(endpoint)
    shown = f'{parts.scheme}://{parts.hostname}'
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        raise UserError('--endpoint: must be https://HOST/..., e.g. .../v1')
    if '@' in parts.netloc or parts.query or parts.fragment:
        raise UserError(
            f'--endpoint {shown}: must have no user, query or fragment: it is written '
            'into files; a key belongs into the environment'
        )
    if has_key and parts.scheme == 'http' and not _is_this_machine(parts.hostname):
        raise UserError(
            f'--endpoint {shown}: must be https, or the key could be read on the way'
        )


def _is_well_formed(endpoint: str) -> bool:
    """Whether the standard library can use the address; it may be of a wrong kind."""
    is_plain = endpoint.isascii() and endpoint.isprintable() and ' ' not in endpoint
    try:
        parts = urllib.parse.urlsplit(endpoint)
        (parts.hostname or '').encode('idna')  # as a socket does
        return is_plain and parts.port != 0
    except ValueError:  # no number as port, half of an IPv6 address, a host as a..b
        return False


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the error that it is: it could lead the key elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _read_until(response: Any, deadline: float) -> bytes:
    """The whole body; TimeoutError at the deadline, though bytes keep dripping."""
    parts = []
    size = 0
    while block := response.read1(_BLOCK):
        parts.append(block)
        size += len(block)
        if size > _LARGEST:
            raise OSError(f'a response of more than {_LARGEST:,} bytes')
        if time.monotonic() > deadline:
            raise TimeoutError('timed out')
    expected = response.headers.get('Content-Length', '')
    if expected.isdecimal() and size < int(expected):
        raise http.client.IncompleteRead(b'', int(expected) - size)
    return b''.join(parts)


def _parse_wait(text: str | None) -> float | None:
    """Seconds of a Retry-After header; None for a date or anything else."""
    try:
        seconds = float(text or '')
    except ValueError:
        return None
    return None if math.isnan(seconds) else min(seconds, 1e9)


def _is_this_machine(host: str) -> bool:
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
