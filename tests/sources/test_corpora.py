"""Tokenized once: ids, boundaries and packing by hand; interrupted anywhere."""

import hashlib
import json
import os
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.errors import UserError
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


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda out: (out / 'corpus.json').unlink(), 'no such file; launch/data.py'),
        (lambda out: (out / 'tokens.bin').unlink(), 'tokens.bin: no such file'),
        (lambda out: os.truncate(out / 'tokens.bin', 6), '6 bytes, not 25 of 2'),
        (lambda out: os.truncate(out / 'documents.bin', 0), '0 bytes, not 5 of 8'),
        (lambda out: (out / 'corpus.json').write_text('{'), 'cannot be read'),
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


def test_a_download_without_the_hub_is_one_line(tmp_path, monkeypatch):
    class Hub:
        @staticmethod
        def snapshot_download(*_, **__):
            raise RuntimeError('no route\nand more')

    monkeypatch.setitem(__import__('sys').modules, 'huggingface_hub', Hub)
    with pytest.raises(UserError, match='no route; run the command again') as error:
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
        (('text', '--out', out, '--source', 'public'), 'nothing of it is public'),
        (('text', '--out', out, '--source', source), 'needs --vocabulary'),
        ((*words, '--sets', 'RedPajamaX'), "'RedPajamaX': must be of"),
        ((*words[:6], 'words', '--most_words', 0), '--most_words 0: must be at least'),
    ):
        done = say(*bad)
        assert (done.code, done.errors.count('\n')) == (2, 1), (bad, done.errors)
        assert line in done.errors, done.errors
