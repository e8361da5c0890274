"""The numbers behind a figure as text that can be copied into a spreadsheet."""

from typing import Any, NamedTuple

import numpy as np

from analysis.drawing.style import collect_arrays

MOST_CHARACTERS = 60_000  # of a figure; a page has about 25, most of them small
DIGITS = 5
_BREAKS = str.maketrans('\t\r\n', '   ')


class Numbers(NamedTuple):
    """Arrays of a figure: a line for each row of the last axis, cells between tabs."""

    text: str
    left_out: list[str]  # 'vectors (4,096 × 64)': arrays that are too large for a page


def format_numbers(result: Any) -> Numbers:
    """The arrays of a result, under the names that they have in the npz.

    Small arrays come first where there is no room for all; their order stays.
    """
    arrays = collect_arrays(result)
    texts = {}
    room = MOST_CHARACTERS
    for name in sorted(arrays, key=lambda name: arrays[name].size):
        if not 0 < arrays[name].size <= room:  # a large array is not even written out
            continue
        text = format_array(name, arrays[name])
        if len(text) <= room:
            texts[name] = text
            room -= len(text)
    left_out = []
    for name, array in arrays.items():
        if name not in texts and array.size:
            left_out.append(f'{name} ({" × ".join(f"{n:,}" for n in array.shape)})')
    text = '\n'.join(texts[name] for name in arrays if name in texts)
    return Numbers(text, left_out)


def format_array(name: str, array: np.ndarray) -> str:
    """'loss[0]<tab>0.5<tab>0.25' for each row of the last axis."""
    rows = np.atleast_1d(array)
    lines = []
    for index in np.ndindex(*rows.shape[:-1]):
        label = name.translate(_BREAKS)
        if index:
            label += f'[{", ".join(map(str, index))}]'
        cells = [_format_value(value) for value in rows[index].tolist()]
        lines.append('\t'.join([label, *cells]))
    return '\n'.join(lines)


def _format_value(value: Any) -> str:
    """Five digits of a float, nothing for NaN; text without tabs and line breaks."""
    if isinstance(value, float):
        return '' if np.isnan(value) else f'{value:.{DIGITS}g}'
    return str(value).translate(_BREAKS)
