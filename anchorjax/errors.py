"""Errors that are one line; a command exits with code 2 if a user can cause them."""

import difflib
import errno
import importlib
import re
from collections.abc import Collection, Iterable
from typing import Any

# Exit codes. They are here for the supervisor of a Slurm job, which imports no JAX.
EXIT_FAILED = 1  # for a reason that may pass, such as a full disk
EXIT_USER_ERROR = 2
EXIT_PREEMPTED = 75  # sysexits' "temporary failure": saved, run it again

_LONGEST = 300  # characters shown of a text that may be a whole file
# A full disk (a quota, a limit of files), or a network file system that is away: not
# what the user gave.
_TEMPORARY_ERRNOS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.ESTALE,
    errno.EIO,
    errno.ETIMEDOUT,
    # Its locks, or the memory and files that this process may have.
    errno.ENOLCK,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
)


class CliError(Exception):
    """An error whose message is one line."""

    def __init__(self, line: str):
        super().__init__(' '.join(line.split()))


class UserError(CliError, ValueError):
    """Bad input: one line that names the thing, its value and what is allowed."""


class TemporaryError(CliError, RuntimeError):
    """One line about what may be gone the next time; a command exits with code 1."""


class ConfigError(UserError):
    """A field of the configuration has a value that is not allowed."""


class StoreError(UserError):
    """The folder of a sweep is unwritable, damaged, in use, or of another sweep."""


class StoreUnavailable(StoreError, TemporaryError):
    """The folder of a sweep cannot be used now: in use by another, or its disk full."""


class CorruptFileError(StoreError):
    """The content of a file is not what was written: reading it again will not help."""


def is_temporary(e: BaseException) -> bool:
    """Whether an error, or the one it was raised for, may be gone the next time."""
    found: BaseException | None = e
    while found is not None:
        if isinstance(found, TemporaryError):
            return True
        if _find_errno(found) in _TEMPORARY_ERRNOS:
            return True
        found = found.__cause__ or found.__context__
    return False


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Raises ConfigError 'field = value: must be allowed' if the condition is false."""
    if not condition:
        raise ConfigError(f'{field} = {brief(repr(value))}: must be {allowed}')


def brief(text: str) -> str:
    """The text without its middle if it is long."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f'{text[:half]} ... {text[-half:]}'


def describe_cause(e: BaseException) -> str:
    """The kind and the first line of an error, for a line of our own."""
    reason = getattr(e, 'strerror', None) or str(e) or 'no message'
    return brief(f'{type(e).__name__}: {reason.splitlines()[0]}')


def describe_failure(e: Exception) -> str:
    """The line of an error that is one, or `describe_cause`."""
    return str(e) if isinstance(e, CliError) else describe_cause(e)


def require_names(found: Collection[str], expected: Collection[str]) -> None:
    """Raises UserError if a name is missing or unexpected; the line shows the first."""
    missing, unexpected = {*expected} - {*found}, {*found} - {*expected}
    for problem, names in (('missing', missing), ('unexpected', unexpected)):
        if names:
            raise UserError(f'{len(names)} {problem}, e.g. {brief(min(names))}')


def import_extra(module: str, extra: str) -> Any:
    """The module of a package that comes with an extra; UserError without it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[{extra}]'") from None


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint 'did you mean X?' for a mistyped name, or the list of known names."""
    known = sorted(known)
    matches = difflib.get_close_matches(name, known, n=1)
    if matches:
        return f'did you mean {matches[0]!r}?'
    return f'known: {", ".join(known)}'


def _find_errno(e: BaseException) -> int | None:
    if isinstance(e, OSError):
        return e.errno
    code = re.search(r"\[os_error_code='(\d+)'\]", str(e))  # of tensorstore
    return int(code[1]) if code else None
