"""Tables and their cells as text: equal tables give equal bytes."""

from typing import Any

import pandas as pd

_DIGITS = '%.6g'


def list_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every row of a table as a dict by the names of its columns."""
    rows = []
    for row in frame.to_dict('records'):
        rows.append(dict(zip(map(str, row), row.values(), strict=True)))
    return rows


def format_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, numbers with 6 significant digits."""
    return frame.to_csv(index=False, float_format=_DIGITS, lineterminator='\n')


def format_level(value: Any) -> str:
    """One value of an axis or a factor: '9', '0.001', 'code'."""
    return f'{value:g}' if isinstance(value, float) else str(value)
