"""Numbers that say how few directions a matrix, a cloud of vectors or a spectrum uses."""

import numpy as np
from scipy import stats


def stable_rank(W) -> float:
    """Sum of (sigma_i / sigma_max)^2 (P3 Fig 5C): 1 for rank one, n for n equal directions."""
    sigma = np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)
    return float((sigma**2).sum() / sigma[0] ** 2) if sigma[0] > 0 else float('nan')


def participation_ratio(values) -> float:
    """(sum v)^2 / sum v^2 of a spectrum: how many of its values matter (P4 takes singular ones)."""
    values = np.asarray(values, np.float64)
    return (
        float(values.sum() ** 2 / (values**2).sum()) if values.any() else float('nan')
    )


def cosines(rows_a, rows_b=None) -> np.ndarray:
    """Cosine of every row of a with every row of b (of a itself by default); 0 for a zero row."""
    unit = [_unit(rows) for rows in (rows_a, rows_a if rows_b is None else rows_b)]
    return unit[0] @ unit[1].T


def rank_correlation(x, y) -> float:
    """Spearman's, over the pairs where both are known; NaN when either does not vary."""
    x, y = np.ravel(x), np.ravel(y)
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
        return float('nan')
    return float(stats.spearmanr(x[known], y[known]).statistic)


def _unit(rows) -> np.ndarray:
    rows = np.asarray(rows, np.float64)
    norm = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, norm, out=np.zeros_like(rows), where=norm > 0)
