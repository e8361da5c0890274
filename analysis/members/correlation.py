"""Which numbers of the members go together, and how surely: Spearman's, with permuted members."""

import numpy as np
from scipy import stats

from analysis.spectra import measures

PERMUTATIONS = 10_000


def correlations(x_XM, y_YM, permutations: int = PERMUTATIONS, seed: int = 0) -> tuple:
    """(Spearman's [X, Y], two-sided p-value by permuting members); NaN members are left out.

    The p-value takes the members for exchangeable, which a sweep of gamma makes them not: it says
    that the two go together over this sweep, not that one is the other's cause.
    """
    known = np.isfinite(x_XM).all(0) & np.isfinite(y_YM).all(0)
    x_XM, y_YM = x_XM[:, known], y_YM[:, known]
    found = np.array([[measures.rank_correlation(x, y) for y in y_YM] for x in x_XM])
    if not np.isfinite(found).any():
        return found, found
    rng, beyond = np.random.default_rng(seed), np.zeros_like(found)
    x_XM, y_YM = _standard_ranks(x_XM), _standard_ranks(y_YM)
    for _ in range(permutations):
        drawn = x_XM[:, rng.permutation(x_XM.shape[1])] @ y_YM.T
        beyond += np.abs(drawn) >= np.abs(found) - 1e-9
    return found, np.where(
        np.isfinite(found), (1 + beyond) / (1 + permutations), np.nan
    )


def _standard_ranks(x_XM) -> np.ndarray:
    """Ranks less their mean, of length one: Spearman's is their inner product."""
    ranks = stats.rankdata(x_XM, axis=-1)
    centred = ranks - ranks.mean(-1, keepdims=True)
    norm = np.linalg.norm(centred, axis=-1, keepdims=True)
    return np.divide(centred, norm, out=np.zeros_like(centred), where=norm > 0)
