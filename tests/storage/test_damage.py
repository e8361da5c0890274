"""Whatever befell a file of a chunk: one clear line, or the right result.

Every run has the same examples; which file one of them hits depends on random names
that Orbax gives its files.
"""

import pathlib
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from hypothesis import given

from anchorjax import files
from anchorjax.errors import StoreError
from anchorjax.storage import checkpoint, digests
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.reader import open_run
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.curves import Record, record_shapes
from anchorjax.training.members import describe_placement, place_members
from tests.support.accidents import ACCIDENTS, Accident, hit, hit_any_file
from tests.support.faults import ONE, train_and_stop
from tests.support.fuzzing import copy_folder, fuzz, refused_or_right, require_line
from tests.support.sweeps import (
    bits,
    list_files,
    load_snapshot,
    member_shapes,
    opened,
    trained,
)

EXAMPLES = 60


class Halted(NamedTuple):
    """A sweep of one member that was stopped at step 30 of 40."""

    workdir: pathlib.Path
    chunk: ChunkFolder
    abstract: Any  # what load_resume needs: the shapes of state and curves


@pytest.fixture(scope='module')
def halted(tmp_path_factory) -> Halted:
    workdir = tmp_path_factory.mktemp('halted') / 'run'
    chunk_folder = train_and_stop(workdir, segments=3)
    folder, mesh = opened(workdir, **ONE)
    experiment = folder.experiment

    hparams = chunk_hparams(folder.chunks[0].cohort, index=0, size=1)
    init = get_trainer(experiment, mesh, lanes=1).init
    state = jax.eval_shape(init, place_members(hparams, mesh, lanes=1))
    state = describe_placement(state, 1, mesh, lanes=1)
    rows = len(experiment.record_steps)
    curves = []
    for shape in record_shapes(experiment.task.make()):
        curves.append(jax.ShapeDtypeStruct((rows, 1, *shape), np.float32))
    return Halted(workdir, chunk_folder, {'state': state, 'curves': Record(*curves)})


def test_a_damaged_state_is_never_taken_for_a_good_one(halted, tmp_path_factory):
    resume = halted.chunk.path / 'resume'
    good = {}
    for step in checkpoint.list_steps(resume):
        tree = checkpoint.load(resume, step, halted.abstract)
        good[step] = digests.digest_tree(tree)
    assert list(good) == [20, 30]
    root = tmp_path_factory.mktemp('copy')
    has_warned = []

    @fuzz(EXAMPLES)
    @given(ACCIDENTS)
    def load_after_an_accident(drawn: tuple[int, Accident]) -> None:
        chunk = ChunkFolder(copy_folder(halted.chunk.path, root / 'chunk'))
        hit_any_file(chunk.path, *drawn)
        warnings = []
        with refused_or_right(root):
            step = None
            loaded = chunk.load_resume(halted.abstract, warnings.append)
            if loaded is not None:
                step, tree = loaded
                assert digests.digest_tree(tree) == good[step]
            # One warning for every state that was passed over.
            assert len(warnings) == [30, 20, None].index(step)
            chunk.environments()
        for line in warnings:
            require_line(line, root)
        has_warned.append(bool(warnings))

    load_after_an_accident()
    assert 0 < sum(has_warned) < EXAMPLES


def test_a_damaged_result_is_never_taken_for_a_good_one(one_member, tmp_path_factory):
    whole = open_run(one_member)
    shapes = member_shapes(whole.experiment, num_members=1)
    good_snapshot = load_snapshot(whole.folder.chunks[0].folder, 40, shapes)
    good_snapshot = digests.digest_tree(good_snapshot)
    good_member = digests.digest_tree(whole.params())
    good_curves = whole.curves
    root = tmp_path_factory.mktemp('copy')
    is_refused = []

    @fuzz(EXAMPLES)
    @given(ACCIDENTS)
    def read_after_an_accident(drawn: tuple[int, Accident]) -> None:
        workdir = copy_folder(one_member, root / 'run')
        hit_any_file(workdir / 'cohorts', *drawn)
        run = open_run(workdir)
        chunk = run.folder.chunks[0].folder
        is_refused.append(True)
        with refused_or_right(root):
            assert digests.digest_tree(run.params()) == good_member
            snapshot = load_snapshot(chunk, 40, shapes)
            assert digests.digest_tree(snapshot) == good_snapshot
            is_refused[-1] = False
        with refused_or_right(root):
            is_untrained = not chunk.done and not run.results.trained.any()
            assert run.curves.equals(good_curves) or is_untrained

    read_after_an_accident()
    assert 0 < sum(is_refused) < EXAMPLES


# A file below the chunk, by a part of its path, and what befalls it.
DAMAGED_STATES = [
    ('resume/30/tree', ('flip', 0.5, 1)),
    ('resume/30/digests/metadata', ('empty', 0.0, 1)),
    ('resume/30/_CHECKPOINT_METADATA', ('truncate', 0.5, 1)),
    ('resume/30/digests/metadata', 'remove'),
    ('environments.json', ('truncate', 0.5, 1)),
]


@pytest.mark.parametrize(('part', 'accident'), DAMAGED_STATES)
def test_a_sweep_goes_on_from_a_damaged_state_with_the_same_bits(
    halted, one_member, tmp_path, part, accident
):
    workdir = copy_folder(halted.workdir, tmp_path / 'run')
    chunk = workdir / halted.chunk.path.relative_to(halted.workdir)
    targets = [path for path in list_files(chunk) if part in str(path)]
    hit(targets[0], accident)
    warnings = []
    with refused_or_right(tmp_path):
        trained(workdir, warn=warnings.append, **ONE)
        assert bits(workdir) == bits(one_member)
    for line in warnings:
        require_line(line, tmp_path)


def drop_agreement(arrays: dict[str, np.ndarray]) -> None:
    del arrays['agreement']


def drop_last_row(arrays: dict[str, np.ndarray]) -> None:
    arrays['agreement'] = arrays['agreement'][:-1]


def name_unknown_environment(arrays: dict[str, np.ndarray]) -> None:
    arrays['environments'] = arrays['environments'] + 5


def shift_steps(arrays: dict[str, np.ndarray]) -> None:
    arrays['steps'] = arrays['steps'] + 1


CHANGES = (drop_agreement, drop_last_row, name_unknown_environment, shift_steps)


@pytest.mark.parametrize('change', CHANGES)
def test_curves_of_another_sweep_are_refused(one_member, tmp_path, change):
    workdir = copy_folder(one_member, tmp_path / 'run')
    path = open_run(workdir).folder.chunks[0].folder.path / 'curves.npz'
    arrays = files.read_arrays(path)
    change(arrays)
    files.write_arrays(path, arrays)
    with pytest.raises(StoreError, match=r'curves\.npz.* of another sweep.* delete it'):
        _ = open_run(workdir).results
