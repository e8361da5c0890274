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
    """The arrays of a figure, under the names that they have in its file.

    Returns:
      `text`, a line for each row of the last axis of an array, cells between tabs; and
      `left_out`, the arrays that are too large for a page: 'vectors (4,096 × 64)'.
    """
    shown = []
    left_out = []
    columns = result.variables if isinstance(result, xr.Dataset) else result
    for name, column in columns.items():
        name, array = str(name), np.asarray(column)
        if not array.size:
            continue
        if array.size <= MOST_NUMBERS:
            shown.append(format_array(name, array, _name_rows(result, name)))
        else:
            shape = ' × '.join(map('{:,}'.format, array.shape))
            left_out.append(f'{name} ({shape})')
    return {'text': '\n'.join(shown), 'left_out': left_out}


def _name_rows(result: pd.DataFrame | xr.Dataset, name: str) -> list[list[str]]:
    """The labels along each axis of an array but its last; its places without any."""
    if not isinstance(result, xr.Dataset):
        return []
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
    """'loss[seed 0]<tab>0.5<tab>0.25' for each row of the last axis.

    Args:
      labels: along each axis but the last; without them rows have their numbers.
    """
    rows = np.atleast_1d(array)
    lines = []
    for index in np.ndindex(*rows.shape[:-1]):
        label = name.translate(_BREAKS)
        if index:
            places = list(map(str, index))
            if labels:
                pairs = zip(labels, index, strict=True)
                places = [names[int(i)] for names, i in pairs]
            label += f'[{", ".join(places)}]'.translate(_BREAKS)
        cells = map(_format_value, rows[index].tolist())
        lines.append('\t'.join([label, *cells]))
    return '\n'.join(lines)


def _format_value(value: Any) -> str:
    """Five digits of a float, nothing for NaN; text without tabs and line breaks."""
    if isinstance(value, float):
        return f'{value:.{DIGITS}g}'.replace('nan', '')
    return str(value).translate(_BREAKS)
