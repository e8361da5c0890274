"""Multinomial logistic regression of the outcome on the factors, by block.

An L2 penalty keeps it finite where a factor decides alone. Its intervals come from a
bootstrap over the settings (all cells that differ in gamma alone): their members are no
independent draws of the design.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from analysis.designs import encoding, factors, outcomes
from analysis.designs.encoding import Encoding
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
    weights_KF = fit_weights(X_MF, y_M, len(names))
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(REPLICATES):
        chosen = rng.integers(number, size=number)
        times = np.bincount(chosen, minlength=number)
        draws.append(fit_weights(X_MF, y_M, len(names), times[setting_M]))
    return Fit(block, names, code, weights_KF, number, np.array(draws))


def number_cells(members: pd.DataFrame, without: tuple[str, ...] = ()) -> np.ndarray:
    """The number of every member's cell, from 0; `without` some factors."""
    names = [name for name in factors.NAMES if name not in without]
    return members.groupby(names, sort=True).ngroup().to_numpy()


def encode_outcomes(outcome: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The index of every outcome in `names`."""
    return np.array([names.index(x) for x in outcome], int)


def fit_weights(
    X_MF: np.ndarray, y_M: np.ndarray, K: int, weight_M: np.ndarray | None = None
) -> np.ndarray:
    """Weights [K, F] of the penalized regression; the last is the constant.

    Args:
      weight_M: how often each member counts.
    """
    if weight_M is None:
        weight_M = np.ones(len(y_M))
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
    """A row per step between outcomes and column: log odds for a standard deviation."""
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
            row = {
                'block': fit.block,
                'settings': fit.settings,
                'step': f'{lower} → {upper}',
                'column': column,
                'log_odds': value_F[f],
                'low': low_F[f],
                'high': high_F[f],
            }
            rows.append(row)
    return pd.DataFrame(rows)
