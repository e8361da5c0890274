"""Numbers as JSON takes them, and as text that can be copied into a spreadsheet."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

MOST_NUMBERS = 5_000  # of an array of a figure; a page has about 25 figures
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


def format_numbers(result: pd.DataFrame | xr.Dataset) -> dict[str, Any]:
    """The numbers of a figure, as in its file: a table, or one array after another.

    Returns:
      `text`, a line for each row, whose cells have tabs between and are padded to the
      width of their column; and `left_out`, what is too large for a page:
      'vectors (4,096 × 64)'.
    """
    if isinstance(result, pd.DataFrame):
        if len(result) > MOST_NUMBERS:
            return {'text': '', 'left_out': [f'all of {len(result):,} rows']}
        text = _align([list(result), *result.to_numpy().tolist()])
        return {'text': text, 'left_out': []}
    shown = []
    left_out = []
    for name, column in result.variables.items():
        name, array = str(name), column.values
        if not array.size:
            continue
        if array.size <= MOST_NUMBERS:
            shown.append(format_array(name, array, _name_rows(result, name)))
        else:
            shape = ' × '.join(map('{:,}'.format, array.shape))
            left_out.append(f'{name} ({shape})')
    return {'text': '\n'.join(shown), 'left_out': left_out}


def _name_rows(result: xr.Dataset, name: str) -> list[list[str]]:
    """The labels along each axis of an array but its last; its places without any."""
    names = []
    for axis in result[name].dims[:-1]:
        labels = range(result.sizes[axis])
        if axis in result.coords:
            labels = result[axis].values.tolist()
        names.append([f'{axis} {label}' for label in labels])
    return names


def format_array(
    name: str, array: np.ndarray, labels: Sequence[Sequence[str]] = ()
) -> str:
    """'loss[seed 0]<tab>0.5 <tab>0.25' for each row of the last axis.

    Args:
      labels: along each axis but the last; without them rows have their numbers.
    """
    rows = np.atleast_1d(array)
    lines = []
    for index in np.ndindex(*rows.shape[:-1]):
        label = name
        if index:
            places = list(map(str, index))
            if labels:
                pairs = zip(labels, index, strict=True)
                places = [names[int(i)] for names, i in pairs]
            label += f'[{", ".join(places)}]'
        lines.append([label, *rows[index].tolist()])
    return _align(lines)


def _align(rows: list[list[Any]]) -> str:
    """The rows as text: tabs between the cells, padded to the width of a column."""
    texts = [list(map(_format_value, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = []
    for row in texts:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append('\t'.join(cells).rstrip(' '))
    return '\n'.join(lines)


def _format_value(value: Any) -> str:
    """Five digits of a float, nothing for NaN; text without tabs and line breaks."""
    if isinstance(value, float):
        return f'{value:.{DIGITS}g}'.replace('nan', '')
    return str(value).translate(_BREAKS)
