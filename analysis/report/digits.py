"""Numbers as JSON takes them: few digits, and null for what is not finite."""

import math
from typing import Any

import numpy as np


def shorten(values: Any, digits: int | None = None) -> Any:
    """`values` with every float of `digits` significant digits, None if not finite.

    Args:
      values: floats at any depth of lists, tuples and dicts, or an array.
      digits: None keeps all of them.
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
    return values if digits is None else float(f'{values:.{digits}g}')
