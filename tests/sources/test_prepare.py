"""Data sets as files: every way to get them, interrupted, damaged, foreign."""

import dataclasses
import gzip
import http.server
import json
import pathlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from anchorjax.errors import TemporaryError, UserError
from anchorjax.sources import catalog, fetch, prepare
from anchorjax.sources.catalog import PublicFile, Source
from anchorjax.tasks import ProntoqaConfig
from anchorjax.tasks.cogs import files as cogs_files
from anchorjax.tasks.prontoqa import files as prontoqa_files
from anchorjax.tasks.scan import files as scan_files
from anchorjax.tasks.scan.grammar import interpret, list_commands
from tests.support.sweeps import ROOT

OFFICIAL = pathlib.Path('/work/shared/data')
QUESTIONS = ProntoqaConfig(hops=2, num_examples=29, probe_examples=1)
COMMANDS = list_commands()[:400]
LINES = [scan_files.format_line(command, interpret(command)) for command in COMMANDS]
CONTENT = ''.join(line + '\n' for line in LINES).encode()


def ignore(name: str, done: int, total: int) -> None:
    """A report that shows nothing."""


def run(
    name: str, out: pathlib.Path, source: object = prepare.OWN
) -> list[prepare.Prepared]:
    return list(prepare.prepare(name, out, str(source), QUESTIONS, ignore))


def describe(address: str = 'http://127.0.0.1:1') -> PublicFile:
    """The file of CONTENT at an address."""
    digest = fetch.digest(CONTENT)
    return PublicFile('tasks.txt', f'{address}/tasks.txt', 400, len(CONTENT), digest)


@pytest.fixture
def one_file(monkeypatch) -> None:
    """SCAN consists of one small file."""
    plant(monkeypatch, describe())


