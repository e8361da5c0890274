"""Spectra of a matrix [d_in, d_out], in descending order, and when their values rise."""

import numpy as np

GROWS = 2.0  # an eigenvalue that never doubles does not rise


def singular_values(W) -> np.ndarray:
    """[min(d_in, d_out)], in double precision."""
    return np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)


def covariance_spectrum(W) -> np.ndarray:
    """Eigenvalues of the covariance of the rows, [min(d_in, d_out)]."""
    rows = np.asarray(W, np.float64)
    return singular_values(rows - rows.mean(0)) ** 2 / max(len(rows) - 1, 1)


def rises(steps_S, values_SI) -> np.ndarray:
    """First snapshot where a value is above its start by half of its rise, [I].

    The rise is from the start to the peak (weight decay may lower it again). NaN for a value that
    never reaches GROWS times its start, and with a single snapshot.
    """
    start, peak = values_SI[0], values_SI.max(0)
    above = values_SI >= start + (peak - start) / 2
    grows = (peak > start) & (peak >= GROWS * start)
    return np.where(grows, np.asarray(steps_S)[above.argmax(0)], np.nan)


def padded(spectra_XN) -> np.ndarray:
    """Nested lists of spectra as one array [X, N, longest]; NaN beyond the end of each."""
    longest = max(len(s) for row in spectra_XN for s in row)
    pad = lambda s: np.pad(s, (0, longest - len(s)), constant_values=np.nan)
    return np.array([[pad(s) for s in row] for row in spectra_XN])
