"""When curves reach a threshold, and how many times later one does than another."""

from typing import NamedTuple

import numpy as np
import pandas as pd


def find_first(step_S: np.ndarray, is_true_SX: np.ndarray) -> np.ndarray:
    """The first step at which each is true, [X]; NaN: none."""
    index_X = is_true_SX.argmax(0)
    exists_X = is_true_SX.any(0)
    return np.where(exists_X, step_S[index_X], np.nan)


def find_crossings(
    step_S: np.ndarray, loss_SX: np.ndarray, threshold: float
) -> np.ndarray:
    """The step at which each loss first falls below a threshold, [X].

    Between two records the loss is a straight line. The first record's step where it is
    below from the start; NaN where it never is.
    """
    crossings = []
    for loss_S in loss_SX.T:
        below_S = np.flatnonzero(loss_S < threshold)
        if not len(below_S):
            crossings.append(np.nan)
        elif below_S[0] == 0:
            crossings.append(step_S[0])
        else:
            around = [below_S[0], below_S[0] - 1]
            crossings.append(np.interp(threshold, loss_S[around], step_S[around]))
    return np.array(crossings, float)


AT_LEAST, AT_MOST, NO_BOUND = 'at least', 'at most', 'about'


class Lag(NamedTuple):
    """How many times later one crossing comes than another, by seed."""

    crossings: pd.DataFrame  # step of the `slow` and the `fast` one; inf: never
    last: float  # step of training, which stands for one that never comes
    never: str  # '2 and 0': how many of each never come, of all pairs

    @property
    def slow(self) -> pd.Series:
        return self.crossings.slow.clip(upper=self.last)

    @property
    def fast(self) -> pd.Series:
        return self.crossings.fast.clip(upper=self.last)

    @property
    def ratios(self) -> pd.Series:
        """The slow crossing by the fast one."""
        return self.slow / self.fast

    @property
    def bound(self) -> str:
        """What their mean is if one never comes: AT_LEAST, ...; '' if exact."""
        slow_never, fast_never = (self.crossings == np.inf).any()
        if slow_never:
            return NO_BOUND if fast_never else AT_LEAST
        return AT_MOST if fast_never else ''


def compare_crossings(slow: pd.Series, fast: pd.Series, last: float) -> Lag:
    """The lag of the slow crossings, paired by seed.

    The last step of training stands for one that never comes (inf). Seeds with a NaN
    are dropped; if neither threshold is reached there is no ratio.
    """
    crossings = pd.DataFrame({'slow': slow, 'fast': fast}).dropna()
    is_never = crossings == np.inf
    slow_count, fast_count = is_never.sum()
    has_ratio = ~is_never.all(axis='columns')
    return Lag(crossings[has_ratio], last, never=f'{slow_count} and {fast_count}')


def share_seeds(first: Lag, second: Lag) -> tuple[Lag, Lag]:
    """Both lags, of the seeds that have both."""
    seeds = first.crossings.index.intersection(second.crossings.index)
    return (
        first._replace(crossings=first.crossings.loc[seeds]),
        second._replace(crossings=second.crossings.loc[seeds]),
    )


def divide_lags(first: Lag, second: Lag) -> tuple[pd.Series, str]:
    """(Ratios of the first by the second, both of the same seeds; their bound).

    The quotient of bounds is a bound, or none.
    """
    quotients = first.ratios / second.ratios
    turned = {AT_LEAST: AT_MOST, AT_MOST: AT_LEAST}.get(second.bound, second.bound)
    bound = first.bound or turned
    if turned not in ('', bound):
        bound = NO_BOUND
    return quotients, bound
