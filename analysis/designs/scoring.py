"""Does the regression predict anything? Cells and settings are left out in turn.

What is left out is predicted from the rest, and compared with the null: the shares of
the outcomes in the rest. In both every setting counts equally, as it does in the score.
Leaving out a setting (all its gammas) asks more than leaving out a cell, whose
neighbours along gamma remain.
"""

import numpy as np
import pandas as pd

from analysis.designs import encoding, intervals, outcomes, regression

# What is left out: the factors that may vary within it.
LEFT_OUT = {'cell': (), 'setting': regression.WITHIN_SETTING}


@regression.SINGLE_THREAD
def tabulate_scores(members: pd.DataFrame, block: str) -> pd.DataFrame:
    """A row for every way to leave out and for gamma or std as the initialization.

    log_loss and accuracy of the fit and of the null are means over settings; `gain` is
    the null's log loss minus the fit's, with a t interval over settings: if it covers
    0, the fit predicts nothing.
    """
    members = outcomes.select_block(members[members.converged], block)
    rows = []
    for left_out, without in LEFT_OUT.items():
        groups = regression.number_cells(members, without)
        for initialization in (encoding.GAMMA, encoding.STD):
            scores = _score(members, block, groups, initialization)
            named = {'block': block, 'left_out': left_out}
            rows.append({**named, 'initialization': initialization, **scores})
    return pd.DataFrame(rows)


def _score(
    members: pd.DataFrame, block: str, groups: np.ndarray, initialization: str
) -> dict[str, float]:
    outcome = outcomes.find_outcomes(members)
    names = outcomes.list_outcomes(block)
    y_M = regression.encode_outcomes(outcome, names)
    X_MF = encoding.encode(encoding.make_encoding(members, initialization), members)
    settings = regression.number_cells(members, regression.WITHIN_SETTING)
    by_fit = np.zeros((len(members), len(names)))
    by_null = np.zeros_like(by_fit)
    for group in np.unique(groups):
        is_left = groups == group
        rest = ~is_left
        if not rest.any():
            by_fit[is_left] = by_null[is_left] = 1 / len(names)
            continue
        share = regression.share_by_setting(settings[rest])
        weights_KF = regression.fit_weights(X_MF[rest], y_M[rest], len(names), share)
        by_fit[is_left] = regression.predict(weights_KF, X_MF[is_left])
        counts = np.bincount(y_M[rest], weights=share, minlength=len(names))
        by_null[is_left] = counts / counts.sum()
    loss_fit = _average(_measure_loss(by_fit, y_M), settings)
    loss_null = _average(_measure_loss(by_null, y_M), settings)
    gains = loss_null - loss_fit
    low, high = np.nan, np.nan
    if len(gains) >= regression.MIN_FIT_SETTINGS:
        low, high = intervals.student_interval(gains)
    return {
        'members': len(members),
        'groups': len(np.unique(groups)),
        'log_loss': loss_fit.mean(),
        'null_log_loss': loss_null.mean(),
        'accuracy': _average(by_fit.argmax(1) == y_M, settings).mean(),
        'null_accuracy': _average(by_null.argmax(1) == y_M, settings).mean(),
        'gain': gains.mean(),
        'low': low,
        'high': high,
        'verdict': _judge(low, high),
    }


def _average(values: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """The mean over the members of every setting."""
    totals = np.bincount(settings, weights=values)
    return totals / np.bincount(settings)


def _judge(low: float, high: float) -> str:
    """What an interval of the gain says."""
    if np.isnan(low):
        return 'undecided: too few to leave out'
    if low > 0:
        return 'predicts'
    return 'predicts nothing' if high >= 0 else 'worse than the null'


def _measure_loss(probability: np.ndarray, y_M: np.ndarray) -> np.ndarray:
    """-log of the probability of what happened, after adding one member of each kind.

    An outcome that the rest does not have would cost infinitely much otherwise.
    """
    number, kinds = probability.shape
    smoothed = (number * probability + 1) / (number + kinds)
    return -np.log(smoothed[np.arange(number), y_M])
