"""Whatever is wrong with a manifest: one clear line, or the right result.

Never a traceback, a hang or a silent difference. Every run has the same examples.
"""

import contextlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import config
from anchorjax.storage.digests import digest_json
from anchorjax.storage.environment import Environment
from anchorjax.storage.manifest import (
    MANIFEST_FILE,
    Manifest,
    read_experiment,
    read_manifest,
)
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import create_folder
from tests.support.fuzzing import BYTES, VALUES, damage_bytes, fuzz, refused_or_right
from tests.support.sweeps import experiment, opened

EXAMPLES = 80
MISSING = 'missing'  # the value is left out
NESTED = json.loads('[' * 300 + ']' * 300)
JSON_VALUES = st.one_of(
    VALUES,
    st.just(MISSING),
    st.just(NESTED),
    st.sampled_from([{}, [], {'x\n': 1}, [[]], 1000]),
)


@pytest.fixture(scope='module')
def begun(tmp_path_factory) -> pathlib.Path:
    """A sweep of which nothing but the manifest is there."""
    workdir = tmp_path_factory.mktemp('begun') / 'run'
    opened(workdir)
    return workdir


@pytest.fixture
def environment(begun) -> Environment:
    """The environment that began the sweep."""
    return read_manifest(begun).environments[0].environment


def read_as_manifest(workdir: pathlib.Path, _: Environment) -> Manifest:
    return read_manifest(workdir)


def read_as_config(workdir: pathlib.Path, _: Environment) -> config.Experiment:
    """Of the readers this one alone reads any JSON that holds an experiment."""
    return read_experiment(workdir / MANIFEST_FILE)


def read_as_run(workdir: pathlib.Path, _: Environment) -> dict[str, int]:
    return use_run(open_run(workdir))


def take_up(workdir: pathlib.Path, environment: Environment) -> tuple:
    read_manifest(workdir)  # without one a new sweep would begin here
    return create_folder(workdir, experiment(), environment).environments


READERS = (read_as_manifest, read_as_config, read_as_run, take_up)


def use_run(run: Run) -> dict[str, int]:
    """Sizes of the results; fails if anything of the sweep lies outside its folder."""
    workdir = run.folder.workdir.resolve()
    for chunk in run.folder.chunks[:3]:
        assert chunk.folder.path.resolve().parents[2] == workdir
    with refused_or_right(workdir):
        first = {axis: values[0] for axis, values in run.experiment.axes.items()}
        run.params(**first)
    return dict(run.results.sizes)


def read_all(workdir: pathlib.Path, environment: Environment) -> dict[str, Any]:
    """The result of every reader by its name; None where it refused in one line."""
    results = {}
    for reader in READERS:
        results[reader.__name__] = None
        with refused_or_right(workdir):
            results[reader.__name__] = reader(workdir, environment)
    return results


def require_nothing_outside(workdir: pathlib.Path) -> None:
    assert [path.name for path in workdir.parent.iterdir()] == [workdir.name]
    assert {path.name for path in workdir.iterdir()} <= {MANIFEST_FILE, '.lock'}


@contextlib.contextmanager
def restore_afterwards(path: pathlib.Path) -> Iterator[bytes]:
    """Yields the content of a file, which is the file's again at the end."""
    data = path.read_bytes()
    try:
        yield data
    finally:
        path.write_bytes(data)


def test_damaged_bytes_of_a_manifest_are_found(begun, environment):
    expected = read_all(begun, environment)
    del expected['read_as_config']
    is_found = []

    with restore_afterwards(begun / MANIFEST_FILE) as data:

        @fuzz(EXAMPLES)
        @given(BYTES)
        def read_after_an_accident(accident: tuple[str, float, int]) -> None:
            (begun / MANIFEST_FILE).write_bytes(damage_bytes(data, accident))
            results = read_all(begun, environment)
            del results['read_as_config']
            for name, result in results.items():
                assert result is None or result == expected[name]
            is_found.append(results != expected)
            require_nothing_outside(begun)

        read_after_an_accident()
    assert sum(is_found) > EXAMPLES / 2


def list_paths(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths to everything in a JSON value."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        items = []
    paths = [path]
    for key, inner in items:
        paths += list_paths(inner, (*path, key))
    return paths


def replace_at(value: Any, path: tuple, new: Any) -> Any:
    """A JSON value with another one at a path, or without what is there (MISSING)."""
    if not path:
        return new
    key, *inner = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new == MISSING and not inner:
        del copy[key]
    else:
        copy[key] = replace_at(value[key], tuple(inner), new)
    return copy


def forge_digest(manifest: Any) -> Any:
    """A manifest whose digest is that of its content."""
    if not isinstance(manifest, dict):
        return manifest
    content = {key: value for key, value in manifest.items() if key != 'digest'}
    return {**content, 'digest': digest_json(content)}


@pytest.mark.parametrize('has_right_digest', [False, True])
def test_other_values_in_a_manifest_are_refused_or_a_valid_sweep(
    begun, environment, has_right_digest
):
    right = read_manifest(begun)

    with restore_afterwards(begun / MANIFEST_FILE) as data:
        content = json.loads(data)

        @fuzz(EXAMPLES)
        @given(st.sampled_from(list_paths(content)), JSON_VALUES)
        def read_forgery(path: tuple, new: Any) -> None:
            forgery = replace_at(content, path, new)
            if has_right_digest:
                forgery = forge_digest(forgery)
            try:
                text = json.dumps(forgery)
                (begun / MANIFEST_FILE).write_text(text)
            except ValueError:  # a number of 400 digits, or half a surrogate pair
                return
            manifest = read_all(begun, environment)['read_as_manifest']
            assert has_right_digest or manifest in (None, right)
            require_nothing_outside(begun)

        read_forgery()
