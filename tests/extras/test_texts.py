"""The same texts from every format; cut, foreign and empty files are refused."""

import gzip
import json
from importlib.util import find_spec

import pytest

if find_spec('datasets') is None:  # which takes seconds to import
    pytest.skip('not installed: datasets', allow_module_level=True)
import pyarrow
import pyarrow.parquet
import zstandard

from anchorjax.errors import UserError
from anchorjax.extras.corpora.texts import SEPARATOR, RowFilter, find_local, read_texts

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
@pytest.mark.parametrize(
    ('encoding', 'byte'), [('latin-1', 11), ('utf-16', 0), ('utf-16-le', 1)]
)
def test_another_encoding_is_refused_with_its_first_byte(
    tmp_path, kind, encoding, byte, packing
):
    path = tmp_path / f'a{kind}{packing}'
    path.write_bytes(PACKINGS[packing]('"plain"\n"naïve é"\n'.encode(encoding)))
    with pytest.raises(UserError, match=rf'a{kind}.*byte {byte} is 0x') as error:
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
    ('name', 'content', 'line'),
    [
        ('cut.jsonl', PACKED[''][:-9], r'cut\.jsonl, line 4 is not JSON'),
        ('cut.jsonl.zst', PACKED['.zst'][:-9], r'line \d is not JSON'),
        ('cut.jsonl.gz', PACKED['.gz'][:-9], 'cannot be read'),
        ('deep.jsonl', b'{"text": "a"}\n' + b'[' * 99_999, 'line 2 is not JSON'),
        ('foreign.parquet', b'PAR1 and nothing else', 'cannot be read'),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(tmp_path, name, content, line):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=line) as error:
        read(path)
    assert str(path) in str(error.value) and '\n' not in str(error.value)


def test_the_files_of_a_folder_are_in_order(tmp_path):
    for name in ('b.txt', 'a.jsonl.gz', 'sub/c.txt.zst', 'notes.md', 'd.csv'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('x')
    assert list(find_local(tmp_path).sizes) == ['a.jsonl.gz', 'b.txt', 'sub/c.txt.zst']
    assert list(find_local(tmp_path, '*/*.zst').sizes) == ['sub/c.txt.zst']
    left_out = ('.b.txt', '.ipynb_checkpoints/b.txt', 'sub/.git/c.txt', 'b.txt.gz')
    for name in (*left_out, 'b.txt.zst', 'sub/c.txt.gz'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('x')
    (tmp_path / 'z.txt').symlink_to(tmp_path / 'b.txt')
    names = ['a.jsonl.gz', 'b.txt', 'sub/c.txt.gz']
    assert list(find_local(tmp_path).sizes) == names
    assert list(find_local(tmp_path / '.b.txt').sizes) == ['.b.txt']  # as it is asked
    for path in (tmp_path / 'nothing', tmp_path / 'd.csv'):
        with pytest.raises(UserError, match='no file that ends in one of'):
            find_local(path)
    (tmp_path / 'a::b.txt').write_text('x')
    with pytest.raises(UserError, match=r"a::b\.txt: must have no '::'"):
        find_local(tmp_path)
