"""Multinomial logistic regression of the outcome on the factors, by block.

Every setting (all cells that differ in gamma or steps alone) counts equally, however
many members it has. An L2 penalty keeps it finite where a factor decides alone. Its
intervals come from a bootstrap over the settings: their members are no independent
draws of the design.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from analysis.designs import encoding, factors, outcomes
from analysis.designs.encoding import Confounded, Encoding
from analysis.designs.intervals import percentile_interval

REPLICATES = 400  # of the bootstrap
MIN_FIT_SETTINGS = 4
MANY_SETTINGS = 20  # with fewer, the intervals of a bootstrap are too narrow
WITHIN_SETTING = ('gamma', factors.NUISANCE)  # may differ between its cells
_PENALTY = 1.0  # of the squared coefficients, for standardized factors
# Steps from one outcome to the next: whose log odds a coefficient is.
_STEPS = {
    factors.TRAINED: (
        (outcomes.MEMORIZING, outcomes.SYMMETRIC),
        (outcomes.SYMMETRIC, outcomes.INFERENTIAL),
        (outcomes.INFERENTIAL, outcomes.OTHER),
    ),
}
_STEPS_WITHOUT_SYMMETRIC = (
    (outcomes.MEMORIZING, outcomes.INFERENTIAL),
    (outcomes.INFERENTIAL, outcomes.OTHER),
)


class Fit(NamedTuple):
    """The regression of one block; K outcomes that occur, F columns, B replicates."""

    block: str
    names: tuple[str, ...]  # of the outcomes
    encoding: Encoding
    weights_KF: np.ndarray
    settings: int
    weights_BKF: np.ndarray  # the constant is -inf for an outcome that is not drawn
    level_settings: tuple[int, ...]  # of every column: encoding.count_settings
    confounded: list[Confounded]


# The matrices are small: with more threads it is slower, and its sums less repeatable.
SINGLE_THREAD = threadpool_limits.wrap(limits=1)


@SINGLE_THREAD
def fit_block(
    members: pd.DataFrame, block: str, initialization: str = encoding.GAMMA
) -> Fit | str:
    """The regression over a block's converged members, or why there is none."""
    members = outcomes.select_block(members[members.converged], block)
    outcome = outcomes.find_outcomes(members)
    names = tuple(x for x in outcomes.list_outcomes(block) if x in outcome)
    if len(names) < 2:
        return f'no fit: every converged member is {"".join(names) or "missing"}'
    setting_M = number_cells(members, WITHIN_SETTING)
    number = setting_M.max() + 1
    if number < MIN_FIT_SETTINGS:
        return f'no fit: {number} settings, fewer than {MIN_FIT_SETTINGS}'
    code = encoding.make_encoding(members, initialization)
    if not code.mains:
        return 'no fit: no factor varies'
    X_MF = encoding.encode(code, members)
    y_M = encode_outcomes(outcome, names)
    share_M = share_by_setting(setting_M)
    weights_KF = fit_weights(X_MF, y_M, len(names), share_M)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(REPLICATES):
        chosen = rng.integers(number, size=number)
        times = np.bincount(chosen, minlength=number)
        weight_M = times[setting_M] * share_M
        draws.append(fit_weights(X_MF, y_M, len(names), weight_M))
    level_settings = []
    for column in code.columns:
        level_settings.append(encoding.count_settings(column, members, setting_M))
    return Fit(
        block=block,
        names=names,
        encoding=code,
        weights_KF=weights_KF,
        settings=number,
        weights_BKF=np.array(draws),
        level_settings=tuple(level_settings),
        confounded=encoding.find_confounded(code, members),
    )


def number_cells(members: pd.DataFrame, without: tuple[str, ...] = ()) -> np.ndarray:
    """The number of every member's cell, from 0; `without` some factors."""
    names = [name for name in factors.NAMES if name not in without]
    return members.groupby(names, sort=True).ngroup().to_numpy()


def share_by_setting(setting_M: np.ndarray) -> np.ndarray:
    """A weight per member that gives every setting the same, of mean 1."""
    members = np.bincount(setting_M)
    settings = np.count_nonzero(members)
    return len(setting_M) / settings / members[setting_M]


def encode_outcomes(outcome: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The index of every outcome in `names`."""
    return np.array([names.index(x) for x in outcome], int)


def fit_weights(
    X_MF: np.ndarray, y_M: np.ndarray, K: int, weight_M: np.ndarray
) -> np.ndarray:
    """Weights [K, F] of the penalized regression; the last is the constant.

    Args:
      weight_M: how much each member counts.
    """
    counts = weight_M > 0
    X_MF, y_M, weight_M = X_MF[counts], y_M[counts], weight_M[counts]
    weights_KF = np.zeros((K, X_MF.shape[1]))
    weights_KF[:, -1] = -np.inf
    classes = np.unique(y_M)
    if len(classes) == 1:
        weights_KF[classes[0], -1] = 0.0
        return weights_KF
    model = LogisticRegression(C=1 / _PENALTY, max_iter=1_000)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ConvergenceWarning)
        model.fit(X_MF[:, :-1], y_M, sample_weight=weight_M)
    slopes = model.coef_
    constants = model.intercept_
    if len(classes) == 2:  # one row stands for both
        slopes = np.concatenate([-slopes / 2, slopes / 2])
        constants = np.concatenate([-constants / 2, constants / 2])
    weights_KF[classes, :-1] = slopes
    weights_KF[classes, -1] = constants
    return weights_KF


def predict(weights_KF: np.ndarray, X_MF: np.ndarray) -> np.ndarray:
    """Probabilities [M, K]; leading axes of the weights are kept, [..., M, K]."""
    logits = X_MF[:, :-1] @ np.swapaxes(weights_KF[..., :-1], -1, -2)
    logits = logits + weights_KF[..., None, :, -1]
    logits = logits - logits.max(-1, keepdims=True)
    odds = np.exp(logits)
    return odds / odds.sum(-1, keepdims=True)


def tabulate_coefficients(fit: Fit) -> pd.DataFrame:
    """A row per step between outcomes and column: log odds for a standard deviation.

    `level_settings` and `is_confounded` say how well the column's factors are varied.
    """
    confounded = set()
    for pair in fit.confounded:
        confounded |= {pair.first, pair.second}
    rows = []
    for lower, upper in _STEPS.get(fit.block, _STEPS_WITHOUT_SYMMETRIC):
        if lower not in fit.names or upper not in fit.names:
            continue
        i, j = fit.names.index(lower), fit.names.index(upper)
        value_F = fit.weights_KF[j] - fit.weights_KF[i]
        is_drawn_B = np.isfinite(fit.weights_BKF[:, [i, j], -1]).all(1)
        drawn = fit.weights_BKF[is_drawn_B]
        low_F, high_F = percentile_interval(drawn[:, j] - drawn[:, i])
        for f, column in enumerate(fit.encoding.columns):
            parts = {column, *column.split(' × ')}
            row = {
                'block': fit.block,
                'settings': fit.settings,
                'step': f'{lower} → {upper}',
                'column': column,
                'log_odds': value_F[f],
                'low': low_F[f],
                'high': high_F[f],
                'level_settings': fit.level_settings[f],
                'is_confounded': not parts.isdisjoint(confounded),
            }
            rows.append(row)
    return pd.DataFrame(rows)
