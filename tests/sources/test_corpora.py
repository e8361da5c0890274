"""Tokenized once: ids, boundaries and packing by hand; interrupted anywhere."""

import hashlib
import json
import os
import pathlib
import shutil
import sys
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.errors import TemporaryError, UserError
from anchorjax.sources import corpora
from anchorjax.sources.corpora import write_corpus
from anchorjax.sources.documents import Wanted
from anchorjax.sources.tokenizers import (
    Bytes,
    Gpt2,
    Words,
    count_words,
    read_words,
    split_words,
)
from anchorjax.storage import locks
from anchorjax.tasks.corpus.token_files import (
    count_windows,
    open_corpus,
    read_document,
    read_windows,
)
from tests.support.in_process import run

# GPT-2's ranks, wherever this machine has them: they are not ours to commit.
RANKS = pathlib.Path(os.environ.get('ANCHORJAX_GPT2_RANKS', '/nowhere'))
ROWS = ['abc', '', 'é', 'the end']


@pytest.fixture
def source(tmp_path):
    path = tmp_path / 'source' / 'a.jsonl'
    path.parent.mkdir()
    lines = [json.dumps({'text': text}) for text in ROWS]
    path.write_text('\n'.join([*lines, '{"no": 1}']) + '\n')
    (tmp_path / 'source' / 'b.txt').write_text('of b\n<|endoftext|>\nlast')
    return path.parent


def write(source, out, tokenizer=None, report=None, **wanted):
    def ignore(*_):
        """Says nothing."""

    return write_corpus(
        source, out, tokenizer or Bytes(), Wanted(**wanted), report or ignore
    )


def test_documents_are_separated_by_end(source, tmp_path):
    written = write(source, tmp_path / 'out')
    texts = ['abc', 'é', 'the end', 'of b', 'last']
    expected, starts = [], []
    for text in texts:
        starts.append(len(expected))
        expected += [*text.encode(), 256]
    corpus = open_corpus(str(tmp_path / 'out'))
    assert corpus.tokens.dtype == np.dtype('<u2')
    assert corpus.tokens.tolist() == expected and corpus.start_N.tolist() == starts
    assert (corpus.vocab, corpus.end) == (257, 256)
    assert written[:3] == (5, len(expected), 1)  # one row had no text
    digest = hashlib.sha256(np.array(expected, '<u2').tobytes()).hexdigest()
    assert written.digest == corpus.digest == digest
    found = [bytes(read_document(corpus, i).tolist()).decode() for i in range(5)]
    assert found == texts
    again = write(source, tmp_path / 'out')
    assert not again.is_new and again.digest == digest


def test_windows_by_hand():
    tokens = np.arange(10)
    assert [count_windows(size, 3) for size in (0, 1, 3, 4, 6, 7, 10)] == [
        0,
        0,
        0,
        1,
        1,
        2,
        3,
    ]
    assert read_windows(tokens, np.array([0, 2]), 3).tolist() == [
        [0, 1, 2, 3],
        [6, 7, 8, 9],
    ]
    assert read_windows(tokens, np.array([[1]]), 3).shape == (1, 1, 4)


@pytest.mark.parametrize('when', range(1, 8))
def test_an_interruption_anywhere_changes_no_byte(source, tmp_path, when, monkeypatch):
    monkeypatch.setattr(corpora, '_BATCH', 3)  # a batch of about one document
    write(source, tmp_path / 'whole')
    count = 0

    def interrupt(*_):
        nonlocal count
        count += 1
        if count == when:
            raise KeyboardInterrupt

    out = tmp_path / 'out'
    if when < 6:
        with pytest.raises(KeyboardInterrupt):
            write(source, out, report=interrupt)
        with (out / 'tokens.bin').open('ab') as f:  # killed in the middle of a write
            f.write(b'torn')
        assert not (out / 'corpus.json').exists()
    write(source, out)
    for name in ('tokens.bin', 'documents.bin', 'corpus.json'):
        assert (out / name).read_bytes() == (tmp_path / 'whole' / name).read_bytes()
    assert not (out / 'progress.json').exists()


