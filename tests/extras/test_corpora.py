"""A corpus tokenized once: ids and boundaries by hand; interrupted anywhere."""

import hashlib
import json
import os
import pathlib
import sys
import types
from importlib.util import find_spec

import numpy as np
import pytest

if find_spec('datasets') is None:  # which takes seconds to import
    pytest.skip('not installed: datasets', allow_module_level=True)

from anchorjax.errors import TemporaryError, UserError
from anchorjax.extras.corpora import write
from anchorjax.extras.corpora.texts import RowFilter, find_local, find_public
from anchorjax.extras.corpora.tokenizers import (
    count_words,
    load_gpt2,
    make_bytes,
    make_words,
    read_words,
    split_words,
)
from anchorjax.tasks.corpus.token_files import open_corpus, read_document
from tests.support.in_process import run

# GPT-2's ranks, wherever this machine has them: they are not ours to commit.
RANKS = pathlib.Path(os.environ.get('ANCHORJAX_GPT2_RANKS', '/nowhere'))
TEXTS = ['abc', 'é', 'the end', 'of b', 'last']


@pytest.fixture
def source(tmp_path):
    """Two files with TEXTS, an empty text and a row without one."""
    path = tmp_path / 'r#1 ?%41' / 'a.jsonl'
    path.parent.mkdir()
    lines = [json.dumps({'text': text}) for text in ('abc', '', 'é', 'the end')]
    path.write_text('\n'.join([*lines, '{"no": 1}']) + '\n')
    (path.parent / 'b.txt').write_text('of b\n<|endoftext|>\nlast')
    return path.parent


def write_corpus(source, out, tokenizer=None, **wanted):
    files = find_local(source) if isinstance(source, pathlib.Path) else source
    return write.write_corpus(
        files, out, tokenizer or make_bytes(), RowFilter(**wanted)
    )


def test_documents_are_separated_by_end(source, tmp_path):
    written = write_corpus(source, tmp_path / 'out')
    expected, starts = [], []
    for text in TEXTS:
        starts.append(len(expected))
        expected += [*text.encode(), 256]
    corpus = open_corpus(str(tmp_path / 'out'))
    assert corpus.tokens.dtype == np.dtype('<u2')
    assert corpus.tokens.tolist() == expected and corpus.start_N.tolist() == starts
    assert (corpus.vocab, corpus.end) == (257, 256)
    counts = [written[key] for key in ('documents', 'tokens', 'skipped', 'empty')]
    assert counts == [5, len(expected), 1, 1]
    digest = hashlib.sha256(np.array(expected, '<u2').tobytes()).hexdigest()
    assert written['sha256'] == corpus.digest == digest
    found = [bytes(read_document(corpus, i).tolist()).decode() for i in range(5)]
    assert found == TEXTS
    assert write_corpus(source, tmp_path / 'out') == written


@pytest.mark.parametrize('when', [1, 3])
def test_an_interruption_anywhere_changes_no_byte(source, tmp_path, when, monkeypatch):
    monkeypatch.setattr(write, '_BATCH', 3)  # a batch of about one document
    write_corpus(source, tmp_path / 'whole')
    tokenizer, calls = make_bytes(), []

    def interrupt(texts):
        calls.append(texts)
        if len(calls) == when:
            raise KeyboardInterrupt
        return tokenizer.encode(texts)

    out = tmp_path / 'out'
    with pytest.raises(KeyboardInterrupt):
        write_corpus(source, out, tokenizer._replace(encode=interrupt))
    with (out / 'tokens.bin').open('ab') as f:  # killed in the middle of a write
        f.write(b'torn')
    assert not (out / 'corpus.json').exists()
    write_corpus(source, out)
    for name in ('tokens.bin', 'documents.bin', 'corpus.json'):
        assert (out / name).read_bytes() == (tmp_path / 'whole' / name).read_bytes()
    assert not (out / 'progress.json').exists()


def test_another_corpus_is_refused(source, tmp_path):
    out = tmp_path / 'out'
    write_corpus(source, out)
    with pytest.raises(UserError, match='another tokenizer'):
        write_corpus(source, out, make_words(('a',)))
    path = source / 'b.txt'
    path.write_text(path.read_text()[::-1])  # of the same size
    os.utime(path, ns=(1, 1))
    with pytest.raises(UserError, match='another source_times'):
        write_corpus(source, out)
    (source / 'c.txt').write_text('more')
    with pytest.raises(UserError, match='another sources'):
        write_corpus(source, out)
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other' / 'tokens.bin').write_bytes(b'mine')
    with pytest.raises(UserError, match='holds other files'):
        write_corpus(source, tmp_path / 'other')


def test_words():
    text = "Tom's cat, aged 12, won't sit!"
    expected = "Tom's|cat|,|aged|12|,|won't|sit|!"
    assert split_words(text) == expected.split('|')
    words, share = count_words(['b a b', 'c a'], most=2)
    assert (words, share) == (['a', 'b'], 0.8)
    tokenizer = make_words(words)
    assert tokenizer.encode(['a c b']) == [[0, 2, 1]]
    assert tokenizer.description['words'] == ['a', 'b', '<unknown>', '<end>']
    assert (tokenizer.description['vocab'], tokenizer.description['end']) == (4, 3)


