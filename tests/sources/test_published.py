"""Is it the whole published corpus? Planted numbers, empty stories, old folders."""

import json
import pathlib

import pytest

from anchorjax.errors import UserError
from anchorjax.sources import corpora
from anchorjax.sources.corpora import CORPORA, write_corpus
from anchorjax.sources.documents import SEPARATOR, Wanted
from anchorjax.sources.published import Part, compare, count_documents, find_parts
from anchorjax.sources.tokenizers import Bytes
from tests.support.in_process import run

PARTS = (
    Part('train', ('tiny-train.*', 'train-*.parquet'), 4),
    Part('validation', ('tiny-valid.*',), 2),
    Part('version 2', ('tinyV2-*',)),
)
FILES = (Part('all', ('*.jsonl.zst',), files=3),)


@pytest.mark.parametrize(
    ('files', 'documents', 'line'),
    [
        (['tiny-train.txt'], 4, '4 of 4 published documents (train): the whole'),
        (['tiny-train.txt.gz'], 3, '3 of 4 published documents (train): a part'),
        (['train-0.parquet', 'train-1.parquet'], 4, 'train): the whole'),
        (['tiny-train.txt', 'tiny-valid.txt'], 6, '6 of 6 published documents (train,'),
        (['tiny-valid.txt'], 3, '3 documents, more than the 2 published (validation)'),
        (['head.txt'], 2, '2 of 4 published documents (train): a part'),
        (['other.txt'], 5, 'more than the 4 published (train): another corpus'),
        (['tinyV2-train.txt'], 4, 'not published, so it is not compared'),
    ],
)
def test_documents_are_compared_with_the_parts_that_the_files_name(
    files, documents, line, tmp_path
):
    paths = [tmp_path / name for name in files]
    assert line in compare(find_parts(PARTS, paths), documents, len(paths))


@pytest.mark.parametrize(
    ('files', 'line'),
    [
        (['a.jsonl.zst'], '1 of 3 published files (all): a part; the number'),
        (['a.jsonl.zst', 'b.jsonl.zst', 'c.jsonl.zst'], '3 published files (all): the'),
        ([f'{i}.jsonl.zst' for i in range(4)], '4 files, more than the 3 published'),
        (['mirror.parquet'], 'not published, so it is not compared'),
    ],
)
def test_where_documents_are_not_published_files_are_compared(files, line, tmp_path):
    parts = find_parts(FILES, [tmp_path / name for name in files])
    assert count_documents(parts) == {}
    assert line in compare(parts, 10**9, len(files))


def test_the_numbers_of_the_table():
    stories, pile = CORPORA['tinystories'], CORPORA['slimpajama']
    assert [part.documents for part in stories.parts] == [2_119_719, 21_990, 0]
    assert [part.files for part in pile.parts] == [59_166]
    for source in (stories, pile):  # what is downloaded by default is recognized
        name = source.pattern.rsplit('/')[-1].replace('*', 'train-00000-of-00004')
        assert find_parts(source.parts, [pathlib.Path(name)]) == [source.parts[0]]


def write(path, out):
    def ignore(*_):
        """Says nothing."""

    return write_corpus(path, out, Bytes(), Wanted(), ignore)


def test_the_command_says_it_and_corpus_json_keeps_it(tmp_path, monkeypatch, capsys):
    source = CORPORA['tinystories']._replace(parts=PARTS)
    monkeypatch.setitem(CORPORA, 'tinystories', source)
    path = tmp_path / 'tiny-train.txt'
    path.write_text(SEPARATOR.join(['one\n', '\n', 'two', '\nthree', '\n']))
    words = ('tinystories', '--source', str(path), '--tokenizer', 'bytes', '--out')
    for state in ('written', 'there already'):
        done = run('data.py', [*words, str(tmp_path / 'out')], monkeypatch, capsys)
        assert done.code == 0, done.errors
        assert f'3 documents, 14 tokens, 0 rows without text, {state}' in done.out
        assert '4 of 4 published documents (train): the whole\n' in done.out, done.out
        assert '1 of these documents are empty and left out' in done.out
    listed = json.loads((tmp_path / 'out' / 'corpus.json').read_text())
    assert (listed['documents'], listed['empty']) == (3, 1)
    assert listed['published'] == {'train': 4}
    path.write_text(SEPARATOR.join('abcde'))
    done = run('data.py', [*words, str(tmp_path / 'more')], monkeypatch, capsys)
    assert done.code == 0 and 'more than the 4 published (train): another' in done.out


def test_empty_rows_count_but_those_of_other_sets_do_not(tmp_path):
    rows = [('a', 'B'), ('', 'B'), ('c', 'C'), ('', 'C'), ('d', 'B')]
    path = tmp_path / 'a.jsonl'
    lines = []
    for text, name in rows:
        lines.append(json.dumps({'text': text, 'meta': {'redpajama_set_name': name}}))
    path.write_text('\n'.join([*lines, '{}']))
    written = write(path, tmp_path / 'all')
    assert (written.documents, written.empty, written.skipped) == (3, 2, 1)
    selected = write_corpus(
        path, tmp_path / 'B', Bytes(), Wanted(sets=('B',)), lambda *_: None
    )
    assert (selected.documents, selected.empty, selected.skipped) == (2, 1, 1)


def test_folders_of_an_older_version(tmp_path):
    path = tmp_path / 'a.txt'
    path.write_text('one')
    out = tmp_path / 'out'
    written = write(path, out)
    listed = json.loads((out / 'corpus.json').read_text())
    del listed['empty'], listed['published']
    (out / 'corpus.json').write_text(json.dumps(listed))
    assert write(path, out) == written._replace(is_new=False)
    settings = {key: listed[key] for key in listed if key not in corpora._COUNTS}
    del settings['sha256']
    progress = {'settings': settings, 'is_between': True, 'file': 0, 'pieces': 0}
    (out / 'corpus.json').unlink()
    (out / 'progress.json').write_text(json.dumps(progress))
    with pytest.raises(UserError, match=r'of an older version; delete .* to begin'):
        write(path, out)
