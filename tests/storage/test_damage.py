"""A damaged file of a chunk is named or passed over, and never taken for a good one."""

import pathlib

import numpy as np
import pytest

from anchorjax import files
from anchorjax.errors import StoreError
from anchorjax.storage.reader import open_run
from tests.support.faults import ONE, flip, train_and_stop, truncate
from tests.support.sweeps import bits, copy_folder, list_files, require_line, trained


@pytest.fixture(scope='module')
def halted(tmp_path_factory) -> pathlib.Path:
    """A sweep of one member that was stopped at step 30 of 40."""
    workdir = tmp_path_factory.mktemp('halted') / 'run'
    train_and_stop(workdir, segments=3)
    return workdir


# A file of the newest state, by a part of its path, and what befalls it.
DAMAGED_STATES = [
    ('resume/30/tree/d/', flip),
    ('resume/30/_CHECKPOINT_METADATA', truncate),
    ('resume/30/tree/manifest.ocdbt', pathlib.Path.unlink),
    ('resume/30/files.json', truncate),
    ('resume/30/files.json', pathlib.Path.unlink),  # killed before it was written
]


@pytest.mark.parametrize(('part', 'damage'), DAMAGED_STATES)
def test_a_sweep_goes_on_from_the_state_before_with_the_same_bits(
    halted, one_member, tmp_path, part, damage
):
    workdir = copy_folder(halted, tmp_path / 'run')
    damage(next(path for path in list_files(workdir) if part in str(path)))
    warnings = []
    trained(workdir, warn=warnings.append, **ONE)
    assert bits(workdir) == bits(one_member)
    for line in warnings:
        assert 'resume/30 is damaged' in line and 'falling back' in line
        require_line(line, tmp_path)


@pytest.mark.parametrize(
    'damage', [lambda text: text.replace('[', '[ [9, 9],', 1), lambda text: '[1]']
)
def test_a_damaged_record_of_environments_is_refused(halted, tmp_path, damage):
    workdir = copy_folder(halted, tmp_path / 'run')
    (path,) = workdir.rglob('environments.json')
    path.write_text(damage(path.read_text()))
    with pytest.raises(StoreError, match=r'environments\.json is damaged'):
        trained(workdir, **ONE)


def drop_agreement(arrays: dict[str, np.ndarray]) -> None:
    del arrays['agreement']


def drop_last_row(arrays: dict[str, np.ndarray]) -> None:
    arrays['agreement'] = arrays['agreement'][:-1]


def shift_steps(arrays: dict[str, np.ndarray]) -> None:
    arrays['steps'] = arrays['steps'] + 1


CHANGES = (drop_agreement, drop_last_row, shift_steps)


@pytest.mark.parametrize('change', CHANGES)
def test_curves_of_another_sweep_are_refused(one_member, tmp_path, change):
    workdir = copy_folder(one_member, tmp_path / 'run')
    path = open_run(workdir).folder.chunks[0].folder.path / 'curves.npz'
    arrays = files.read_arrays(path)
    change(arrays)
    files.write_arrays(path, arrays)
    with pytest.raises(StoreError, match=r'curves\.npz: .* another sweep.* delete it'):
        _ = open_run(workdir).results
