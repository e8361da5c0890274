"""Caches of what is made from the configs of tasks and models, and of files."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec('Arguments')
Result = TypeVar('Result')


Stamp = tuple[int, ...] | None  # of a file when it was read; None: it is not there

_stamps: dict[pathlib.Path, Stamp] = {}  # of the files that the caches are made from
_forget: list[Callable[[], None]] = []  # clear the caches


def note_file(path: pathlib.Path) -> None:
    """Says that what a cached function makes is from this file; call it to read it."""
    _stamps.setdefault(path.absolute(), _stamp(path))


def forget_changed_files() -> None:
    """Empties all caches if a file that something was made from is another one now.

    One that is gone is no other one: tables of what was trained need no data.
    """
    if any(_stamp(path) not in (None, stamp) for path, stamp in _stamps.items()):
        _stamps.clear()
        for forget in _forget:
            forget()


def cache_files(
    maxsize: int,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """functools.lru_cache for functions that read files; see `note_file`.

    Within one run they stay what they were when it began.
    """

    def decorate(fn: Callable[Arguments, Result]) -> Any:
        cached = functools.lru_cache(maxsize)(fn)
        _forget.append(cached.cache_clear)
        return cached

    return decorate


def _stamp(path: pathlib.Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


class _Object:
    """A key that is equal to that of the same object alone; it keeps the object."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Object) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def is_own(value: Any) -> bool:
    """Whether it is of a class of the user's own, and not of anchorjax."""
    return type(value).__module__.partition('.')[0] != 'anchorjax'


def find_key(argument: Any) -> Any:
    """What a cache may know an argument by: its value, or the object.

    The code of a class of anchorjax is what this process has imported, so that equal
    configs make equal things. A config of the user's own may call a function that was
    edited since, in a notebook, and no value shows that: it is equal to itself alone.
    An experiment that is resolved or read again has new ones, and all is made again.
    """
    is_config = dataclasses.is_dataclass(argument)
    return _Object(argument) if is_config and is_own(argument) else argument


def _find_value(key: Any) -> Any:
    """What `find_key` made the key of."""
    return key.value if isinstance(key, _Object) else key


def cache(
    maxsize: int = 128,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """functools.lru_cache for functions of configs, which it knows by `find_key`."""

    def decorate(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @cache_files(maxsize)
        def call(*keys: Any, **named: Any) -> Result:
            values = {name: _find_value(key) for name, key in named.items()}
            plain: Callable[..., Result] = fn
            return plain(*map(_find_value, keys), **values)

        @functools.wraps(fn)
        def find_or_call(*arguments: Any, **named: Any) -> Result:
            keys = {name: find_key(argument) for name, argument in named.items()}
            return call(*map(find_key, arguments), **keys)

        return find_or_call

    return decorate
