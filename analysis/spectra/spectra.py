"""Spectra of a matrix [d_in, d_out], in descending order, and when they rise."""

import numpy as np

MIN_GROWTH = 2.0  # an eigenvalue that never doubles does not rise


def singular_values(W: np.ndarray) -> np.ndarray:
    """Singular values [min(d_in, d_out)], in double precision."""
    return np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)


def covariance_spectrum(W: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance of the rows, [min(d_in, d_out)]."""
    rows = np.asarray(W, np.float64)
    centred = rows - rows.mean(0)
    degrees_of_freedom = max(len(rows) - 1, 1)
    return singular_values(centred) ** 2 / degrees_of_freedom


def find_rises(steps_S: np.ndarray, values_SI: np.ndarray) -> np.ndarray:
    """First snapshot step at which a value has made half of its rise, [I].

    The rise is from the start to the peak, since weight decay may lower the value
    again. NaN for a value that never reaches MIN_GROWTH times its start, and with a
    single snapshot.
    """
    start_I = values_SI[0]
    peak_I = values_SI.max(0)
    half_way_I = start_I + (peak_I - start_I) / 2
    is_above_SI = values_SI >= half_way_I
    first_I = is_above_SI.argmax(0)
    rises_I = (peak_I > start_I) & (peak_I >= MIN_GROWTH * start_I)
    steps_S = np.asarray(steps_S)
    return np.where(rises_I, steps_S[first_I], np.nan)
