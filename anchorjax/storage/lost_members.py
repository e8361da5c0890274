"""Members that the tables of a sweep have, and its chunks no longer do.

Someone deleted cohorts/ to save space, or moved it. Tables made from what is left would
replace numbers that only the old tables still hold.
"""

import pathlib

import numpy as np
import pandas as pd
import xarray as xr

from anchorjax.errors import StoreError
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import Chunk

CUBE_FILE, TABLE_FILE = 'results.nc', 'members.csv'


class LostMembers(StoreError):
    """The tables of a sweep hold members whose curves are gone."""


def open_whole_run(folder: pathlib.Path) -> Run:
    """The sweep in a folder, for figures and tables, which must not lack lost members.

    Raises:
      LostMembers: the tables have members whose curves are gone.
      StoreError: there is no sweep, or its manifest or curves are damaged.
    """
    run = open_run(folder)
    require_none_lost(run)
    return run


def require_none_lost(run: Run) -> None:
    """Raises LostMembers if a table in the folder has a member without its curves.

    A table that cannot be read keeps nothing from being written anew.
    """
    is_trained = np.ravel(run.results.trained.values)
    if is_trained.all():
        return
    workdir = run.folder.workdir
    is_lost = np.zeros_like(is_trained)
    for is_in_table in (
        _read_cube(workdir / CUBE_FILE, run),
        _read_table(workdir / TABLE_FILE),
    ):
        if is_in_table.shape == is_trained.shape:
            is_lost |= is_in_table & ~is_trained
    if not is_lost.any():
        return
    first = _find_untrained(run).folder.path
    raise LostMembers(
        f'{workdir}: the curves of {is_lost.sum()} of {is_lost.size} members are gone '
        f'(no {first}/curves.npz), which {CUBE_FILE} or {TABLE_FILE} still has, so '
        'these and the figures stay as they are; put the folder cohorts back, or train '
        f'its members again; to do without them, move {CUBE_FILE} and {TABLE_FILE} away'
    )


def _find_untrained(run: Run) -> Chunk:
    """The first chunk that is not trained, or whose curves are gone."""
    return next(chunk for chunk in run.folder.chunks if not chunk.folder.done)


def _read_cube(path: pathlib.Path, run: Run) -> np.ndarray:
    """Which members results.nc calls trained, [members]; empty if it cannot tell."""
    try:
        with xr.open_dataset(path) as cube:
            trained = cube.trained.transpose(*run.experiment.axes)
            return np.ravel(trained.values).astype(bool)
    except Exception:  # the libraries below xarray raise many kinds
        return np.zeros(0, bool)


def _read_table(path: pathlib.Path) -> np.ndarray:
    """Which members members.csv calls trained, [members]; empty if it cannot tell."""
    try:
        trained = pd.read_csv(path, usecols=['trained']).trained
    except (OSError, ValueError):  # pandas' own errors are ValueErrors
        return np.zeros(0, bool)
    return (trained.astype(str) == 'True').to_numpy()
