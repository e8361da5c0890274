"""Caches of what is made from the configs of tasks and models."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec('Arguments')
Result = TypeVar('Result')


class _Object:
    """A key that is equal to that of the same object alone; it keeps the object."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Object) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def find_key(argument: Any) -> Any:
    """What a cache may know an argument by: its value, or the object.

    The code of a class of anchorjax is what this process has imported, so that equal
    configs make equal things. A config of the user's own may call a function that was
    edited since, in a notebook, and no value shows that: it is equal to itself alone.
    An experiment that is resolved or read again has new ones, and all is made again.
    """
    is_config = dataclasses.is_dataclass(argument)
    package = type(argument).__module__.partition('.')[0]
    return _Object(argument) if is_config and package != 'anchorjax' else argument


def _find_value(key: Any) -> Any:
    """What `find_key` made the key of."""
    return key.value if isinstance(key, _Object) else key


def cache(
    maxsize: int = 128,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """functools.lru_cache for functions of configs, which it knows by `find_key`."""

    def decorate(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.lru_cache(maxsize)
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