def test_another_corpus_is_refused(source, tmp_path):
    out = tmp_path / 'out'
    write(source, out)
    with pytest.raises(UserError, match='another tokenizer'):
        write(source, out, Words(('a',)))
    (source / 'c.txt').write_text('more')
    with pytest.raises(UserError, match='another sources'):
        write(source, out)
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other' / 'tokens.bin').write_bytes(b'mine')
    with pytest.raises(UserError, match='holds other files'):
        write(source, tmp_path / 'other')
    with pytest.raises(UserError, match='has no documents; of other sets'):
        rows = '{"text": "a", "meta": {"redpajama_set_name": "RedPajamaC4"}}\n'
        (tmp_path / 'one.jsonl').write_text(rows)
        write(tmp_path / 'one.jsonl', tmp_path / 'none', sets=('RedPajamaBook',))


def test_a_failure_before_the_first_token_leaves_the_folder_usable(source, tmp_path):
    class Interrupted(Bytes):
        def encode(self, texts):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(source, tmp_path / 'a', Interrupted())
    assert write(source, tmp_path / 'a').documents == 5
    with pytest.raises(UserError, match="no object with the text 'story'"):
        write(source, tmp_path / 'b', field='story')
    assert write(source, tmp_path / 'b').documents == 5
    for name in ('tokens.bin', 'documents.bin'):
        contents = [(tmp_path / out / name).read_bytes() for out in 'ab']
        assert contents[0] == contents[1]


def damage(path):
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


def drop(path, key):
    listed = json.loads(path.read_text())
    del listed[key]
    path.write_text(json.dumps(listed))


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda out: damage(out / 'tokens.bin'), 'tokens.bin: damaged, its sha256'),
        (lambda out: (out / 'tokens.bin').unlink(), 'tokens.bin: no such file'),
        (lambda out: os.truncate(out / 'documents.bin', 8), '8 bytes, not 5 of 8'),
        (lambda out: drop(out / 'corpus.json', 'sha256'), "KeyError: 'sha256'"),
        (lambda out: drop(out / 'corpus.json', 'skipped'), 'skipped = None'),
    ],
)
def test_a_damaged_corpus_is_not_there_already(source, tmp_path, change, line):
    out = tmp_path / 'out'
    write(source, out)
    change(out)
    with pytest.raises(UserError, match=line) as error:
        write(source, out)
    assert '\n' not in str(error.value)


def test_two_processes_do_not_write_into_one_folder(source, tmp_path):
    out = tmp_path / 'out'
    with locks.hold_folder(out):
        with pytest.raises(TemporaryError, match='another process writes there'):
            write(source, out)
        assert [path.name for path in out.iterdir()] == ['.lock']
    assert write(source, out).is_new


def test_tokens_of_another_size_at_the_end_are_refused(source, tmp_path):
    def grow(*_):
        with (tmp_path / 'out' / 'tokens.bin').open('ab') as f:
            f.write(b'of a process without locks')

    with pytest.raises(UserError, match=r'tokens\.bin: not as large as'):
        write(source, tmp_path / 'out', report=grow)
    assert not (tmp_path / 'out' / 'corpus.json').exists()


def test_a_source_of_the_same_size_may_be_another(source, tmp_path):
    write(source, tmp_path / 'out')
    path = source / 'b.txt'
    path.write_text(path.read_text()[::-1])
    os.utime(path, ns=(1, 1))
    with pytest.raises(UserError, match='another source_times'):
        write(source, tmp_path / 'out')
    for name in ('source_times', 'revision'):  # as a folder of an earlier version
        drop(tmp_path / 'out' / 'corpus.json', name)
    assert not write(source, tmp_path / 'out').is_new


@pytest.mark.parametrize('key', ['file', 'pieces', 'tokens'])
def test_damaged_progress_is_one_line(source, tmp_path, key):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(source, tmp_path, report=stop)
    drop(tmp_path / 'progress.json', key)
    with pytest.raises(UserError, match=r'progress\.json: damaged; delete'):
        write(source, tmp_path)


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda out: (out / 'corpus.json').unlink(), 'no such file; launch/data.py'),
        (lambda out: (out / 'tokens.bin').unlink(), 'tokens.bin: no such file'),
        (lambda out: os.truncate(out / 'tokens.bin', 6), '6 bytes, not 25 of 2'),
        (lambda out: os.truncate(out / 'documents.bin', 0), '0 bytes, not 5 of 8'),
        (lambda out: (out / 'corpus.json').write_text('{'), 'corpus.json is not JSON'),
        (lambda out: (out / 'corpus.json').write_text('[]'), 'no corpus of format 1'),
        (
            lambda out: (out / 'corpus.json').write_text('{"format": 1}'),
            "no corpus .KeyError: 'dtype'",
        ),
    ],
)
def test_a_damaged_corpus_is_one_line(source, tmp_path, change, line):
    write(source, tmp_path / 'out')
    change(tmp_path / 'out')
    open_corpus.cache_clear()
    with pytest.raises(UserError, match=line):
        open_corpus(str(tmp_path / 'out'))


