"""Builds a frozen config from plain values: a dict, a word of a command line, JSON.

`ml_collections` neither types the elements of a tuple nor survives a typo without a
traceback.
"""

import ast
from typing import Any

from anchorjax.errors import ConfigError, nearest
from anchorjax.limits import check_value, declared_fields


def build(cls: type, values: dict, path: str) -> Any:
    """An instance of a dataclass from a complete dict of its fields.

    Raises:
      ConfigError: a field is unknown, missing or not allowed; the line names its path.
    """
    fields = declared_fields(cls)
    for name in values:
        if name not in fields:
            hint = nearest(str(name), fields)
            raise ConfigError(f'{path}.{name}: no such field, {hint}')
    checked = {}
    for name, hint in fields.items():
        if name not in values:
            raise ConfigError(f'{path}.{name} is missing')
        checked[name] = check_value(values[name], hint, f'{path}.{name}')
    return cls(**checked)


def parse_word(text: str, current: Any, field: str) -> Any:
    """A word of the command line as a value like the current one of its field.

    Where that is a tuple, '0.3,0.5' is a tuple and '0.3' is a tuple of one.

    Raises:
      ConfigError: the word cannot be read as such a value.
    """
    if isinstance(current, str):
        return text
    try:
        value = ast.literal_eval(text)
        repr(value)  # of 0xfff... or ((((... is an error too
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        kind = type(current).__name__
        line = f'{field} = {text!r}: must be a {kind} like {current!r}'
        raise ConfigError(line) from None
    if isinstance(current, tuple) and not isinstance(value, tuple | list):
        return (value,)
    return value


def tuples_from_lists(value: Any) -> Any:
    """The value with every list in it a tuple, as it was before it became JSON."""
    if isinstance(value, dict):
        return {name: tuples_from_lists(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(tuples_from_lists(inner) for inner in value)
    return value
