"""Numbers as JSON takes them, and as text that can be copied into a spreadsheet."""

import math
from typing import Any, NamedTuple

import numpy as np

from analysis.drawing.style import collect_arrays

MOST_CHARACTERS = 60_000  # of a figure; a page has about 25, most of them small
DIGITS = 5  # in a spreadsheet
_BREAKS = str.maketrans('\t\r\n', '   ')


def shorten(values: Any, digits: int = 17) -> Any:
    """`values` with every float of `digits` significant digits, None if not finite.

    Args:
      values: floats at any depth of lists, tuples and dicts, or an array.
      digits: 17 keep a float as it is.
    """
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, dict):
        return {str(name): shorten(part, digits) for name, part in values.items()}
    if isinstance(values, list | tuple):
        return [shorten(part, digits) for part in values]
    if not isinstance(values, float):
        return values
    if not math.isfinite(values):
        return None
    return float(f'{values:.{digits}g}')


class Numbers(NamedTuple):
    """Arrays of a figure: a line for each row of the last axis, cells between tabs."""

    text: str
    left_out: list[str]  # 'vectors (4,096 × 64)': arrays that are too large for a page


def format_numbers(result: Any) -> Numbers:
    """The arrays of a result, under the names that they have in its file.

    Small arrays come first where there is no room for all; their order stays.
    """
    arrays = {}
    sizes = {}
    for name, array in collect_arrays(result).items():
        if array.size:
            arrays[name] = array
            sizes[name] = array.size
    texts = {}
    room = MOST_CHARACTERS
    for name in sorted(sizes, key=sizes.get):
        if sizes[name] > room:  # it is not even written out
            break
        text = format_array(name, arrays[name])
        if len(text) <= room:
            texts[name] = text
            room -= len(text)
    shown = []
    left_out = []
    for name, array in arrays.items():
        if name in texts:
            shown.append(texts[name])
        else:
            shape = ' × '.join(map('{:,}'.format, array.shape))
            left_out.append(f'{name} ({shape})')
    return Numbers('\n'.join(shown), left_out)


def format_array(name: str, array: np.ndarray) -> str:
    """'loss[0]<tab>0.5<tab>0.25' for each row of the last axis."""
    rows = np.atleast_1d(array)
    lines = []
    for index in np.ndindex(*rows.shape[:-1]):
        label = name.translate(_BREAKS)
        if index:
            label += f'[{", ".join(map(str, index))}]'
        cells = map(_format_value, rows[index].tolist())
        lines.append('\t'.join([label, *cells]))
    return '\n'.join(lines)


def _format_value(value: Any) -> str:
    """Five digits of a float, nothing for NaN; text without tabs and line breaks."""
    if isinstance(value, float):
        return f'{value:.{DIGITS}g}'.replace('nan', '')
    return str(value).translate(_BREAKS)