def test_words():
    text = "Tom's cat, aged 12, won't sit!"
    expected = "Tom's|cat|,|aged|12|,|won't|sit|!"
    assert split_words(text) == expected.split('|')
    counted = count_words(['b a b', 'c a'], most=2)
    assert counted == (('a', 'b'), 0.8)
    tokenizer = Words(counted.words)
    assert tokenizer.encode(['a c b']) == [[0, 2, 1]]
    assert tokenizer.description['vocab'] == 4 and tokenizer.description['end'] == 3
    assert tokenizer.decode([0, 2]) == 'a <unknown>'


def test_a_file_of_words(tmp_path):
    path = tmp_path / 'words.txt'
    path.write_text('b\na\n')
    assert read_words(path) == ('b', 'a')
    for text in ('', 'a\na\n'):
        path.write_text(text)
        with pytest.raises(UserError, match='must have distinct words'):
            read_words(path)
    with pytest.raises(UserError, match='--vocabulary'):
        read_words(tmp_path / 'none')


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_bytes_lose_nothing(text):
    tokenizer = Bytes()
    assert tokenizer.decode(tokenizer.encode([text])[0]) == text


@pytest.mark.skipif(not RANKS.is_file(), reason='ANCHORJAX_GPT2_RANKS is not set')
def test_gpt2s_own_ids_and_a_round_trip():
    pytest.importorskip('tiktoken')
    tokenizer = Gpt2(RANKS)
    known = {' OUT:': [16289, 25], ' True': [6407], ' False': [10352]}  # DATASETS 8
    for text, ids in known.items():
        assert tokenizer.encode([text]) == [ids]
    text = 'A naïve ☃<|endoftext|>\n\n  of 1,234 words'
    ids = tokenizer.encode([text])[0]
    assert tokenizer.decode(ids) == text and 50256 not in ids


def test_other_ranks_are_refused(tmp_path):
    pytest.importorskip('tiktoken')
    path = tmp_path / 'gpt2.tiktoken'
    path.write_bytes(b'YQ== 0\n')
    with pytest.raises(UserError, match=r"not GPT-2's ranks; its sha256 is [0-9a-f]"):
        Gpt2(path)
    with pytest.raises(UserError, match='No such file'):
        Gpt2(tmp_path / 'none')


class Hub:
    """Stands for the package huggingface_hub, with a repository of some files."""

    def __init__(self):
        self.files = {'data/b.txt': 'of b', 'data/a.txt': 'of a', 'README.md': 'x'}
        self.sha = 'first'
        self.trouble = None  # raised when the repository is asked
        self.left_out = ()  # as by a download that was interrupted
        self.asked = []  # revisions

    def HfApi(self):
        return self

    def dataset_info(self, repository, revision=None):
        if self.trouble:
            raise self.trouble
        self.asked.append(revision)
        return types.SimpleNamespace(sha=revision or self.sha)

    def list_repo_tree(self, repository, recursive, repo_type, revision):
        yield types.SimpleNamespace(path='data')  # a folder has no size
        for path, text in self.files.items():
            yield types.SimpleNamespace(path=path, size=len(text))

    def snapshot_download(
        self, repository, allow_patterns, local_dir, repo_type, revision
    ):
        for path, text in self.files.items():
            if path.endswith('.txt') and path not in self.left_out:
                (local_dir / path).parent.mkdir(parents=True, exist_ok=True)
                (local_dir / path).write_text(text)


class Refused(Exception):
    """An answer of the hub with another status than 200."""

    def __init__(self, status):
        super().__init__(f'status {status}\nand more')
        self.response = types.SimpleNamespace(status_code=status)


@pytest.fixture
def hub(monkeypatch):
    planted = Hub()
    monkeypatch.setitem(sys.modules, 'huggingface_hub', planted)
    return planted


