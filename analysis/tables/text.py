"""Tables and their cells as text: equal tables give equal bytes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

_DIGITS = '%.6g'
_NOTHING = '–'


def list_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every row of a table as a dict by the names of its columns."""
    rows = []
    for row in frame.to_dict('records'):
        rows.append(dict(zip(map(str, row), row.values(), strict=True)))
    return rows


def format_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, numbers with 6 significant digits."""
    return frame.to_csv(index=False, float_format=_DIGITS, lineterminator='\n')


def format_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown, without an end of line after its last row."""
    lines = [_join_cells(titles), '|' + '---|' * len(titles)]
    for cells in rows:
        lines.append(_join_cells(cells))
    return '\n'.join(lines)


def format_level(value: Any) -> str:
    """One value of an axis or a factor: '9', '0.001', 'code'."""
    return f'{value:g}' if isinstance(value, float) else str(value)


def format_range(mean: float, low: float, high: float, number: int) -> str:
    """'0.72 (0.50–0.95)' of several numbers, '0.72' of one, '–' if the mean is NaN."""
    if number > 1 and not math.isnan(mean):
        return f'{mean:.2f} ({low:.2f}–{high:.2f})'
    return _format_number(mean)


def format_list(numbers: Iterable[float]) -> str:
    """'0.00, 0.50, 1.00'; '–' if all are NaN."""
    parts = list(map(_format_number, numbers))
    if set(parts) == {_NOTHING}:
        return _NOTHING
    return ', '.join(parts)


def format_counts(counts: Mapping[str, int]) -> str:
    """'composed 2, other 1', without what does not occur; '–' if nothing does."""
    parts = []
    for name, number in counts.items():
        if number > 0:
            parts.append(f'{name} {number}')
    return ', '.join(parts) or _NOTHING


def _format_number(number: float) -> str:
    if math.isnan(number):
        return _NOTHING
    return f'{number:.2f}'


def _join_cells(cells: Iterable[str]) -> str:
    line = '|'
    for cell in cells:
        escaped = cell.replace('|', '\\|')
        line += f' {escaped} |'
    return line
