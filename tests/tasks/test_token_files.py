"""A corpus is trained on only as what its digest says it is."""

import json
import pathlib

import numpy as np
import pytest

from anchorjax import api
from anchorjax.errors import UserError
from anchorjax.extras.corpora.tokenizers import make_bytes
from anchorjax.tasks.corpus.token_files import read_corpus
from anchorjax.training.devices import make_mesh
from tests.support.corpora import write_corpora
from tests.tasks.test_corpus import make_experiment


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    texts = [f'story number {i}. ' * 20 for i in range(5)]
    return pathlib.Path(write_corpora(tmp_path / 'a', make_bytes(), texts))


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


@pytest.mark.parametrize('name', DAMAGE)
def test_training_refuses_a_damaged_corpus(folder, tmp_path, name):
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
