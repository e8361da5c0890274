"""Tables and their cells as text: equal tables give equal bytes."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

_DIGITS = '%.6g'
_NOTHING = '–'


def format_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, numbers with 6 significant digits."""
    return frame.to_csv(index=False, float_format=_DIGITS, lineterminator='\n')


def format_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown, without an end of line after its last row."""
    lines = [_join_cells(titles), '|' + '---|' * len(titles)]
    lines += map(_join_cells, rows)
    return '\n'.join(lines)


def format_range(mean: float, low: float, high: float, number: int) -> str:
    """'0.72 (0.50–0.95)' of several numbers, '0.72' of one, '–' if the mean is NaN."""
    if math.isnan(mean):
        return _NOTHING
    if number == 1:
        return f'{mean:.2f}'
    return f'{mean:.2f} ({low:.2f}–{high:.2f})'


def format_list(numbers: Iterable[float]) -> str:
    """'0.00, 0.50, 1.00'; '–' if all are NaN."""
    parts = [_NOTHING if math.isnan(number) else f'{number:.2f}' for number in numbers]
    if set(parts) == {_NOTHING}:
        return _NOTHING
    return ', '.join(parts)


def format_counts(counts: Mapping[str, int]) -> str:
    """'inferential 2, other 1', without what does not occur; '–' if nothing does."""
    parts = [f'{name} {number}' for name, number in counts.items() if number > 0]
    return ', '.join(parts) or _NOTHING


def _join_cells(cells: Iterable[str]) -> str:
    escaped = [cell.replace('|', '\\|') for cell in cells]
    return f'| {" | ".join(escaped)} |'
