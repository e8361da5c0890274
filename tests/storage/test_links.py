"""A link in a run folder lets nothing be read or written outside the folder."""

import pathlib

import pytest

from analysis.p1 import phase
from anchorjax import api
from anchorjax.errors import StoreError
from anchorjax.storage import locks
from anchorjax.sweeps.publish import draw_nothing
from anchorjax.training.devices import make_mesh
from tests.support.faults import ONE
from tests.support.fuzzing import refused_or_right
from tests.support.sweeps import bits, experiment, tree_hash

CHUNK = 'cohorts/all/chunk_0000'
# A name in the run folder -> what a link there leads to in the folder outside: a folder
# ('.' or 'inner'), a file, or nothing yet ('new').
TARGETS = {
    'cohorts': ('.',),
    'cohorts/all': ('.',),
    CHUNK: ('.', 'new'),
    'jobs': ('.', 'new'),
    'figures': ('.',),
    f'{CHUNK}/resume': ('.',),
    f'{CHUNK}/snapshots': ('.',),
    f'{CHUNK}/snapshots/40': ('.',),
    f'{CHUNK}/resume/10': ('inner',),
    f'{CHUNK}/resume/20': ('inner',),
    f'{CHUNK}/curves.npz': ('file', 'new'),
    f'{CHUNK}/environments.json': ('file', 'new'),
    '.lock': ('file', 'new'),
    'manifest.json': ('file', 'new'),
    'results.nc': ('file', 'new'),
    'members.csv': ('file',),
    'jobs/shard_00000_of_00001.json': ('file', 'new'),
    'figures/phase.png': ('file', 'new'),
    'figures/phase.npz': ('file', 'new'),
}
LINKS = [(name, target) for name in TARGETS for target in TARGETS[name]]


@pytest.fixture
def outside(tmp_path) -> pathlib.Path:
    """A folder that no sweep may touch."""
    folder = tmp_path / 'outside'
    for name in ('inner', '40', 'phase'):
        (folder / name).mkdir(parents=True)
        (folder / name / 'file').write_text('mine')
    (folder / 'file').write_text('mine')
    return folder


def train_and_draw(workdir: pathlib.Path, has_figures: bool) -> None:
    """What launch/sweep.py does with a folder, in this process."""
    draw = phase.save if has_figures else draw_nothing
    api.train(experiment(**ONE), workdir, mesh=make_mesh(1), draw=draw)


@pytest.mark.parametrize(('name', 'target'), LINKS)
def test_a_link_in_a_run_folder_lets_nothing_out(
    one_member, outside, tmp_path, name, target
):
    workdir = tmp_path / 'run'
    link = workdir / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / target)
    files_before = tree_hash(outside)
    names_before = sorted(outside.rglob('*'))
    with refused_or_right(tmp_path):
        train_and_draw(workdir, has_figures=name.startswith('figures'))
        assert bits(workdir) == bits(one_member)
    assert tree_hash(outside) == files_before
    assert sorted(outside.rglob('*')) == names_before


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    workdir = tmp_path / 'run'
    workdir.mkdir()
    (workdir / locks.LOCK_FILE).symlink_to(tmp_path / 'new')
    with pytest.raises(StoreError, match='cannot use'), locks.hold_results(workdir):
        pass
    assert not (tmp_path / 'new').exists()
