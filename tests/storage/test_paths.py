"""A folder of any name, given in any way, is read again, and is always the same one."""

import os
import pathlib
import shutil

import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest
import tensorstore as ts

from analysis import frame
from anchorjax import api, cli, files
from anchorjax.errors import StoreError, UserError
from anchorjax.storage import checkpoint
from tests.support.faults import ONE
from tests.support.sweeps import describe_arrays, experiment, opened, require_line


@pytest.fixture
def place(tmp_path, monkeypatch) -> pathlib.Path:
    """The current directory A, beside a link into another place, and a home."""
    for folder in ('A', 'home', 'far/away'):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / 'A' / 'link').symlink_to(tmp_path / 'far' / 'away')
    monkeypatch.chdir(tmp_path / 'A')
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    return tmp_path


@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        ('run', 'A/run'),
        ('runs//a/./b', 'A/runs/a/b'),
        ('../run', 'run'),
        ('link', 'A/link'),  # its own name is that of the run
        ('link/../run', 'far/run'),  # as the kernel reads it
        ('~/run', 'home/run'),
        ('s3:run', 'A/s3:run'),
        ('a b/%41#[x]', 'A/a b/%41#[x]'),
    ],
)
def test_a_path_is_absolute_and_plain(place, given, expected):
    assert files.absolute_path(given, 'folder') == place / expected


def test_a_user_without_a_name_and_a_home_needs_none(monkeypatch):
    """As in a container; a folder called ~ here would be found by nobody."""
    monkeypatch.setattr(os, 'getuid', lambda: 2**31 - 9)
    for name in ('HOME', 'XDG_CACHE_HOME'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match=r'^.~/run.: this user has no home directory'):
        files.absolute_path('~/run', 'folder')
    folder = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update('jax_compilation_cache_dir', None)
        cli.use_compilation_cache()
        assert jax.config.jax_compilation_cache_dir is None
    finally:
        jax.config.update('jax_compilation_cache_dir', folder)


NO_PATHS = [
    '',
    'gs://bucket/run',
    'file:/tmp/run',
    pathlib.Path('hf://user/run'),
    'host:/data/run',
    'a\0b',
    'caf\udce9',
]


@pytest.mark.parametrize('given', NO_PATHS)
def test_what_is_no_path_is_refused_before_anything_is_made(place, given):
    before = sorted(place.rglob('*'))
    line = r'workdir = .*: must be the path of a folder'
    for use in (api.open, lambda folder: api.train(experiment(**ONE), folder)):
        with pytest.raises(UserError, match=line) as caught:
            use(given)
        require_line(caught.value)
    with pytest.raises(UserError, match=r'argument --workdir: .*: must be the path'):
        cli.sweep_parser().parse_args(['--workdir', str(given)])
    assert sorted(place.rglob('*')) == before


NAMES = ['lr=[1e-3] [!a] {x} a**b w? %41#x$HOME~é漢\n\\ a:b\'" ', 'x' * 200]
NAMES += ['ocdbt.process_1', '7.orbax-checkpoint-tmp']


def make_tree(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {'W': rng.normal(size=(4, 3)), 'b': {'none': np.zeros((4, 0))}}


@pytest.mark.parametrize('name', NAMES)
def test_a_checkpoint_in_a_folder_of_any_name_is_read_back(tmp_path, name):
    # Two folders and equal steps: what is cached of one is not read for the other.
    folders = [tmp_path / name / part / name for part in ('one', 'two')]
    for seed, folder in enumerate(folders):
        for step in (1, 2):
            checkpoint.save(folder, step, make_tree(seed + step), keep=1)
    for seed, folder in enumerate(folders):
        assert checkpoint.list_steps(folder) == [2]
        expected = make_tree(seed + 2)
        like = describe_arrays(expected)
        found = checkpoint.load(folder, 2, like)
        np.testing.assert_array_equal(found['W'], expected['W'])
        row = checkpoint.load(folder, 2, like, row=2)
        np.testing.assert_array_equal(row['W'], expected['W'][2])


def lose_array(store: pathlib.Path) -> None:
    """Of several: not the smallest."""
    base = {'driver': 'file', 'path': f'{store}/'}
    arrays = ts.KvStore.open({'driver': 'ocdbt', 'base': base}).result()
    arrays.delete_range(ts.KvStore.KeyRange('V/', 'V0')).result()


@pytest.mark.parametrize('lost', ['tree', 'tree/d', 'tree/manifest.ocdbt', 'V'])
def test_a_save_that_cannot_be_read_back_is_an_error(tmp_path, monkeypatch, lost):
    """Whatever the library says: the save before is still the newest."""
    wait = ocp.CheckpointManager.wait_until_finished
    tree = make_tree(0) | {'V': np.ones((4, 50))}
    checkpoint.save(tmp_path, 1, tree, keep=2)

    def lose(manager: ocp.CheckpointManager) -> None:
        wait(manager)
        if lost == 'V':
            return lose_array(tmp_path / '2' / 'tree')
        files.remove(tmp_path / '2' / lost)

    monkeypatch.setattr(ocp.CheckpointManager, 'wait_until_finished', lose)
    with pytest.raises(StoreError, match='2 cannot be read back') as caught:
        checkpoint.save(tmp_path, 2, tree, keep=2)
    require_line(caught.value, tmp_path)
    assert checkpoint.list_steps(tmp_path) == [1]


def test_another_current_directory_reads_the_same_run(one_member, place, monkeypatch):
    """Though another run lies there under the same name."""
    shutil.copytree(one_member, place / 'A' / 'run')
    run = api.open('run')
    same = api.train(experiment(**ONE), 'run')
    (collected,) = frame.open_runs(['run']).values()
    expected, table = run.params()['W_U'], run.members
    (place / 'B').mkdir()
    monkeypatch.chdir(place / 'B')
    opened('run', **ONE)  # not trained
    for found in (run, same, collected):
        np.testing.assert_array_equal(found.params()['W_U'], expected)
        np.testing.assert_array_equal(found.network().params['W_U'], expected)
        assert found.members.equals(table)
        assert found.steps() == [40]
        assert bool(found.results.trained.all())
