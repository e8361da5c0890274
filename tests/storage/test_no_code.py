"""Nothing that is read is executed: no pickle, no text.

The one exception is the file on this machine that a run's own task or model is from.
"""

import os
import pathlib
import pickle

import numpy as np
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage.reader import open_run
from tests.support.sweeps import copy_folder, require_line

CURVES = 'cohorts/all/chunk_0000/curves.npz'


class Marker:
    """When it is unpickled, it makes a folder."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def save_pickle(path: pathlib.Path, content: np.ndarray) -> None:
    path.write_bytes(pickle.dumps(content))


def save_npy(path: pathlib.Path, content: np.ndarray) -> None:
    with path.open('wb') as f:
        np.save(f, content, allow_pickle=True)


def save_npz(path: pathlib.Path, content: np.ndarray) -> None:
    np.savez(path, allow_pickle=True, steps=content)


@pytest.mark.parametrize('save', [save_pickle, save_npy, save_npz])
def test_a_pickle_in_place_of_the_curves_is_not_read(one_member, tmp_path, save):
    workdir = copy_folder(one_member, tmp_path / 'run')
    save(workdir / CURVES, np.array([Marker(tmp_path / 'ran')], object))
    with pytest.raises(StoreError, match=r'curves\.npz') as caught:
        _ = open_run(workdir).results
    require_line(caught.value, tmp_path)
    assert not (tmp_path / 'ran').exists()
