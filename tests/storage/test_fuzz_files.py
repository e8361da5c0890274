"""Whatever is wrong with a file of a chunk: one clear line, or the right result.

Never a traceback, a hang or a silent difference. The examples are the same in every run.
"""

import os
import pathlib
import re

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import models, tasks
from anchorjax.errors import StoreError
from anchorjax.storage import atomic, checkpoint, digests
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.reader import open_run, write_tables
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.curves import Record, record_shapes
from anchorjax.training.members import describe_placement, place_members
from tests.support import fuzzing
from tests.support.faults import ONE, stopped
from tests.support.fuzzing import BYTES, refused_or_right
from tests.support.sweeps import bits, opened, trained


@pytest.fixture(scope='module')
def halted(tmp_path_factory):
    """(folder, its piece of work, what load_resume needs) of a sweep stopped at step 30 of 40."""
    folder = tmp_path_factory.mktemp('halted') / 'run'
    stopped(folder, 3)
    there, mesh = opened(folder, **ONE)
    piece, e = there.chunks[0], there.experiment
    hparams = place_members(chunk_hparams(piece.cohort, 0, 1), mesh, 1)
    state = describe_placement(
        jax.eval_shape(get_trainer(e, mesh, 1).init, hparams), 1, mesh, 1
    )
    rows, shapes = len(e.record_steps), record_shapes(tasks.make(e.task))
    curves = [jax.ShapeDtypeStruct((rows, 1, *s), 'float32') for s in shapes]
    return folder, piece, {'state': state, 'curves': Record(*curves)}


@pytest.fixture(scope='module')
def whole(tmp_path_factory) -> pathlib.Path:
    """A finished sweep of one member."""
    return trained(tmp_path_factory.mktemp('whole') / 'run', **ONE).sweep_dir.workdir


ACCIDENTS = st.tuples(
    st.integers(0, 10**6),  # which file
    st.one_of(
        BYTES,
        st.sampled_from(['remove', 'folder', 'fifo', 'link']),
        st.integers(0, 10**6),
    ),
)


# What is read of a chunk: the newest state, the parameters, the curves.
READ = r'/(30|40)/(tree/(d/|ocdbt|manifest)|digests/metadata)|curves\.npz'


def accident(folder: pathlib.Path, number: int, what) -> None:
    """Damages one file below a folder, one with data mostly; a number swaps it with another one."""
    there = fuzzing.files_below(folder)
    there += [p for p in there if re.search(READ, str(p))] * 2
    path = there[number % len(there)]
    if isinstance(what, tuple):
        path.write_bytes(fuzzing.damaged(path.read_bytes(), what))
    elif isinstance(what, int):
        other = there[what % len(there)]
        data = path.read_bytes()
        path.write_bytes(other.read_bytes()), other.write_bytes(data)
    else:
        path.unlink()
        special = {'folder': path.mkdir, 'link': lambda: path.symlink_to('/dev/zero')}
        special['fifo'] = lambda: os.mkfifo(path)
        special.get(what, lambda: None)()


def test_a_damaged_state_is_never_taken_for_a_good_one(halted, tmp_path_factory):
    _, piece, abstract = halted
    chunk, warned = piece.chunk, []
    good = {
        step: digests.digest_tree(
            checkpoint.load(chunk.folder / 'resume', step, abstract)
        )
        for step in checkpoint.list_steps(chunk.folder / 'resume')
    }
    assert list(good) == [20, 30]
    copy = tmp_path_factory.mktemp('copy')

    @fuzzing.fuzz(60)
    @given(ACCIDENTS)
    def fuzzed(damage):
        there = fuzzing.copied(chunk.folder, copy / 'chunk')
        accident(there, *damage)
        lines, one = [], ChunkFolder(copy, there)
        with refused_or_right(copy):
            found = one.load_resume(abstract, lines.append)
            assert found is None or digests.digest_tree(found[1]) == good[found[0]]
            assert len(lines) == [30, 20, None].index(found and found[0])
            one.numerics()
        for line in lines:
            fuzzing.require_line(line, copy)
        warned.append(bool(lines))

    fuzzed()
    assert 0 < sum(warned) < 60  # which file is hit hangs on names that Orbax draws


