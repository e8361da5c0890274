"""The same documents from every format; damaged, empty and huge files."""

import gzip
import io
import json
import os
import subprocess
import sys

import pytest

from anchorjax.errors import UserError
from anchorjax.sources import documents
from anchorjax.sources.documents import Piece, Wanted, list_files, read_documents
from tests.support.sweeps import ROOT

TEXTS = ['The first\nstory.', 'A second: naïve ☃.', 'x' * 70 + ' y', 'last']
SETS = ['RedPajamaGithub', 'RedPajamaC4', 'RedPajamaGithub', 'RedPajamaWikipedia']


def make_rows():
    """Rows of SlimPajama, with `meta` as an object and as a text (DATASETS 7)."""
    rows = []
    for number, (text, name) in enumerate(zip(TEXTS, SETS, strict=True)):
        meta = {'redpajama_set_name': name}
        rows.append({'text': text, 'meta': json.dumps(meta) if number % 2 else meta})
    return rows


def make_jsonl():
    return ''.join(json.dumps(row) + '\n' for row in make_rows()).encode()


def make_txt():
    return documents.SEPARATOR.join(f'\n{text}\n' for text in TEXTS).encode()


def pack_zst(data):
    """Two frames, as big files have."""
    compressor = pytest.importorskip('zstandard').ZstdCompressor()
    half = len(data) // 2
    return compressor.compress(data[:half]) + compressor.compress(data[half:])


PACKINGS = {'': bytes, '.gz': gzip.compress, '.zst': pack_zst}


def write_parquet(path, rows):
    pyarrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=3)


def read(path, **wanted):
    """The texts of a file; its pieces are joined."""
    texts, parts = [], []
    for piece in read_documents(path, Wanted(**wanted)):
        if piece.is_skipped:
            continue
        parts.append(piece.text)
        if piece.ends_document:
            texts.append(''.join(parts))
            parts = []
    assert not parts
    return texts


@pytest.mark.parametrize('packing', PACKINGS)
@pytest.mark.parametrize('kind', ['.txt', '.jsonl'])
def test_every_format_has_the_same_documents(tmp_path, kind, packing, monkeypatch):
    data = make_txt() if kind == '.txt' else make_jsonl()
    path = tmp_path / f'a{kind}{packing}'
    path.write_bytes(PACKINGS[packing](data))
    assert read(path) == TEXTS
    monkeypatch.setattr(documents, '_BLOCK', 3)  # letters and separators are torn
    assert read(path) == TEXTS


def test_parquet_has_the_same_documents(tmp_path, monkeypatch):
    path = tmp_path / 'a.parquet'
    write_parquet(path, [{'text': text} for text in TEXTS])
    monkeypatch.setattr(documents, '_ROWS', 2)
    assert read(path) == TEXTS
    with pytest.raises(UserError, match="has no column 'story'"):
        read(path, field='story')
    write_parquet(path, [{'text': 'a', 'meta': '{"redpajama_set_name": "B"}'}] * 2)
    assert read(path, sets=('B',)) == ['a', 'a'] and read(path, sets=('C',)) == []


def test_sets_select_rows(tmp_path):
    path = tmp_path / 'a.jsonl'
    path.write_bytes(make_jsonl())
    assert read(path, sets=('RedPajamaGithub',)) == [TEXTS[0], TEXTS[2]]
    assert read(path, sets=('RedPajamaGithub', 'RedPajamaWikipedia')) == [
        TEXTS[0],
        *TEXTS[2:],
    ]


def test_ends_of_lines_empty_documents_and_damaged_letters(tmp_path):
    path = tmp_path / 'a.txt'
    path.write_bytes(
        b'one\r\ntwo\r\n<|endoftext|>\r\n\r\n<|endoftext|>\n\xff\xe2\x98\n'
    )
    assert read(path) == ['one\r\ntwo', '\N{REPLACEMENT CHARACTER}' * 2]


