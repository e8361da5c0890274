"""The errors a user can cause. A command line prints their one line and exits with code 2."""

import difflib

_SHOWN = 300  # characters of a value that is anyone's


class UserError(ValueError):
    """Bad input: one line that names the thing, its value and what is allowed."""

    def __init__(self, line: str):
        super().__init__(printable(' '.join(line.split())))


class ConfigError(UserError):
    """A field of the configuration has a value that is not allowed."""


class StoreError(UserError):
    """A run folder cannot be used as it is: unwritable, damaged, held, or of another sweep."""


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Raises ConfigError 'field = value: must be allowed' unless the condition holds."""
    if not condition:
        raise ConfigError(f'{field} = {value!r}: must be {allowed}')


def printable(text: str) -> str:
    """The text with everything escaped that would move a cursor or end a line."""
    return ''.join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def brief(text: str) -> str:
    """The text, printable, the middle of a long one left out."""
    shown = printable(text if len(text) <= _SHOWN else _ends(text))
    return shown if len(shown) <= _SHOWN else _ends(shown)


def _ends(text: str) -> str:
    return f'{text[: _SHOWN // 2]} ... {text[-_SHOWN // 2 :]}'


def nearest(name: str, known) -> str:
    """A hint ', did you mean X?' for a mistyped name, or the list of known names."""
    close = difflib.get_close_matches(name, known, n=1)
    return (
        f'did you mean {close[0]!r}?' if close else f'known: {", ".join(sorted(known))}'
    )
