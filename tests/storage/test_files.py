"""A file is whole or absent, and whatever goes wrong is one line with its cause."""

import functools
import os
import pathlib
import resource
import shutil
import time
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt

from anchorjax.errors import CorruptFileError, StoreError, is_temporary
from anchorjax.files import (
    parse_json,
    read_arrays,
    read_json,
    write_arrays,
    write_atomic,
    write_dataset,
    write_json,
    write_text,
)
from anchorjax.storage import checkpoint
from tests.support.faults import flip, truncate
from tests.support.sweeps import require_line, tree_hash

matplotlib.use('Agg')


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file grows beyond 4 kB, as after `ulimit -f 4`."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def save_text(path: pathlib.Path, size: int) -> None:
    write_text(path, 'x' * 8 * size)


def save_arrays(path: pathlib.Path, size: int) -> None:
    write_arrays(path, {'loss': np.arange(1.0 * size)})


def save_dataset(path: pathlib.Path, size: int) -> None:
    dataset = xr.Dataset({'loss': ('step', np.random.default_rng(0).normal(size=size))})
    write_dataset(path, dataset)


def save_figure(path: pathlib.Path, size: int) -> None:
    figure, axis = plt.subplots()
    axis.plot(np.random.default_rng(0).normal(size=size))
    write_atomic(path, functools.partial(figure.savefig, format='pdf'))
    plt.close(figure)


def save_checkpoint(path: pathlib.Path, size: int) -> None:
    arrays = np.random.default_rng(0).normal(size=(20, 1, size))
    checkpoint.save(path, size, {f'W_{i}': array for i, array in enumerate(arrays)})


SAVES = [save_text, save_arrays, save_dataset, save_figure, save_checkpoint]


def test_a_dataset_is_written_below_a_folder_of_any_name(tmp_path):
    """netCDF takes a backslash for /."""
    path = tmp_path / 'c\\d [x] é' / 'results.nc'
    dataset = xr.Dataset({'loss': ('step', np.arange(3.0))})
    write_dataset(path, dataset)
    shutil.copy(path, tmp_path / 'plain.nc')
    assert xr.load_dataset(tmp_path / 'plain.nc').equals(dataset)
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.filterwarnings('error::pytest.PytestUnraisableExceptionWarning')
@pytest.mark.parametrize('save', SAVES)
def test_a_limit_of_files_is_as_a_full_disk(tmp_path, request, save):
    """Another try may help, what was there stays, and no thread has its own say."""
    save(tmp_path / 'x', 10)
    before = tree_hash(tmp_path)
    request.getfixturevalue('small_files')
    with pytest.raises(StoreError, match='cannot write') as caught:
        save(tmp_path / 'x', 5_000)
    time.sleep(0.1)  # for writes of other arrays that end after the first failure
    assert is_temporary(caught.value)
    require_line(caught.value, tmp_path)
    assert checkpoint.list_steps(tmp_path / 'x') == [10] * (save is save_checkpoint)
    assert before.items() <= tree_hash(tmp_path).items()


def test_a_checkpoint_needs_few_file_numbers(tmp_path):
    few = len(os.listdir('/proc/self/fd')) + 20
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, limits[1]))
    try:
        save_checkpoint(tmp_path, 10)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert checkpoint.list_steps(tmp_path) == [10]


@pytest.mark.parametrize('error', [AttributeError('x'), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, error):
    def write(path: pathlib.Path) -> None:
        path.write_text('half')
        raise error

    path = tmp_path / 'a.json'
    write_json(path, 'old')
    with pytest.raises(type(error)):
        write_atomic(path, write)
    assert read_json(path) == 'old'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize('text', ['', '{', '[' * 10**5, b'\xff\xfe\x00'])
def test_what_is_no_json_is_one_line(text):
    with pytest.raises(StoreError, match=r'^x\.json is not JSON: ') as caught:
        parse_json(text, 'x.json')
    require_line(caught.value)


@pytest.fixture
def arrays(tmp_path) -> pathlib.Path:
    path = tmp_path / 'curves.npz'
    write_arrays(path, {'loss': np.arange(1000.0)})
    return path


@pytest.mark.parametrize('damage', [flip, truncate])
def test_a_damaged_archive_is_called_damaged(arrays, damage):
    damage(arrays)
    with pytest.raises(CorruptFileError, match=r'curves\.npz is damaged .*; delete it'):
        read_arrays(arrays)


@pytest.mark.parametrize('error', [MemoryError(), ImportError('x'), OSError(5, 'x')])
def test_an_archive_that_cannot_be_read_now_is_not_called_damaged(
    arrays, monkeypatch, error
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(np, 'load', fail)
    line = rf'^cannot read .*curves\.npz: {type(error).__name__}: '
    with pytest.raises(StoreError, match=line) as caught:
        read_arrays(arrays)
    assert not isinstance(caught.value, CorruptFileError)
