"""A corpus tokenized once: ids and boundaries by hand; interrupted anywhere."""

import hashlib
import json
import os
import pathlib
import sys
import types

import numpy as np
import pytest

pytest.importorskip('fsspec')
import fsspec

from anchorjax.errors import TemporaryError, UserError
from anchorjax.extras.corpora import write
from anchorjax.extras.corpora.texts import RowFilter, find_commit, find_files
from anchorjax.extras.corpora.tokenizers import (
    count_words,
    load_gpt2,
    make_bytes,
    make_words,
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
    files = find_files(str(source))
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
    words, share = count_words(['b a b', 'c a'], most=2)
    assert (words, share) == (['a', 'b'], 0.8)
    tokenizer = make_words(words)
    assert tokenizer.encode(['a c b']) == [[0, 2, 1]]
    assert tokenizer.description['words'] == ['a', 'b', '<unknown>', '<end>']
    assert (tokenizer.description['vocab'], tokenizer.description['end']) == (4, 3)
    words, _ = count_words(["Tom's cat, aged 12, won't sit!"], most=99)
    assert words == [',', '!', '12', "Tom's", 'aged', 'cat', 'sit', "won't"]


@pytest.mark.skipif(not RANKS.is_file(), reason='ANCHORJAX_GPT2_RANKS is not set')
def test_gpt2s_own_ids():
    tokenizer = load_gpt2(RANKS)
    known = {' OUT:': [16289, 25], ' True': [6407], ' False': [10352]}  # DATASETS 8
    for text, ids in known.items():
        assert tokenizer.encode([text]) == [ids]
    assert 50256 not in tokenizer.encode(['a<|endoftext|>'])[0]


class Hub:
    """Stands for the package huggingface_hub."""

    def HfApi(self):
        return self

    def dataset_info(self, repository):
        if repository == 'away':
            raise ConnectionError('no route\nand more')
        return types.SimpleNamespace(sha='first')


def test_public_files_are_read_at_their_address(monkeypatch, source, tmp_path):
    """The memory of fsspec stands for the hub, which is another of its addresses."""
    monkeypatch.setitem(sys.modules, 'huggingface_hub', Hub())
    assert find_commit('a/b') == 'first'
    with pytest.raises(TemporaryError, match=r'no route.*; a local copy can be'):
        find_commit('away')
    for path in source.iterdir():
        fsspec.filesystem('memory').pipe(f'/data/{path.name}', path.read_bytes())
    files = find_files('memory://data')
    assert files.paths == ['memory:///data/a.jsonl', 'memory:///data/b.txt']
    local = find_files(str(source))
    assert files.sizes == local.sizes and (files.times, files.revision) == ({}, '')
    written = write_corpus('memory://data', tmp_path / 'out')
    write_corpus(source, tmp_path / 'local')
    for name in ('tokens.bin', 'documents.bin'):
        here, there = tmp_path / 'local' / name, tmp_path / 'out' / name
        assert here.read_bytes() == there.read_bytes()
    assert written['documents'] == 5
    newest = files._replace(revision='second')
    with pytest.raises(UserError, match='another revision'):
        write.write_corpus(newest, tmp_path / 'out', make_bytes(), RowFilter())
    fsspec.filesystem('memory').pipe('/data/c.jsonl', b'{')
    with pytest.raises(TemporaryError, match='cannot be read after row 0'):
        write_corpus('memory://data/c.jsonl', tmp_path / 'cut')


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
    corpus = open_corpus(str(tmp_path / 'words'))
    assert corpus.words[-2:] == ('<unknown>', '<end>')
    for bad, line in (
        ((*words[:1], *words[3:]), 'required: --source'),
        ((*words[:2], '', *words[3:]), "--source = '': must be a file, a folder or"),
        ((*words[:2], 'foo://y', *words[3:]), "--source 'foo://y': ValueError: P"),
        ((*words[:2], 'public', *words[3:]), "'public': must be a path"),
        (('text', '--out', out, '--source', source), 'needs --vocabulary'),
        ((*words, '--sets', 'RedPajamaC4'), 'unrecognized arguments: --sets'),
        (('slimpajama', *words[1:], '--sets', 'C5'), "invalid choice: 'C5'"),
        ((*words, '--vocabulary', source / 'b.txt'), '--vocabulary: bytes need none'),
        ((*words, '--pattern', '*.gz'), 'no file that matches --pattern *.gz and ends'),
        ((*words[:6], 'words', '--most_words', 0), '--most_words = 0: must be at lea'),
    ):
        done = say(*bad)
        assert (done.code, done.errors.count('\n')) == (2, 1), (bad, done.errors)
        assert line in done.errors, done.errors
