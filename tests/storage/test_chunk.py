"""What a chunk keeps: only damaged states are passed over; where it was trained."""

import errno
from typing import Any

import numpy as np
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage import checkpoint
from anchorjax.storage.chunk import ChunkFolder
from tests.support.faults import find_arrays, flip
from tests.support.sweeps import describe_arrays, list_files, require_line


def make_tree(step: int) -> dict[str, np.ndarray]:
    return {'W': np.random.default_rng(step).normal(size=(2, 30, 30))}


@pytest.fixture
def chunk(tmp_path) -> ChunkFolder:
    """A chunk with the states of steps 10 and 20."""
    made = ChunkFolder(tmp_path / 'chunk')
    for step in (10, 20):
        made.save_resume(step, make_tree(step))
    return made


def load(chunk: ChunkFolder, like: Any = None) -> tuple[Any, list[str]]:
    """What is loaded as a tree like this one, and the warnings."""
    warnings = []
    abstract = describe_arrays(like or make_tree(0))
    return chunk.load_resume(abstract, warnings.append), warnings


def test_damaged_states_are_kept_aside_and_the_last_says_that_none_is_left(chunk):
    resume = chunk.path / 'resume'
    flip(find_arrays(resume / '20'))
    (step, tree), (line,) = load(chunk)
    assert step == 10
    np.testing.assert_array_equal(tree['W'], make_tree(10)['W'])
    assert 'resume/20 is damaged' in line and 'falling back to the state before' in line

    flip(find_arrays(resume / '10'))
    saved, (line,) = load(chunk)
    assert saved is None
    assert 'falling back' not in line and 'training begins anew' in line
    require_line(line, chunk.path)
    assert checkpoint.list_steps(resume) == []
    assert checkpoint.list_steps(resume / 'damaged') == [10, 20]

    chunk.save_resume(10, make_tree(10))
    assert load(chunk)[0][0] == 10
    chunk.finish({})
    assert not resume.exists()


def test_kills_before_a_save_is_complete_leave_the_state_before(chunk, monkeypatch):
    """The list of digests is written last; Orbax drops old states before."""
    resume = chunk.path / 'resume'
    (resume / '20' / 'files.json').unlink()  # as if killed there
    chunk.save_resume(15, make_tree(15))

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint.files, 'write_json', die)
    with pytest.raises(KeyboardInterrupt):
        chunk.save_resume(21, make_tree(21))
    (step, tree), warnings = load(chunk)
    assert (step, warnings) == (15, [])
    np.testing.assert_array_equal(tree['W'], make_tree(15)['W'])


def test_a_state_of_other_code_is_refused_and_stays(chunk):
    before = list_files(chunk.path)
    with pytest.raises(StoreError, match=r'saved by other code: leaf') as caught:
        load(chunk, like={'W': np.zeros((2, 3))})
    require_line(caught.value, chunk.path)
    with pytest.raises(
        StoreError, match=r'cannot read checkpoint .*V/\.zarray'
    ) as caught:
        load(chunk, like={'V': np.zeros((2, 3))})
    require_line(caught.value, chunk.path)
    assert list_files(chunk.path) == before


@pytest.mark.parametrize(
    'error',
    [
        OSError(errno.EIO, 'Input/output error'),
        MemoryError(),
        ImportError('no module named zstd'),
        ValueError('NOT_FOUND: another version of the library'),
    ],
)
def test_a_state_that_cannot_be_read_now_is_refused_and_stays(
    chunk, monkeypatch, error
):
    def fail(*_: Any, **__: Any) -> None:
        raise error

    before = list_files(chunk.path)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.ts, 'open', fail)
        line = rf'^cannot read checkpoint .*/20: {type(error).__name__}: '
        with pytest.raises(StoreError, match=line) as caught:
            load(chunk)
    require_line(caught.value, chunk.path)
    assert list_files(chunk.path) == before
    assert load(chunk)[0][0] == 20


@pytest.mark.parametrize(
    ('step', 'environment', 'expected'),
    [
        (30, 1, [(0, 0), (20, 1)]),
        (30, 0, [(0, 0), (20, 1), (30, 0)]),
        (20, 2, [(0, 0), (20, 2)]),
        (10, 0, [(0, 0)]),  # the state of step 20 was damaged
        (10, 1, [(0, 0), (10, 1)]),
        (0, 1, [(0, 1)]),
    ],
)
def test_environments_of_steps_that_are_trained_again_are_forgotten(
    tmp_path, step, environment, expected
):
    chunk = ChunkFolder(tmp_path / 'chunk')
    chunk.begin(0, 0)
    chunk.begin(20, 1)
    chunk.begin(step, environment)
    assert chunk.environments() == expected
