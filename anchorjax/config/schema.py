"""Dataclasses from plain values: a dict, a word of the command line, JSON."""

import ast
from typing import Any

from anchorjax.errors import ConfigError, brief, describe_cause, nearest
from anchorjax.limits import declared_fields

# How the value of a field is written on the command line.
_KINDS = {
    bool: 'True or False',
    int: 'a whole number',
    float: 'a number',
    tuple: 'values with commas between',
}


def build(cls: type, values: dict, path: str) -> Any:
    """An instance of a dataclass, from a dict of its fields.

    A field that is absent has its default: what the code did before there was the
    field. The instance checks its values itself, when it is made.

    Raises:
      ConfigError: a field is unknown or has a value that is not allowed; the line names
        it.
    """
    fields = declared_fields(cls)
    for name in values:
        if name not in fields:
            hint = nearest(str(name), fields)
            raise ConfigError(f'{path}.{name}: no such field, {hint}')
    return cls(**values)


def literal_or_text(text: str) -> Any:
    """A Python literal, as the values of axes are written; anything else is text."""
    try:
        return _read_literal(text)
    except ValueError:
        return text


def parse_word(text: str, current: Any, field: str) -> Any:
    """The value that a word of the command line gives a field, like its current value.

    For a field that holds a tuple, '0.3,0.5' is a tuple and '0.3' is a tuple of one.

    Raises:
      ConfigError: the word is not a Python literal (a string needs no quotes).
    """
    if isinstance(current, str):
        return text
    try:
        value = _read_literal(text)
    except ValueError:
        allowed = f'{_KINDS.get(type(current), "a Python value")}, like {current!r}'
        if current == ():
            allowed = '() for none, or Python values with commas between'
        raise ConfigError(f'{field} = {brief(repr(text))}: must be {allowed}') from None
    if isinstance(current, tuple) and not isinstance(value, tuple | list):
        return (value,)
    return value


def _read_literal(text: str) -> Any:
    """The value of a Python literal; ValueError if it is none, or cannot be shown."""
    try:
        value = ast.literal_eval(text)
        repr(value)  # Python writes no integer of more than 4,300 digits
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as e:
        raise ValueError(describe_cause(e)) from None
    return value


def tuples_from_lists(value: Any) -> Any:
    """The value with tuples for lists, as it was before it became JSON."""
    if isinstance(value, dict):
        return {name: tuples_from_lists(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(tuples_from_lists(inner) for inner in value)
    return value