@pytest.mark.parametrize(
    'content', [b'\xef\xbb\xbfthe\nend\n', b'the  \r\n\tend \r\n\r\n', b'the\nend']
)
def test_a_vocabulary_is_its_words_whatever_is_around_them(tmp_path, content):
    path = tmp_path / 'words.txt'
    path.write_bytes(content)
    assert read_words(path) == ['the', 'end']


@pytest.mark.parametrize(
    ('content', 'line'),
    [
        (b'the\nthe \n', 'must have distinct words'),
        (b'caf\xe9\n', 'byte 3 is 0xe9: must be UTF-8'),
        (b'\n \n', 'must have distinct words'),
    ],
)
def test_a_wrong_vocabulary_is_one_line(tmp_path, content, line):
    path = tmp_path / 'words.txt'
    path.write_bytes(content)
    with pytest.raises(UserError, match=f'--vocabulary .*words.txt.*{line}'):
        read_words(path)


@pytest.mark.skipif(not RANKS.is_file(), reason='ANCHORJAX_GPT2_RANKS is not set')
def test_gpt2s_own_ids():
    tokenizer = load_gpt2(RANKS)
    known = {' OUT:': [16289, 25], ' True': [6407], ' False': [10352]}  # DATASETS 8
    for text, ids in known.items():
        assert tokenizer.encode([text]) == [ids]
    assert 50256 not in tokenizer.encode(['a<|endoftext|>'])[0]


class Hub:
    """Stands for the package huggingface_hub, with a repository of some files."""

    newest = 'first'

    def HfApi(self):
        return self

    def dataset_info(self, repository, revision):
        if repository == 'away':
            raise ConnectionError('no route\nand more')
        return types.SimpleNamespace(sha=revision or self.newest)

    def list_repo_tree(self, repository, recursive, repo_type, revision):
        yield types.SimpleNamespace(path='data')  # a folder has no size
        for path in ('data/b.txt', 'data/a.jsonl.zst', 'README.md'):
            yield types.SimpleNamespace(path=path, size=7)


def test_public_files_are_those_of_one_commit(monkeypatch, source, tmp_path):
    hub = Hub()
    monkeypatch.setitem(sys.modules, 'huggingface_hub', hub)
    files = find_public('a/b', 'data/*')
    folder = 'hf://datasets/a/b@first/data'
    assert files.paths == [f'{folder}/a.jsonl.zst', f'{folder}/b.txt']
    assert files.sizes == {'data/a.jsonl.zst': 7, 'data/b.txt': 7}
    with pytest.raises(UserError, match=r'--pattern \*\.csv: a/b has no such files'):
        find_public('a/b', '*.csv')
    with pytest.raises(TemporaryError, match=r'no route.*; a local copy can be'):
        find_public('away', '*')
    # The hub moves on; a corpus stays with its commit.
    local = files._replace(paths=find_local(source).paths)
    out = tmp_path / 'out'
    assert write.read_revision(out) == ''
    write_corpus(local, out)
    hub.newest = 'second'
    assert find_public('a/b', 'data/*', write.read_revision(out)) == files
    newest = find_public('a/b', 'data/*')
    with pytest.raises(UserError, match='another revision'):
        write_corpus(newest, out)


def test_the_command_line(source, tmp_path, monkeypatch, capsys):
    def say(*words):
        return run('data.py', [str(word) for word in words], monkeypatch, capsys)

    out = tmp_path / 'out'
    words = ('text', '--source', source, '--out', out, '--tokenizer', 'bytes')
    for state in ('written', 'there already'):
        done = say(*words)
        assert done.code == 0, done.errors
        assert 'licence: yours' in done.out and '2 files' in done.out
        assert '5 documents, 25 tokens, 1 rows without text and 1 empty' in done.out
        assert f', {state}\n' in done.out
    done = say(*words[:4], tmp_path / 'words', '--tokenizer', 'words')
    assert '7 words are 100.0% of all' in done.out, done.out
    (tmp_path / 'few.txt').write_text('the\nof\n')
    own = ('--tokenizer', 'words', '--vocabulary', tmp_path / 'few.txt')
    done = say(*words[:4], tmp_path / 'few', *own)
    assert '71.4% of the words are beyond the vocabulary' in done.out, done.out
    corpus = open_corpus(str(tmp_path / 'words'))
    assert corpus.words[-2:] == ('<unknown>', '<end>')
    for bad, line in (
        ((*words[:1], *words[3:]), 'give --source PATH, or --source public'),
        ((*words[:2], 'public', *words[3:]), 'text: give --source PATH'),
        (('text', '--out', out, '--source', source), 'needs --vocabulary'),
        ((*words, '--sets', 'RedPajamaC4'), 'must be of slimpajama'),
        ((*words, '--hops', '2'), '--hops: has no effect on text'),
        ((*words, '--vocabulary', source), '--vocabulary: bytes have none'),
        ((*words, '--pattern', '*.gz'), 'no file that matches --pattern *.gz and ends'),
        ((*words[:6], 'words', '--most_words', 0), '--most_words = 0: must be at lea'),
        (('slimpajama', '--source', 'public', '--out', out), 'needs --vocabulary'),
    ):
        done = say(*bad)
        assert (done.code, done.errors.count('\n')) == (2, 1), (bad, done.errors)
        assert line in done.errors, done.errors
