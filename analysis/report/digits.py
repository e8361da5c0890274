"""Numbers as JSON takes them: few digits, and null for what is not finite."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def shorten(values: Any, digits: int) -> Any:
    """`values` with every float of `digits` significant digits, None if not finite.

    Args:
      values: floats at any depth of lists, tuples and dicts, or an array.
    """

    def change(number: float) -> float | None:
        if not math.isfinite(number):
            return None
        return float(f'{number:.{digits}g}')

    return _change_floats(values, change)


def drop_infinite(values: Any) -> Any:
    """`values` with None for every float that is not finite, at any depth."""

    def change(number: float) -> float | None:
        return number if math.isfinite(number) else None

    return _change_floats(values, change)


def _change_floats(values: Any, change: Callable[[float], float | None]) -> Any:
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, dict):
        return {str(name): _change_floats(v, change) for name, v in values.items()}
    if isinstance(values, list | tuple):
        return [_change_floats(v, change) for v in values]
    if isinstance(values, float):
        return change(values)
    return values
