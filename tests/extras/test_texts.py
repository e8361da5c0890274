"""The same texts from every format; cut, foreign and empty files are refused."""

import gzip
import json

import pytest

pytest.importorskip('fsspec')
pytest.importorskip('pyarrow')
import pyarrow
import pyarrow.parquet
import zstandard

from anchorjax.errors import UserError
from anchorjax.extras.corpora.texts import SEPARATOR, RowFilter, find_files, read_texts

TEXTS = ['The first\nstory.', 'A second: naïve ☃\u2028.', 'x' * 70 + ' y', 'last']
SETS = ['RedPajamaGithub', 'RedPajamaC4', 'RedPajamaGithub', 'RedPajamaWikipedia']
# `meta` as an object and as a text (DATASETS 7).
AS_OBJECT = [{'redpajama_set_name': name} for name in SETS]
AS_TEXT = [json.dumps(meta) for meta in AS_OBJECT]


def make_rows(metas):
    return [
        {'text': text, 'meta': meta} for text, meta in zip(TEXTS, metas, strict=True)
    ]


def write_jsonl(rows):
    return ''.join(json.dumps(row) + '\n' for row in rows).encode()


def pack_zst(data):
    """Two frames, as big files have."""
    compressor = zstandard.ZstdCompressor()
    half = len(data) // 2
    return compressor.compress(data[:half]) + compressor.compress(data[half:])


PACKINGS = {'': bytes, '.gz': gzip.compress, '.zst': pack_zst}
CONTENTS = {
    '.txt': SEPARATOR.join(f'\n{text}\n' for text in TEXTS).encode(),
    '.jsonl': write_jsonl(make_rows(AS_OBJECT)),
}


def read(path, **wanted):
    return list(read_texts(str(path), RowFilter(**wanted)))


@pytest.mark.parametrize('packing', PACKINGS)
@pytest.mark.parametrize('kind', CONTENTS)
def test_every_format_has_the_same_texts(tmp_path, kind, packing):
    path = tmp_path / f'a? 1{kind}{packing}'
    path.write_bytes(PACKINGS[packing](CONTENTS[kind]))
    assert read(path) == TEXTS


@pytest.mark.slow
@pytest.mark.parametrize('metas', [AS_OBJECT, AS_TEXT])
@pytest.mark.parametrize('kind', ['.jsonl', '.parquet'])
def test_sets_select_rows(tmp_path, kind, metas):
    path = tmp_path / f'a{kind}'
    rows = make_rows(metas)
    if kind == '.parquet':
        table = pyarrow.Table.from_pylist(rows)
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    else:
        path.write_bytes(write_jsonl(rows))
    assert read(path) == TEXTS
    assert read(path, sets=('RedPajamaGithub',)) == [TEXTS[0], TEXTS[2]]
    assert read(path, sets=('RedPajamaBook',)) == []


@pytest.mark.parametrize('packing', PACKINGS)
@pytest.mark.parametrize('kind', ['.txt', '.jsonl'])
@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16', 'utf-16-le'])
def test_another_encoding_is_refused(tmp_path, kind, encoding, packing):
    path = tmp_path / f'a{kind}{packing}'
    path.write_bytes(PACKINGS[packing]('"plain"\n"naïve é"\n'.encode(encoding)))
    with pytest.raises(UserError, match=rf'a{kind}{packing}: cannot be read') as error:
        read(path)
    assert '\n' not in str(error.value)


def test_rows_without_text_and_half_letters(tmp_path):
    path = tmp_path / 'a.jsonl'
    path.write_text(
        '{"text": "a\\ud800b"}\n\n{"text": "\\ud83d\\ude00"}\n{"txt": 1}\n[1]\n'
    )
    assert read(path) == ['a\ufffdb', '\N{GRINNING FACE}', None, None]


PACKED = {kind: pack(CONTENTS['.jsonl']) for kind, pack in PACKINGS.items()}


@pytest.mark.parametrize(
    ('name', 'content', 'row'),
    [
        ('cut.jsonl', PACKED[''][:-9], 3),
        ('cut.jsonl.zst', PACKED['.zst'][:-9], r'\d'),
        ('cut.jsonl.gz', PACKED['.gz'][:-9], r'\d'),
        ('deep.jsonl', b'{"text": "a"}\n' + b'[' * 99_999, 1),
        ('foreign.parquet', b'PAR1 and nothing else', 0),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(tmp_path, name, content, row):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=f'cannot be read after row {row} ') as error:
        read(path)
    assert str(path) in str(error.value) and '\n' not in str(error.value)


def test_the_files_of_a_folder_are_in_order(tmp_path):
    def find(path='', pattern=''):
        return list(find_files(str(tmp_path / path), pattern).sizes)

    left_out = ('notes.md', 'd.csv', '.b.txt', 'sub/.git/c.txt', 'b.txt.gz')
    for name in (*left_out, 'b.txt', 'a.jsonl.gz', 'sub/c.txt.zst', 'e[1]?.txt'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('x')
    assert find() == ['a.jsonl.gz', 'b.txt', 'e[1]?.txt', 'sub/c.txt.zst']
    assert find(pattern='*/*.zst') == ['sub/c.txt.zst']
    assert find('.b.txt') == ['.b.txt']  # as it is asked
    assert find('e[1]?.txt') == ['e[1]?.txt']
    for path in ('nothing', 'd.csv'):
        with pytest.raises(UserError, match='no file that ends in one of'):
            find(path)
