"""Tasks that read files say which content they have; others say nothing."""

import gzip
import hashlib

import pytest

from anchorjax import tasks
from anchorjax.errors import UserError
from anchorjax.tasks import AnchorsConfig, CogsConfig, ProntoqaConfig, ScanConfig

SPLIT = 'addprim_turn_left'
# A config, its path in a folder, and its files there.
CASES = [
    (CogsConfig, '', ('train.tsv', 'dev.tsv', 'gen.tsv')),
    (ScanConfig, '', (f'tasks_train_{SPLIT}.txt', f'tasks_test_{SPLIT}.txt')),
    (ProntoqaConfig, 'questions.json', ('questions.json',)),
]


def digest(config, path):
    return tasks.make(config(path=str(path))).digest_data()


@pytest.mark.parametrize(('config', 'name', 'files'), CASES)
def test_the_digests_are_those_of_what_is_read(tmp_path, config, name, files):
    expected = {}
    for file in files:
        (tmp_path / file).write_text(file)
        expected[str(tmp_path / file)] = hashlib.sha256(file.encode()).hexdigest()
    (tmp_path / 'README.md').write_text('not read')
    assert digest(config, tmp_path / name) == expected
    assert tasks.make(config()).digest_data() == {}
    with pytest.raises(UserError, match='no such file'):
        digest(config, tmp_path / 'none')


def test_a_packed_file_has_the_digest_of_its_content(tmp_path):
    (tmp_path / 'questions.json.gz').write_bytes(gzip.compress(b'text'))
    path = tmp_path / 'questions.json.gz'
    found = digest(ProntoqaConfig, path)
    assert found == {str(path): hashlib.sha256(b'text').hexdigest()}


def test_a_task_without_files_has_none():
    assert tasks.make(AnchorsConfig()).digest_data is None
