"""A corpus is trained on only as what its digest says it is."""

import json
import os
import pathlib

import numpy as np
import pytest

from anchorjax import api
from anchorjax.errors import UserError
from anchorjax.extras.corpora.tokenizers import Bytes
from anchorjax.tasks.corpus.token_files import read_corpus
from anchorjax.training.devices import make_mesh
from tests.support.corpora import write_corpora
from tests.tasks.test_corpus import make_experiment


@pytest.fixture
def folder(tmp_path, monkeypatch) -> pathlib.Path:
    """A corpus that was written long ago, on a machine that has not read it."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    texts = [f'story number {i}. ' * 20 for i in range(5)]
    path = pathlib.Path(write_corpora(tmp_path / 'a', Bytes(), texts))
    for name in ('tokens.bin', 'documents.bin'):
        os.utime(path / name, (1e9, 1e9))
    return path


def zero_middle(path: pathlib.Path) -> None:
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = bytes(third)
    path.write_bytes(data)


def move_a_document(path: pathlib.Path) -> None:
    start_N = np.fromfile(path, '<u8')
    start_N[2] += 1
    start_N.tofile(path)


DAMAGE = {'tokens.bin': zero_middle, 'documents.bin': move_a_document}


@pytest.mark.parametrize('is_remembered', [False, True])
@pytest.mark.parametrize('name', DAMAGE)
def test_training_refuses_a_damaged_corpus(folder, tmp_path, name, is_remembered):
    if is_remembered:
        read_corpus(folder)
    DAMAGE[name](folder / name)
    line = rf'{name}: damaged, .* write it anew'
    with pytest.raises(UserError, match=line):
        experiment = make_experiment(path=str(folder))
        api.train(experiment, tmp_path / 'run', mesh=make_mesh(1))


def test_tokens_beyond_the_vocabulary_are_refused(folder):
    listed = json.loads((folder / 'corpus.json').read_text())
    listed['tokenizer']['vocab'] = 100
    (folder / 'corpus.json').write_text(json.dumps(listed))
    with pytest.raises(UserError, match=r'tokens.bin: has token 256, .* 0 to 99'):
        read_corpus(folder)