@pytest.mark.parametrize('kind', ['.txt', '.jsonl'])
def test_a_long_document_comes_in_pieces_cut_before_a_word(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(documents, '_PIECE', 50)
    monkeypatch.setattr(documents, '_BLOCK', 64)
    text = 'word  two\n' * 40 + 'z' * 300
    path = tmp_path / f'a{kind}'
    path.write_text(text if kind == '.txt' else json.dumps({'text': text}) + '\n')
    pieces = list(read_documents(path, Wanted()))
    assert ''.join(piece.text for piece in pieces) == text
    assert [piece.ends_document for piece in pieces] == [False] * (len(pieces) - 1) + [
        True
    ]
    assert max(len(piece.text) for piece in pieces) <= 100 + 64
    assert len(pieces) > 5


@pytest.mark.parametrize(
    'document',
    ['\n\nab cd' + ' word' * 40, 'a' * 40 + '\n' * 3 + 'b' * 40, '\r\n' * 60 + 'a'],
)
def test_a_long_document_loses_the_line_ends_around_it_alone(
    tmp_path, monkeypatch, document
):
    path = tmp_path / 'a.txt'
    path.write_bytes(f'{document}\n<|endoftext|>\n{document}\n'.encode())
    whole = document.strip('\n\r')
    assert read(path) == [whole] * 2
    for size in (16, 24, 40):
        monkeypatch.setattr(documents, '_PIECE', size)
        monkeypatch.setattr(documents, '_BLOCK', 2 * size)
        assert read(path) == [whole] * 2


def test_half_a_letter_is_replaced(tmp_path):
    path = tmp_path / 'a.jsonl'
    path.write_text(r'{"text": "a\ud800b"}' + '\n' + r'{"text": "\ud83d\ude00"}' + '\n')
    assert read(path) == ['a\N{REPLACEMENT CHARACTER}b', '\N{GRINNING FACE}']


def test_a_row_of_parquet_that_is_no_utf8_is_counted(tmp_path):
    pyarrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    texts = pyarrow.array([b'a', b'\xff\xfe', b'b'])
    texts = pyarrow.StringArray.from_buffers(3, *texts.buffers()[1:])
    path = tmp_path / 'a.parquet'
    parquet.write_table(pyarrow.table({'text': texts}), path)
    pieces = list(read_documents(path, Wanted()))
    assert [piece.is_skipped for piece in pieces] == [False, True, False]
    assert [piece.text for piece in pieces] == ['a', '', 'b']


def test_a_row_without_text_is_counted_and_a_foreign_file_refused(tmp_path):
    path = tmp_path / 'a.jsonl'
    path.write_text('{"text": "a"}\n{"txt": 1}\nnonsense\n\n{"text": "b"}\n')
    pieces = list(read_documents(path, Wanted()))
    assert [piece.is_skipped for piece in pieces] == [False, True, True, False]
    assert pieces[0] == Piece('a', True)
    for first in ('{"txt": 1}', 'nonsense', '{"text": 7}', '[' * 100_000, '[]'):
        path.write_text(f'{first}\n')
        with pytest.raises(UserError, match=r"line 1: no object with the text 'text'"):
            read(path)


def make_damaged():
    """{name: (content, what the error says)}."""
    whole = gzip.compress(make_jsonl())
    return {
        'cut.jsonl.gz': (whole[:-20], 'truncated'),
        'foreign.jsonl.gz': (b'PK\x03\x04' * 20, 'cannot be read'),
        'empty.txt': (b'', 'holds no text'),
        'blank.txt': (b'\n<|endoftext|>\n\n', 'holds no text'),
        'empty.jsonl': (b'', 'holds no rows'),
        'foreign.parquet': (b'PAR1 and nothing else', 'no parquet'),
        'empty.parquet': (b'', 'no parquet'),
        'foreign.jsonl.zst': (b'PK\x03\x04' * 20, 'no zstd'),
        'other.csv': (b'a,b', 'must end in one of'),
        'missing.txt': (None, 'no such file'),
    }


@pytest.mark.parametrize('name', make_damaged())
def test_a_damaged_file_is_one_line(tmp_path, name):
    content, line = make_damaged()[name]
    if name.endswith('.zst'):
        pytest.importorskip('zstandard')
    if name.endswith('.parquet'):
        pytest.importorskip('pyarrow')
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=line) as error:
        read(path)
    assert str(path) in str(error.value) and '\n' not in str(error.value)


def test_every_cut_of_zstd_is_noticed_or_leaves_whole_frames(tmp_path):
    data = pack_zst(make_jsonl())
    path = tmp_path / 'a.jsonl.zst'
    noticed = 0
    for size in range(1, len(data)):
        path.write_bytes(data[:size])
        try:
            read(path)
        except UserError as e:
            noticed += 'truncated' in str(e) or 'line 1' in str(e)
    assert noticed >= len(data) - 2  # but for the cut between the two frames


def test_the_files_of_a_folder_are_in_order(tmp_path):
    for name in ('b.txt', 'a.jsonl.gz', 'sub/c.txt.zst', 'notes.md', 'd.csv'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('x')
    names = [str(path.relative_to(tmp_path)) for path in list_files(tmp_path)]
    assert names == ['a.jsonl.gz', 'b.txt', 'sub/c.txt.zst']
    with pytest.raises(UserError, match='no such file or folder'):
        list_files(tmp_path / 'nothing')
    (tmp_path / 'empty').mkdir()
    with pytest.raises(UserError, match=r'has no files \.txt, \.jsonl, \.parquet'):
        list_files(tmp_path / 'empty')


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, '_LONGEST_LINE', 1000)
    path = tmp_path / 'a.jsonl'
    path.write_text('{"text": "' + 'x' * 2000 + '"}\n')
    with pytest.raises(UserError, match='a line of more than 1,000 bytes'):
        read(path)


_MEASURE = """
import pathlib, re, sys
from anchorjax.sources.corpora import write_corpus
from anchorjax.sources.documents import Wanted
from anchorjax.sources.tokenizers import Bytes

def peak():
    return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])
def report(*_): pass
source, out = map(pathlib.Path, sys.argv[1:])
written = write_corpus(source, out, Bytes(), Wanted(), report)
print(written.tokens, peak() / 1024)
"""


def measure(source, out):
    """(tokens, most MiB of memory that the process ever had)."""
    line = [sys.executable, '-c', _MEASURE, str(source), str(out)]
    done = subprocess.run(
        line, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    tokens, mebibytes = done.stdout.split()
    return int(tokens), float(mebibytes)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path, record_property):
    """One document in a sparse file; 2 GB was measured by hand."""
    sizes = []
    for megabytes in (20, 100):
        path = tmp_path / f'{megabytes}.txt'
        with path.open('wb') as f:
            f.truncate(megabytes * 10**6)
        tokens, mebibytes = measure(path, tmp_path / str(megabytes))
        assert tokens == megabytes * 10**6 + 1
        sizes.append(mebibytes)
    record_property('MiB to tokenize 20 and 100 MB', sizes)
    assert sizes[1] < sizes[0] + 20


def test_a_frame_may_be_read_in_any_portions():
    data = b'0123456789' * 100
    stream = documents._ZstdStream(io.BytesIO(pack_zst(data)))
    parts = []
    while part := stream.read(7):
        parts.append(part)
    assert b''.join(parts) == data
