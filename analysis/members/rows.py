"""Labels of members, and means over the members of each seed."""

import numpy as np
import xarray as xr


def list_labels(is_chosen: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Gamma and seed of the chosen members, [M] each."""
    labels = []
    for axis in ('gamma', 'seed'):
        of_member, _ = xr.broadcast(is_chosen[axis], is_chosen)
        ordered = of_member.transpose(*is_chosen.dims)
        labels.append(ordered.values[is_chosen.values])
    gamma_M, seed_M = labels
    return gamma_M, seed_M


def average_by_seed(values_M: np.ndarray, seed_M: np.ndarray) -> np.ndarray:
    """The mean over the members of each seed, in the order of the seeds."""
    averages = []
    for seed in np.unique(seed_M):
        averages.append(values_M[seed_M == seed].mean())
    return np.array(averages)