def test_a_download_is_exactly_the_files_of_one_commit(hub, tmp_path):
    (tmp_path / 'public').mkdir()
    (tmp_path / 'public' / 'earlier.txt').write_text('of another --pattern')

    def download(revision=''):
        folder = tmp_path / 'public'
        return corpora.download('tinystories', folder, 'data/*', revision)

    files = download()
    assert [path.name for path in files.paths] == ['a.txt', 'b.txt']
    assert files.revision == 'first'
    out = tmp_path / 'out'
    assert corpora.read_revision(out) == ''
    written = write(files, out)
    corpus = open_corpus(str(out))
    assert (
        bytes(read_document(corpus, 0).tolist()) == b'of a' and written.documents == 2
    )
    assert json.loads((out / 'corpus.json').read_text())['revision'] == 'first'
    # The hub has moved on; the corpus stays with its commit, downloaded anew or not.
    hub.sha = 'second'
    shutil.rmtree(tmp_path / 'public')
    revision = corpora.read_revision(out)
    assert revision == 'first' and not write(download(revision), out).is_new
    assert hub.asked == [None, 'first']
    with pytest.raises(UserError, match='another revision'):
        write(download(), out)
    with pytest.raises(UserError, match='another revision'):
        write(tmp_path / 'public', out)


def test_an_interrupted_download_is_not_taken_for_whole(hub, tmp_path):
    hub.left_out = ('data/b.txt',)
    line = '1 of 2 files are not whole, data/b.txt first'
    with pytest.raises(TemporaryError, match=line):
        corpora.download('tinystories', tmp_path, 'data/*')
    (tmp_path / 'data' / 'b.txt').write_text('o')
    with pytest.raises(TemporaryError, match=line):
        corpora.download('tinystories', tmp_path, 'data/*')
    with pytest.raises(UserError, match=r'--pattern \*\.zst: .* has no such files'):
        corpora.download('tinystories', tmp_path, '*.zst')


@pytest.mark.parametrize(
    ('trouble', 'kind'),
    [
        (RuntimeError('no route\nand more'), TemporaryError),
        (ConnectionRefusedError(111, 'no route'), TemporaryError),
        (Refused(503), TemporaryError),
        (Refused(404), UserError),
        (PermissionError(13, 'no route'), UserError),
    ],
)
def test_a_download_without_the_hub_is_one_line(hub, tmp_path, trouble, kind):
    hub.trouble = trouble
    (tmp_path / 'a.parquet').write_text('of an interrupted download')
    with pytest.raises(kind, match=r'(no route|status \d+).*; a local copy') as error:
        corpora.download('tinystories', tmp_path)
    assert '\n' not in str(error.value)
    with pytest.raises(UserError, match='nothing of it is public'):
        corpora.download('text', tmp_path)


def test_the_command_line(source, tmp_path, monkeypatch, capsys):
    def say(*words):
        return run('data.py', [str(word) for word in words], monkeypatch, capsys)

    out = tmp_path / 'out'
    words = ('text', '--source', source, '--out', out, '--tokenizer', 'bytes')
    for state in ('written', 'there already'):
        done = say(*words)
        assert done.code == 0, done.errors
        assert 'licence: yours' in done.out and '2 files' in done.out
        assert f'5 documents, 25 tokens, 1 rows without text, {state}' in done.out
    done = say(*words[:4], tmp_path / 'words', '--tokenizer', 'words')
    assert '7 words are 100.0% of all' in done.out, done.out
    corpus = open_corpus(str(tmp_path / 'words'))
    assert corpus.words[-2:] == ('<unknown>', '<end>')
    for bad, line in (
        (('text', '--out', out), 'give --source PATH, or --source public'),
        ((*words[:2], 'public', *words[3:]), 'nothing of it is public'),
        (('text', '--out', out, '--source', source), 'needs --vocabulary'),
        ((*words, '--sets', 'RedPajamaX'), "'RedPajamaX': must be of"),
        ((*words[:6], 'words', '--most_words', 0), '--most_words 0: must be at least'),
        (('slimpajama', '--source', 'public', '--out', out), 'needs --vocabulary'),
        (('prontoqa', '--out', out, '--number', 99999999), '--number = 99999999: must'),
        (('prontoqa', '--out', out, '--hops', 9), '--hops = 9: must be'),
        (('cogs', '--out', out, '--seed', -1), '--seed = -1: must be at least 0'),
        (
            ('prontoqa', '--out', out, '--distractor', 'twin', '--ontology', 'true'),
            "--distractor = 'twin': must be 'original'",
        ),
    ):
        done = say(*bad)
        assert (done.code, done.errors.count('\n')) == (2, 1), (bad, done.errors)
        assert line in done.errors, done.errors
