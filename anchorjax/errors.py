"""The errors a user can cause. A command line prints their one line and exits with code 2."""

import difflib


class UserError(ValueError):
    """Bad input: one line that names the thing, its value and what is allowed."""


class ConfigError(UserError):
    """A field of the configuration has a value that is not allowed."""


class StoreError(UserError):
    """A run folder cannot be used as it is: unwritable, damaged, held, or of another sweep."""


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Raises ConfigError 'field = value: must be allowed' unless the condition holds."""
    if not condition:
        raise ConfigError(f'{field} = {value!r}: must be {allowed}')


def nearest(name: str, known) -> str:
    """A hint ', did you mean X?' for a mistyped name, or the list of known names."""
    close = difflib.get_close_matches(name, known, n=1)
    return f'did you mean {close[0]!r}?' if close else f'known: {", ".join(sorted(known))}'
