"""Official files are read whole or refused, as their lines are, and have digests."""

import gzip
import hashlib

import pytest

from anchorjax import caching
from anchorjax.errors import UserError
from anchorjax.tasks.cogs import CogsConfig
from anchorjax.tasks.cogs.files import parse_row
from anchorjax.tasks.cogs.logic import write_logical_form
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.prontoqa.sentences import parse
from anchorjax.tasks.scan.grammar import interpret
from anchorjax.tasks.text_files import find_file, parse_lines

CUT_OFF = gzip.compress(b'cut off\n' * 1000, mtime=0)[:-20]
# A config, its path in a folder, and its files there.
CASES = [
    (CogsConfig, '', ('train.tsv', 'dev.tsv', 'gen.tsv')),
    (ProntoqaConfig, 'questions.json', ('questions.json',)),
]

# What reads a text, texts that are not its language, and what it says.
REFUSED = [
    (
        *(interpret, 'no phrase of SCAN'),
        ('', 'turn', 'jump jump', 'twice', 'jump and', 'left jump', 'walk up'),
    ),
    (
        *(write_logical_form, '.'),
        (
            '',
            'unicorn',
            'Emma ate',
            'Emma cake .',
            'Emma was ate .',
            'Emma hoped that .',
        ),
    ),
    (parse_row, 'is no line of COGS', ('Emma\tEmma',)),
    (parse_row, 'has another logical form', ('Emma\tAva\tprimitive',)),
    (
        *(parse, 'no sentence of PrOntoQA'),
        ('', 'Max is red', 'Max red.', 'Max is.', 'Bob is red.'),
    ),
]


@pytest.mark.parametrize(('read', 'line', 'texts'), REFUSED)
def test_what_is_no_text_of_a_task_is_refused(read, line, texts):
    for text in texts:
        with pytest.raises(ValueError, match=line):
            read(text)


def digest(config, path):
    return config(path=str(path)).make().digest_data()


@pytest.mark.parametrize(('config', 'name', 'files'), CASES)
def test_the_digests_are_those_of_what_is_read(tmp_path, config, name, files):
    expected = {}
    for file in files:
        (tmp_path / file).write_text(file)
        expected[str(tmp_path / file)] = hashlib.sha256(file.encode()).hexdigest()
    (tmp_path / 'README.md').write_text('not read')
    assert digest(config, tmp_path / name) == expected
    assert config().make().digest_data() == {}
    with pytest.raises(UserError, match='no such file'):
        digest(config, tmp_path / 'none')


def test_a_file_that_was_written_anew_is_read_anew(tmp_path):
    """Once a config is resolved or a run begins; within it all stays as it was."""
    path = tmp_path / 'questions.json'
    digests = []
    for text in ('one', 'two'):
        path.write_text(text)
        digests.append(digest(ProntoqaConfig, path))
        caching.forget_changed_files()
        digests.append(digest(ProntoqaConfig, path))
    assert digests[0] == digests[1] == digests[2] != digests[3]


@pytest.mark.parametrize(
    ('name', 'content', 'line'),
    [
        ('a.txt', None, 'no such file'),
        ('a.txt', b'', 'empty'),
        ('a.txt', b'whole\ntrunc', 'truncated, its last line has no end'),
        ('a.txt', b'\xff\xfe\n', 'cannot be read'),
        ('a.txt.gz', b'not packed\n', 'cannot be read'),
        ('a.txt.gz', CUT_OFF, 'cannot be read'),
    ],
)
def test_a_file_that_is_not_whole_is_refused_in_one_line(tmp_path, name, content, line):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    path = find_file(tmp_path, 'a.txt')
    with pytest.raises(UserError, match=line) as caught:
        parse_lines(path, str)
    assert str(path) in str(caught.value)


def test_lines_may_end_as_on_windows_and_a_wrong_one_is_named(tmp_path):
    path = tmp_path / 'a.txt'
    path.write_bytes(b'1\r\n2\r\n')
    assert parse_lines(path, int) == [1, 2]
    path.write_bytes(b'1\nx\n')
    with pytest.raises(UserError, match=r"a\.txt, line 2: 'x' invalid literal"):
        parse_lines(path, int)
