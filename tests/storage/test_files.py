"""A file is whole or absent, and whatever goes wrong is one line with its cause."""

import pathlib
import subprocess
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt

from anchorjax.errors import Damaged, StoreError, is_temporary
from anchorjax.files import (
    parse_json,
    read_arrays,
    read_json,
    write_arrays,
    write_atomic,
    write_json,
)
from tests.support.faults import flip, mounted, truncate
from tests.support.sweeps import require_line

matplotlib.use('Agg')


@pytest.fixture
def small_disk(tmp_path) -> Iterator[pathlib.Path]:
    if not mounted(tmp_path, '80k'):
        pytest.skip('mounting a small disk is not permitted here')
    yield tmp_path
    subprocess.run(['umount', '-l', str(tmp_path)], check=True)


def test_a_figure_that_does_not_fit_on_the_disk_is_one_line(small_disk):
    figure, axis = plt.subplots()
    axis.plot(np.random.default_rng(0).normal(size=50_000))
    with pytest.raises(StoreError, match='No space left on device') as caught:
        write_atomic(small_disk / 'figure.pdf', figure.savefig)
    plt.close(figure)
    assert is_temporary(caught.value)
    assert list(small_disk.iterdir()) == []


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
    with pytest.raises(Damaged, match=r'curves\.npz is damaged .*; delete it'):
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
    assert not isinstance(caught.value, Damaged)
