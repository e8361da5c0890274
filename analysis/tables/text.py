"""Tables as text: equal tables give equal bytes."""

import pandas as pd

_DIGITS = '%.6g'


def format_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, numbers with 6 significant digits."""
    return frame.to_csv(index=False, float_format=_DIGITS, lineterminator='\n')
