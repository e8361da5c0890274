"""Builds a frozen config from plain values, checking every name and type down to tuple elements.

`ml_collections` neither types the elements of a tuple nor survives a typo without a traceback.
"""

import ast
import dataclasses
import math
import typing

from anchorjax.errors import ConfigError, nearest, require

_LARGEST = 2**63  # of a whole number: far beyond it neither repr nor float takes it
_FLOAT32 = 3e38  # of any other: all of them end in float32
_LETTERS = 1000  # of a string


def build(cls, values: dict, path: str):
    """An instance of dataclass `cls` from a complete dict of its fields.

    Raises:
      ConfigError: a field is unknown, missing or of the wrong type; the line names its path.
    """
    hints = typing.get_type_hints(cls)
    for name in values:
        if name not in hints:
            raise ConfigError(
                f'{path}.{name}: no such field, {nearest(str(name), hints)}'
            )
    for name in hints:
        if name not in values:
            raise ConfigError(f'{path}.{name} is missing')
    checked = {
        name: check_value(values[name], hints[name], f'{path}.{name}') for name in hints
    }
    return cls(**checked)


def check_value(value, hint, field: str):
    """The value, of exactly the hinted type (an int is taken for a float).

    Raises:
      ConfigError: it is of another type, not finite, beyond every bound, or a tuple of the wrong
        length.
    """
    origin = typing.get_origin(hint)
    if origin is tuple:
        return _check_tuple(value, typing.get_args(hint), field)
    if type(value) is int and not -_LARGEST <= value < _LARGEST:
        raise ConfigError(
            f'{field} has {value.bit_length()} bits: must be in [-2^63, 2^63)'
        )
    if hint is float and type(value) is int:
        value = float(value)
    require(type(value) is hint, field, value, f'of type {hint.__name__}')
    _check_bounds(value, hint, field)
    return value


def _check_bounds(value, hint, field: str) -> None:
    if hint is float:
        require(math.isfinite(value), field, value, 'finite')
        require(
            abs(value) <= _FLOAT32,
            field,
            value,
            f'at most {_FLOAT32:g} in size (float32)',
        )
    if hint is str:
        plain = len(value) <= _LETTERS and value.isprintable()
        require(plain, field, value, f'at most {_LETTERS} printable characters')


def _check_tuple(value, args: tuple, field: str) -> tuple:
    require(isinstance(value, tuple), field, value, 'a tuple')
    if args[-1] is Ellipsis:
        args = (args[0],) * len(value)
    require(len(value) == len(args), field, value, f'a tuple of {len(args)}')
    pairs = zip(value, args, strict=True)
    return tuple(check_value(v, a, f'{field}[{i}]') for i, (v, a) in enumerate(pairs))


def parse_word(text: str, current, field: str):
    """A command-line word as a value like `current`: '0.3,0.5' is a tuple, '0.3' a tuple of one.

    Raises:
      ConfigError: the word cannot be read as such a value.
    """
    if isinstance(current, str):
        return text
    try:
        value = ast.literal_eval(text)
        repr(value)  # of 0xfff... or ((((... it is an error too
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        kind = type(current).__name__
        raise ConfigError(
            f'{field} = {text!r}: must be a {kind} like {current!r}'
        ) from None
    single = isinstance(current, tuple) and not isinstance(value, tuple | list)
    return (value,) if single else value


def tuples_from_lists(value):
    """The value with every list in it a tuple, as it was before it became JSON."""
    if isinstance(value, dict):
        return {name: tuples_from_lists(inner) for name, inner in value.items()}
    return tuple(map(tuples_from_lists, value)) if isinstance(value, list) else value


def to_dict(config) -> dict:
    """Nested plain dict of a dataclass; tuples stay tuples."""
    return dataclasses.asdict(config)
