"""No pickle is ever read, and no array takes more memory than its file has bytes."""

import ast
import io
import os
import pathlib
import pickle
import tracemalloc
import zipfile
from typing import NamedTuple

import numpy as np
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage.reader import open_run
from tests.support.fuzzing import copy_folder, require_line
from tests.support.sweeps import ROOT

FOLDERS = ('anchorjax', 'analysis', 'launch', 'configs')
SOURCES = [path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py')]
CURVES = 'cohorts/all/chunk_0000/curves.npz'

PICKLE_MODULES = {'pickle', 'cloudpickle', 'dill', 'joblib'}
# What a file may use of them: the name of torch's exception.
ALLOWED_NAMES = {'torch_files.py': {'UnpicklingError'}}
FORBIDDEN_CALLS = {
    'eval',
    'exec',
    'pickle.load',
    'pickle.loads',
    'yaml.load',
    'os.system',
}


class Call(NamedTuple):
    """A call in a source file, as text."""

    name: str  # 'np.load'
    keywords: dict[str | None, str]


def list_calls(tree: ast.AST) -> list[Call]:
    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
            calls.append(Call(ast.unparse(node.func), keywords))
    return calls


def list_pickle_names(tree: ast.AST) -> set[str]:
    """What is used of a module that reads pickles."""
    names = set()
    for node in ast.walk(tree):
        is_attribute = isinstance(node, ast.Attribute)
        if is_attribute and ast.unparse(node.value) in PICKLE_MODULES:
            names.add(node.attr)
    return names


def name_source(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize('path', SOURCES, ids=name_source)
def test_no_source_file_reads_a_pickle_or_runs_text(path):
    tree = ast.parse(path.read_text())
    for name, keywords in list_calls(tree):
        assert name not in FORBIDDEN_CALLS
        assert name.split('.')[-1] != 'read_pickle'
        assert keywords.get('allow_pickle', 'False') == 'False', name
        assert keywords.get('shell', 'False') == 'False', name
        if name == 'torch.load':
            assert keywords.get('weights_only') == 'True'
    assert list_pickle_names(tree) <= ALLOWED_NAMES.get(path.name, set())


class Marker:
    """When it is unpickled, it makes a folder."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def make_npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def make_npy_header(shape: tuple[int, ...], dtype: str = '<f4') -> bytes:
    """An array that claims a shape and has no content."""
    file = io.BytesIO()
    described = {'descr': dtype, 'fortran_order': False, 'shape': shape}
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


def make_npz(steps: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """An npz file with one array, `steps`, whose bytes are given."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', compression) as archive:
        archive.writestr('steps.npy', steps)
    return file.getvalue()


def make_bomb() -> bytes:
    """Four kilobytes that unpack to four megabytes."""
    return make_npz(make_npy(np.zeros(10**6, np.float32)), zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize('form', ['pickle', 'npy', 'npz', 'npz with a wrong size'])
def test_a_pickle_in_place_of_the_curves_is_not_read(one_member, tmp_path, form):
    workdir = copy_folder(one_member, tmp_path / 'run')
    marker = np.array([Marker(tmp_path / 'ran')], object)
    pickled = pickle.dumps(marker)
    npy = make_npy(marker, allow_pickle=True)
    forms = {
        'pickle': pickled,
        'npy': npy,
        'npz': make_npz(npy),
        'npz with a wrong size': make_npz(make_npy_header((1,), '|O') + pickled[:8]),
    }
    (workdir / CURVES).write_bytes(forms[form])
    line = r'curves\.npz is damaged .* delete it'
    with pytest.raises(StoreError, match=line) as caught:
        _ = open_run(workdir).results
    require_line(caught.value, tmp_path)
    assert not (tmp_path / 'ran').exists()


_MIB = 2**20
TOO_LARGE = {
    'a gigabyte': make_npz(make_npy_header((2**28,))),
    'a petabyte': make_npz(make_npy_header((10**15,))),
    'more than an integer': make_npz(make_npy_header((2**62, 2**62))),
    'less than nothing': make_npz(make_npy_header((-1,)) + b'1234'),
    'nothing, times a petabyte': make_npz(make_npy_header((0, 10**15))),
    'compressed': make_bomb(),
    'no archive': make_npy_header((10**15,)),
}


@pytest.mark.parametrize('data', TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_an_array_larger_than_its_file_takes_no_memory(one_member, tmp_path, data):
    workdir = copy_folder(one_member, tmp_path / 'run')
    (workdir / CURVES).write_bytes(data)
    run = open_run(workdir)
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match=r'curves\.npz is damaged'):
            _ = run.results
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2 * _MIB
