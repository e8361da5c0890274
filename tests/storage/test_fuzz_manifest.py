"""Whatever is wrong with a manifest: one clear line, or the right result.

Never a traceback, a hang or a silent difference. The examples are the same in every run.
"""

import json
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax.storage.manifest import (
    MANIFEST_FILE,
    _digest,
    read_experiment,
    read_manifest,
)
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.run import describe_environment
from anchorjax.training.members import make_mesh
from tests.support import fuzzing
from tests.support.fuzzing import BYTES, VALUES, refused_or_right
from tests.support.sweeps import experiment, opened


@pytest.fixture(scope='module')
def begun(tmp_path_factory) -> pathlib.Path:
    """A sweep of which nothing but the manifest is there."""
    folder = tmp_path_factory.mktemp('begun') / 'run'
    opened(folder)
    return folder


def taken(folder: pathlib.Path, numerics: dict) -> list:
    """What every reader of the manifest says: a result, or None when it was refused in a line."""
    readers = (
        lambda: read_manifest(folder),
        lambda: read_experiment(folder / MANIFEST_FILE),
        lambda: seen(open_run(folder)),
        lambda: (
            read_manifest(folder)
            and create_folder(folder, experiment(), numerics).known
        ),
    )
    found = []
    for reader in readers:
        found.append(None)
        with refused_or_right(folder):
            found[-1] = reader()
    return found


def seen(run: Run) -> dict:
    """Sizes of the results, and that nothing of the sweep lies elsewhere."""
    home = run.sweep_dir.workdir
    for piece in run.sweep_dir.chunks[:3]:
        assert piece.chunk.folder.resolve().parents[2] == home.resolve()
    with refused_or_right(home):
        run.params(**{axis: values[0] for axis, values in run.experiment.axes.items()})
    return dict(run.results.sizes)


def require_nothing_outside(folder: pathlib.Path) -> None:
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]
    assert {p.name for p in folder.iterdir()} <= {MANIFEST_FILE, '.lock'}


def test_damaged_bytes_of_a_manifest_are_found(begun):
    path, e = begun / MANIFEST_FILE, experiment()
    data, numerics = path.read_bytes(), describe_environment(e, make_mesh(1))
    right, differences = taken(begun, numerics), []

    @fuzzing.fuzz(80)
    @given(BYTES)
    def fuzzed(mutation):
        path.write_bytes(fuzzing.damaged(data, mutation))
        found = taken(begun, numerics)
        found.pop(1), (expected := list(right)).pop(1)  # reads any JSON of a config
        assert all(f in (None, r) for f, r in zip(found, expected, strict=True))
        differences.append(found != expected)
        require_nothing_outside(begun)

    try:
        fuzzed()
    finally:
        path.write_bytes(data)
    assert sum(differences) > 40


def places(value, path=()) -> list[tuple]:
    """Paths to everything in a JSON value."""
    if not isinstance(value, dict | list):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for k, v in inner for p in places(v, (*path, k)))]


def replaced(value, path: tuple, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new == 'missing' and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


NESTED = json.loads('[' * 300 + ']' * 300)
JSON = st.one_of(
    VALUES,
    st.just('missing'),
    st.just(NESTED),
    st.sampled_from([{}, [], {'x\n': 1}, [[]], 1000]),
)


@pytest.mark.parametrize('forged', [False, True])
def test_other_values_in_a_manifest_are_refused_or_a_valid_sweep(begun, forged):
    path, e = begun / MANIFEST_FILE, experiment()
    text, numerics = path.read_text(), describe_environment(e, make_mesh(1))
    right, content = read_manifest(begun), json.loads(text)

    @fuzzing.fuzz(80)
    @given(st.sampled_from(places(content)), JSON)
    def fuzzed(place, new):
        forgery = replaced(content, place, new)
        if forged and isinstance(forgery, dict):
            forgery.pop('digest', None)
            forgery['digest'] = _digest(forgery)
        try:
            path.write_text(json.dumps(forgery))
        except ValueError:  # a number of 400 digits or a lone surrogate
            return
        found, *_ = taken(begun, numerics)
        assert forged or found in (None, right)
        require_nothing_outside(begun)

    try:
        fuzzed()
    finally:
        path.write_text(text)