def plant(monkeypatch: pytest.MonkeyPatch, file: PublicFile) -> None:
    monkeypatch.setitem(catalog.SOURCES, 'scan', Source('SCAN', 'BSD', (file,)))


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT from any offset on; stops early as often as it is told to."""

    content = CONTENT
    stops: ClassVar[list[int]]  # bytes after which to stop, one for each answer
    offsets: ClassVar[list[int]]  # where the answers began
    can_continue = True
    status = 200

    def do_GET(self) -> None:
        first = 0
        asked = self.headers.get('Range')
        if asked and self.can_continue:
            first = int(asked.removeprefix('bytes=').removesuffix('-'))
        self.offsets.append(first)
        self.send_response(206 if first else self.status)
        self.send_header('Content-Length', str(len(self.content) - first))
        self.end_headers()
        last = self.stops.pop(0) if self.stops else len(self.content)
        self.wfile.write(self.content[first:last])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch) -> Iterator[type[Handler]]:
    """A server of one file, which SCAN then consists of."""

    class Own(Handler):
        stops: ClassVar[list[int]] = []
        offsets: ClassVar[list[int]] = []

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Own) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        plant(monkeypatch, describe(f'http://127.0.0.1:{serving.server_port}'))
        yield Own
        serving.shutdown()
        thread.join()


def test_our_own_prontoqa_and_again(tmp_path):
    file, texts = run('prontoqa', tmp_path)
    assert file.rows == 30 and file.is_new
    questions = prontoqa_files.read_questions(tmp_path / file.name)
    assert len(questions) == 30 and len(questions[0].chain) == 5
    again, _ = run('prontoqa', tmp_path)
    rows = (tmp_path / texts.name).read_text().splitlines()
    assert texts.rows == len(rows) == len(questions)
    for row, question in zip(rows, questions, strict=True):
        text = json.loads(row)['text']
        assert text.startswith(f'Q: {question.context} True or false: ')
        assert text.endswith(f'{question.chain[-1]} {question.answer}')
    assert again == file._replace(is_new=False)
    listed = json.loads((tmp_path / prepare.LIST_FILE).read_text())
    assert listed['files']['questions.json']['rows'] == 30
    assert 'drawn by our own rules, seed 0: 2 hops' in listed['title']


@pytest.mark.slow
def test_our_own_cogs_is_read_as_the_official_one_is(tmp_path):
    files = run('cogs', tmp_path)
    assert [(file.name, file.rows) for file in files] == [
        ('train.tsv', 24_155),
        ('dev.tsv', 3_000),
        ('gen.tsv', 21_000),
    ]
    for name in ('train', 'dev', 'gen'):
        cogs_files.read_split(tmp_path, name)


@pytest.mark.slow
def test_our_own_addition_and_scan(tmp_path):
    files = run('addition', tmp_path / 'addition')
    assert [file.rows for file in files] == [959_599, 40_401]
    lines = (tmp_path / 'addition' / 'test.txt').read_text().splitlines()
    assert (lines[0], lines[-1]) == ('400+400=800', '600+600=1200')
    files = run('scan', tmp_path / 'scan')
    assert len(files) == 25
    for file in files:
        assert len(scan_files.read_pairs(tmp_path / 'scan' / file.name)) == file.rows


@pytest.mark.slow
@pytest.mark.parametrize('name', ['scan', 'cogs', 'prontoqa'])
def test_the_official_files_are_taken_from_a_folder(name, tmp_path):
    if not (OFFICIAL / name).exists():
        pytest.skip('the official files are not on this machine')
    files = run(name, tmp_path, OFFICIAL / name)
    known = catalog.SOURCES[name].files
    assert [(f.name, f.rows, f.size) for f in files] == [
        (f.name, f.rows, f.size) for f in known
    ]
    assert not any(file.is_new for file in run(name, tmp_path, OFFICIAL / name))


@pytest.mark.parametrize('name', ['tasks.txt', 'tasks.txt.gz'])
def test_a_local_copy_may_be_gzipped(one_file, tmp_path, name):
    source = tmp_path / 'source'
    source.mkdir()
    is_packed = name.endswith('.gz')
    (source / name).write_bytes(gzip.compress(CONTENT) if is_packed else CONTENT)
    for given in (source, source / name):
        out = tmp_path / f'out_{given.name}'
        assert run('scan', out, given)[0].rows == 400
        assert (out / 'tasks.txt').read_bytes() == CONTENT


@pytest.mark.parametrize(
    ('content', 'line'),
    [
        (None, r'source/tasks.txt: no such file; looked for'),
        (CONTENT[:1000], r'source/tasks.txt: truncated, 1,000 of 48,\d+ bytes'),
        (b'', r'source/tasks.txt: truncated, 0 of'),
        (CONTENT + b'x', 'source/tasks.txt: another file than tasks.txt: its sha256'),
    ],
)
def test_a_bad_local_copy_is_one_line(one_file, tmp_path, content, line):
    source = tmp_path / 'source'
    source.mkdir()
    if content is not None:
        (source / 'tasks.txt').write_bytes(content)
    with pytest.raises(UserError, match=line) as caught:
        run('scan', tmp_path / 'out', source)
    assert '\n' not in str(caught.value)
    assert not (tmp_path / 'out' / 'tasks.txt').exists()


def test_content_that_contradicts_our_rules_is_refused(monkeypatch, tmp_path):
    wrong = CONTENT.replace(b'OUT: I_WALK\n', b'OUT: I_RUN\n', 1)
    file = describe()._replace(sha256='')
    plant(monkeypatch, file)
    (tmp_path / 'tasks.txt').write_bytes(wrong)
    with pytest.raises(
        UserError, match=r'tasks.txt, line \d+: .* does not have the actions'
    ):
        run('scan', tmp_path / 'out', tmp_path)
    plant(monkeypatch, file._replace(rows=401))
    (tmp_path / 'tasks.txt').write_bytes(CONTENT)
    with pytest.raises(UserError, match='400 rows, not 401'):
        run('scan', tmp_path / 'other', tmp_path)


def test_a_download(server, tmp_path):
    (file,) = run('scan', tmp_path, prepare.PUBLIC)
    assert (file.rows, file.is_new) == (400, True)
    assert (tmp_path / 'tasks.txt').read_bytes() == CONTENT
    assert not list(tmp_path.glob('*.part'))
    assert not run('scan', tmp_path, prepare.PUBLIC)[0].is_new
    assert server.offsets == [0]


@pytest.mark.parametrize('can_continue', [True, False])
def test_a_download_is_continued_after_an_interruption(server, tmp_path, can_continue):
    server.stops += [5_000, 9_000]
    server.can_continue = can_continue
    for _ in range(2):
        with pytest.raises(TemporaryError, match='the next call continues'):
            run('scan', tmp_path, prepare.PUBLIC)
        assert not (tmp_path / 'tasks.txt').exists()
    assert run('scan', tmp_path, prepare.PUBLIC)[0].rows == 400
    assert (tmp_path / 'tasks.txt').read_bytes() == CONTENT
    assert server.offsets == ([0, 5_000, 9_000] if can_continue else [0, 0, 0])


def test_another_file_at_the_address_is_one_line(server, tmp_path):
    server.content = CONTENT.replace(b'IN: walk OUT', b'IN: WALK OUT', 1)
    with pytest.raises(UserError, match=r'tasks.txt: another file than tasks'):
        run('scan', tmp_path, prepare.PUBLIC)
    server.content = CONTENT
    assert run('scan', tmp_path, prepare.PUBLIC)[0].rows == 400


def test_no_connection_is_one_line(one_file, tmp_path):
    line = r'127.0.0.1:1/tasks.txt: .* local copy can be --source'
    with pytest.raises(TemporaryError, match=line):
        run('scan', tmp_path, prepare.PUBLIC)


@pytest.mark.parametrize(
    ('status', 'kind'), [(404, UserError), (503, TemporaryError), (429, TemporaryError)]
)
def test_only_what_may_pass_is_temporary(server, tmp_path, status, kind):
    server.status = status
    with pytest.raises(kind, match=r'tasks\.txt: '):
        run('scan', tmp_path, prepare.PUBLIC)


def test_another_number_of_questions_is_refused(tmp_path):
    run('prontoqa', tmp_path)
    before = (tmp_path / 'questions.json').read_bytes()
    fewer = dataclasses.replace(QUESTIONS, num_examples=19)
    line = r'holds 30 questions, not --number 20; give another --out'
    with pytest.raises(UserError, match=line):
        list(prepare.prepare('prontoqa', tmp_path, prepare.OWN, fewer, ignore))
    assert (tmp_path / 'questions.json').read_bytes() == before


def test_a_folder_of_another_data_set_is_refused(one_file, tmp_path):
    run('prontoqa', tmp_path)
    with pytest.raises(UserError, match='holds another data set; give another --out'):
        run('scan', tmp_path)
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other' / 'questions.json').write_text('mine')
    with pytest.raises(UserError, match='another file is there; give another --out'):
        run('prontoqa', tmp_path / 'other')
    assert (tmp_path / 'other' / 'questions.json').read_text() == 'mine'


def launch(*words: object) -> subprocess.CompletedProcess:
    line = [sys.executable, 'launch/data.py', *(str(word) for word in words)]
    return subprocess.run(
        line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_the_command_line(tmp_path):
    words = ('prontoqa', '--out', tmp_path, '--number', 20, '--hops', 1)
    for state in ('written', 'there already'):
        done = launch(*words)
        assert done.returncode == 0, done.stderr
        assert 'licence: Apache-2.0' in done.stdout
        assert 'questions.json: 20 rows, ' in done.stdout
        assert f', {state}\n' in done.stdout
    for bad, line in (
        (('imagenet', '--out', tmp_path), 'invalid choice'),
        (('scan', '--out', tmp_path, '--source', '/nowhere'), 'another data set'),
        (('scan', '--out', tmp_path / 'x', '--source', '/nowhere'), 'no such file'),
        (('prontoqa', '--out', tmp_path / 'x', '--number', 1), '--number = 1: must be'),
        (('prontoqa', '--out', tmp_path / 'x', '--hops', 9), '--hops = 9: must be'),
        (('addition', '--out', tmp_path / 'x', '--source', 'public'), 'nothing of it'),
    ):
        done = launch(*bad)
        assert done.returncode == 2
        assert line in done.stderr and done.stderr.count('\n') == 1
