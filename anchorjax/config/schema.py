"""Builds a frozen config from plain values: a dict, a command-line word, JSON.

`ml_collections` does not check the elements of a tuple, and a typo ends in a traceback.
"""

import ast
from typing import Any

import numpy as np

from anchorjax.errors import ConfigError, nearest
from anchorjax.limits import check_value, declared_fields, young_defaults

# How the value of a field is written on the command line.
_KINDS = {
    bool: 'True or False',
    int: 'a whole number',
    float: 'a number',
    tuple: 'values with commas between',
}


def build(cls: type, values: dict, path: str) -> Any:
    """An instance of a dataclass, from a dict of all its fields; young ones may lack.

    Raises:
      ConfigError: a field is unknown, missing or has a value that is not allowed; the
        line names it.
    """
    fields = declared_fields(cls)
    for name in values:
        if name not in fields:
            hint = nearest(str(name), fields)
            raise ConfigError(f'{path}.{name}: no such field, {hint}')
    values = young_defaults(cls) | values
    checked = {}
    for name, hint in fields.items():
        if name not in values:
            raise ConfigError(f'{path}.{name} is missing')
        value = _without_numpy(values[name])
        checked[name] = check_value(value, hint, f'{path}.{name}')
    return cls(**checked)


def _without_numpy(value: Any) -> Any:
    """Python's numbers for NumPy's, as in tuple(np.linspace(0.2, 1.0, 5))."""
    if isinstance(value, tuple):
        return tuple(_without_numpy(inner) for inner in value)
    return value.item() if isinstance(value, np.generic) else value


# What reading and showing a literal raises, of text that is none.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


def literal_or_text(text: str) -> Any:
    """A Python literal, as the values of axes are written; what is none is text."""
    try:
        return _read_literal(text)
    except _NO_LITERAL:
        return text


def _read_literal(text: str) -> Any:
    """The value of a Python literal; one of _NO_LITERAL if the text is none."""
    value = ast.literal_eval(text)
    repr(value)  # fails for what no error line could show: 0xfff..., ((((...
    return value


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
    except _NO_LITERAL:
        allowed = f'{_KINDS[type(current)]}, like {current!r}'
        if current == ():
            allowed = '() for none, or Python values with commas between'
        raise ConfigError(f'{field} = {text!r}: must be {allowed}') from None
    if isinstance(current, tuple) and not isinstance(value, tuple | list):
        return (value,)
    return value


def tuples_from_lists(value: Any) -> Any:
    """The value with tuples for lists, as it was before it became JSON."""
    if isinstance(value, dict):
        return {name: tuples_from_lists(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(tuples_from_lists(inner) for inner in value)
    return value
