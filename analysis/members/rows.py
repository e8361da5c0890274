"""The members of one row of a figure: one value of its row axis (`find_row_axis`)."""

from typing import Any

import numpy as np
import xarray as xr


def find_fullest_row(is_converged: xr.DataArray, row_name: str) -> Any:
    """The label of the row with the most converged members, the last of equals."""
    others = [dim for dim in is_converged.dims if dim != row_name]
    counts_Y = is_converged.sum(others).values
    fullest = np.flatnonzero(counts_Y == counts_Y.max())[-1]
    return is_converged[row_name].values[fullest]


def count_row(is_counted: xr.DataArray, row_name: str, row: Any) -> int:
    """How many members of a row are counted."""
    return int(is_counted.sel({row_name: row}).sum())


def select_members(array: xr.DataArray, is_chosen: xr.DataArray) -> np.ndarray:
    """[first dim, M] of the chosen members."""
    ordered = array.transpose(array.dims[0], *is_chosen.dims)
    return ordered.values[:, is_chosen.values]


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
