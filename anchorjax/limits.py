"""What a field of a config may hold: declared in its annotation, checked here.

    norm: Literal['post', 'pre'] = 'post'
    depth: Annotated[int, at_least(1)] = 2
    gamma: tuple[float, ...] = (0.3, 0.5)

A dataclass calls `check_fields` first in its `__post_init__`, so every config that
exists is valid. Bounds are for values that would give a wrong result. We tried
pydantic: it takes as many lines for the same one-line errors, adds four packages,
imports more slowly, and makes us depend on the names of its errors.
"""

import dataclasses
import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from anchorjax.errors import require

# Floats end up as float32. Compilers may take smaller ones for 0.
_FLOAT32_MAX = 3e38
_FLOAT32_MIN = float(np.finfo(np.float32).tiny)


class Bound(NamedTuple):
    """One end of a range of numbers; its text is e.g. 'at most 1,000'."""

    compare: Callable[[float, float], bool]
    words: str
    limit: float

    def __str__(self) -> str:
        style = ',' if isinstance(self.limit, int) else 'g'
        return f'{self.words} {self.limit:{style}}'


def at_least(limit: float) -> Bound:
    return Bound(operator.ge, 'at least', limit)


def at_most(limit: float) -> Bound:
    return Bound(operator.le, 'at most', limit)


def above(limit: float) -> Bound:
    return Bound(operator.gt, 'above', limit)


def below(limit: float) -> Bound:
    return Bound(operator.lt, 'below', limit)


@functools.cache
def declared_fields(cls: type) -> dict[str, Any]:
    """The fields of a dataclass, each with the type and bounds declared for it."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


@functools.cache
def read_meanings(cls: type) -> dict[str, str]:
    """What each field of a dataclass means: the comment behind it, or the one above.

    A field without either is left out, as are all of a class without source, which was
    typed into an interpreter.
    """
    try:
        lines = inspect.getsource(cls).splitlines()
    except OSError:
        return {}
    meanings = {}
    above = []
    for line in lines:
        code, _, comment = line.strip().partition('# ')
        if comment and not code:
            above.append(comment)
            continue
        words = comment or ' '.join(above)
        name, has_type, _ = code.partition(':')
        if has_type and name in declared_fields(cls) and words:
            meanings.setdefault(name, words)
        above = []
    return meanings


def check_fields(config: Any, group: str) -> None:
    """Checks every field of a new dataclass instance, and makes ints floats.

    Raises:
      ConfigError: a value is not allowed; the line names it, e.g. 'train.batch_size'.
    """
    for name, hint in declared_fields(type(config)).items():
        value = check_value(getattr(config, name), hint, f'{group}.{name}')
        object.__setattr__(config, name, value)  # the dataclass is frozen


def check_value(value: Any, hint: Any, field: str) -> Any:
    """Returns the value if it has the declared type and is in range.

    Where a float is declared, an int becomes one; NumPy's numbers become Python's, as
    in tuple(np.linspace(0.2, 1.0, 5)).

    Raises:
      ConfigError: it is not allowed; the line names the field, down to the element of a
        tuple.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        value = check_value(value, args[0], field)
        _check_bounds(value, args[1:], field)
        return value
    if types.NoneType in args:  # int | None
        return None if value is None else check_value(value, args[0], field)
    if origin is tuple:
        return _check_tuple(value, args, field)
    if origin is Literal:
        is_allowed = isinstance(value, str) and value in args
        require(is_allowed, field, value, f'one of {args}')
        return value
    return _check_plain(value, hint, field)


def _check_bounds(value: float, bounds: tuple[Bound, ...], field: str) -> None:
    allowed = ', '.join(str(bound) for bound in bounds)
    for bound in bounds:
        require(bound.compare(value, bound.limit), field, value, allowed)
        if isinstance(value, float):  # 1 - 1e-9 is below 1, and as float32 it is 1
            limit = float(np.float32(bound.limit))
            is_allowed = bound.compare(float(np.float32(value)), limit)
            require(is_allowed, field, value, f'{allowed} in float32')


def _check_tuple(value: Any, args: tuple[Any, ...], field: str) -> tuple:
    is_tuple = isinstance(value, tuple)
    if args[-1] is Ellipsis:
        require(is_tuple, field, value, 'a tuple')
        args = (args[0],) * len(value)
    is_whole = is_tuple and len(value) == len(args)
    require(is_whole, field, value, f'a tuple of {len(args)}')
    checked = []
    for i, (element, hint) in enumerate(zip(value, args, strict=True)):
        checked.append(check_value(element, hint, f'{field}[{i}]'))
    return tuple(checked)


def _check_plain(value: Any, kind: type, field: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    is_kind = type(value) is kind or (kind is float and type(value) is int)
    require(is_kind, field, value, f'of type {kind.__name__}')
    if kind is float:
        # Before an integer becomes a float, which not every one can.
        require(abs(value) <= _FLOAT32_MAX, field, value, 'finite in float32')
        value = float(value)
        is_itself = value == 0 or abs(value) >= _FLOAT32_MIN
        require(
            is_itself, field, value, f'at least {_FLOAT32_MIN:.2g} in size, as float32'
        )
    return value


def are_distinct(values: tuple) -> bool:
    """Whether no two values are the same in the precision that is used, float32."""
    return len(set(_round_floats(values))) == len(values)


def _round_floats(value: Any) -> Any:
    """The value, and all in it if it is a tuple, with floats as in float32."""
    if isinstance(value, tuple):
        return tuple(map(_round_floats, value))
    return np.float32(value).item() if isinstance(value, float) else value


def require_default(config: Any, group: str, field: str, reason: str) -> None:
    """Raises ConfigError unless a field without effect has its default.

    Args:
      reason: why it has no effect: "task.encoding is 'numbers'".
    """
    value = getattr(config, field)
    default = getattr(type(config), field)
    allowed = f'the default, {default!r}, where {reason}'
    require(value == default, f'{group}.{field}', value, allowed)
