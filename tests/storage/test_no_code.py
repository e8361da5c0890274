"""Nothing that is read is executed: no pickle, no text.

The one exception is the file on this machine that a run's own task or model is from.
"""

import ast
import os
import pathlib
import pickle

import numpy as np
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage.reader import open_run
from tests.support.sweeps import ROOT, copy_folder, require_line

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


def check_call(node: ast.Call, path: pathlib.Path) -> None:
    name = ast.unparse(node.func)
    keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
    assert name not in FORBIDDEN_CALLS, path
    assert name.split('.')[-1] != 'read_pickle', path
    assert keywords.get('allow_pickle', 'False') == 'False', path
    assert keywords.get('shell', 'False') == 'False', path
    if name == 'torch.load':
        assert keywords.get('weights_only') == 'True', path


def test_no_source_file_reads_a_pickle_or_runs_text():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                check_call(node, path)
            is_attribute = isinstance(node, ast.Attribute)
            if is_attribute and ast.unparse(node.value) in PICKLE_MODULES:
                assert node.attr in ALLOWED_NAMES.get(path.name, set()), path


class Marker:
    """When it is unpickled, it makes a folder."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def save_pickle(path: pathlib.Path, content: np.ndarray) -> None:
    path.write_bytes(pickle.dumps(content))


def save_npy(path: pathlib.Path, content: np.ndarray) -> None:
    with path.open('wb') as f:
        np.save(f, content, allow_pickle=True)


def save_npz(path: pathlib.Path, content: np.ndarray) -> None:
    np.savez(path, allow_pickle=True, steps=content)


@pytest.mark.parametrize('save', [save_pickle, save_npy, save_npz])
def test_a_pickle_in_place_of_the_curves_is_not_read(one_member, tmp_path, save):
    workdir = copy_folder(one_member, tmp_path / 'run')
    save(workdir / CURVES, np.array([Marker(tmp_path / 'ran')], object))
    with pytest.raises(StoreError, match=r'curves\.npz') as caught:
        _ = open_run(workdir).results
    require_line(caught.value, tmp_path)
    assert not (tmp_path / 'ran').exists()