def test_a_damaged_result_is_never_taken_for_a_good_one(whole, tmp_path_factory):
    right = open_run(whole)
    (piece,), cube, e = right.sweep_dir.chunks, right.curves, right.experiment
    shapes = models.abstract_params(e.model, e.task.vocab)
    shapes = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((1, *x.shape), x.dtype), shapes
    )
    good = digests.digest_tree(piece.chunk.load_snapshot(40, shapes))
    member = digests.digest_tree(right.params())
    copy, refused = tmp_path_factory.mktemp('copy'), []

    @fuzzing.fuzz(60)
    @given(ACCIDENTS)
    def fuzzed(damage):
        there = fuzzing.copied(whole, copy / 'run')
        accident(there / 'cohorts', *damage)
        run = open_run(there)
        chunk = run.sweep_dir.chunks[0].chunk
        refused.append(True)
        with refused_or_right(copy):
            assert digests.digest_tree(run.params()) == member
            assert digests.digest_tree(chunk.load_snapshot(40, shapes)) == good
            refused[-1] = False
        with refused_or_right(copy):
            assert run.curves.equals(cube) or not (
                chunk.done or run.results.trained.any()
            )

    fuzzed()
    assert 0 < sum(refused) < 60  # likewise


ENGINE = [  # a file below the chunk (by a part of its path), what befalls it
    ('resume/30/tree', ('flip', 0.5, 1)),
    ('resume/30/digests/metadata', ('empty', 0.0, 1)),
    ('resume/30/_CHECKPOINT_METADATA', ('truncate', 0.5, 1)),
    ('resume/30/digests/metadata', 'folder'),
    ('resume/20/tree', 'fifo'),
    ('numerics.json', ('truncate', 0.5, 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(('part', 'what'), ENGINE)
def test_the_engine_goes_on_from_a_damaged_state_with_the_same_bits(
    halted, whole, tmp_path, part, what
):
    folder, piece, _ = halted
    there = fuzzing.copied(folder, tmp_path / 'run')
    chunk = there / piece.chunk.folder.relative_to(folder)
    named = [i for i, p in enumerate(fuzzing.files_below(chunk)) if part in str(p)]
    accident(chunk, named[0], what)
    lines = []
    with refused_or_right(tmp_path):
        trained(there, warn=lines.append, **ONE)
        assert bits(there) == bits(whole)
    for line in lines:
        fuzzing.require_line(line, tmp_path)


def test_curves_of_another_sweep_are_named(whole, tmp_path):
    there = fuzzing.copied(whole, tmp_path / 'run')
    path = open_run(there).sweep_dir.chunks[0].chunk.folder / 'curves.npz'
    arrays = dict(atomic.read_arrays(path))
    wrong = [
        {k: v for k, v in arrays.items() if k != 'agreement'},
        arrays | {'agreement': arrays['agreement'][:-1]},
        arrays | {'train_loss': arrays['train_loss'].astype('float64')},
        arrays | {'numerics': arrays['numerics'] + 5},
        arrays | {'steps': arrays['steps'] + 1},
        arrays | {'x\n': arrays['steps']},
    ]
    for one in wrong:
        atomic.write_arrays(path, one)
        with pytest.raises(
            StoreError, match=r'curves.npz is damaged .* delete it'
        ) as caught:
            _ = open_run(there).results
        fuzzing.require_line(caught.value, tmp_path)


def test_an_axis_of_tuples_is_labelled_by_their_text(tmp_path):
    pairs = (((4, 3),), ((3, 4),))
    there, _ = opened(tmp_path, loop=(('task.unseen', pairs),))
    assert write_tables(there).results.unseen.values.tolist() == [str(p) for p in pairs]
    assert (
        open_run(tmp_path).at(unseen=pairs[1], gamma=0.3, seed=0).task.unseen
        == pairs[1]
    )
