"""Official files: copied or downloaded, known by their digests; questions of ours."""

import gzip
import hashlib
import http.server
import json
import threading

import pytest

from anchorjax.errors import TemporaryError, UserError
from anchorjax.extras.corpora.official import OFFICIAL, prepare_official
from anchorjax.tasks.prontoqa import files as prontoqa_files
from tests.support.in_process import run
from tests.support.official_data import find_official

CONTENT = b'IN: walk OUT: I_WALK\n' * 100


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT, or what a test planted."""

    content = CONTENT
    length = len(CONTENT)
    status = 200

    def do_GET(self):
        self.send_response(self.status)
        self.send_header('Content-Length', str(self.length))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_):
        """Says nothing."""


@pytest.fixture
def server(monkeypatch):
    """A server of one file, which SCAN then consists of."""

    class Own(Handler):
        """Of this test alone."""

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Own) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        plant(monkeypatch, f'http://127.0.0.1:{serving.server_port}')
        yield Own
        serving.shutdown()
        thread.join()


def plant(monkeypatch, address='http://127.0.0.1:1'):
    digest = hashlib.sha256(CONTENT).hexdigest()
    scan = OFFICIAL['scan']._replace(address=address, files={'split/tasks.txt': digest})
    monkeypatch.setitem(OFFICIAL, 'scan', scan)


def prepare(out, source=None):
    return list(prepare_official('scan', source, out))


def test_a_download(server, tmp_path):
    for _ in range(2):  # what is there is kept
        assert prepare(tmp_path) == [('tasks.txt', len(CONTENT))]
        assert (tmp_path / 'tasks.txt').read_bytes() == CONTENT


@pytest.mark.parametrize(
    ('planted', 'kind', 'line'),
    [
        ({'status': 404}, UserError, 'Not Found'),
        ({'status': 503}, TemporaryError, 'Service Unavailable'),
        ({'content': CONTENT[:-9]}, TemporaryError, 'IncompleteRead'),
        ({'content': CONTENT.lower()}, UserError, 'another file than tasks.txt'),
    ],
)
def test_a_download_that_failed_leaves_nothing(server, tmp_path, planted, kind, line):
    for name, value in planted.items():
        setattr(server, name, value)
    with pytest.raises(kind, match=line):
        prepare(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('name', ['tasks.txt', 'tasks.txt.gz'])
def test_a_local_copy_may_be_gzipped(monkeypatch, tmp_path, name):
    plant(monkeypatch)
    is_packed = name.endswith('.gz')
    with pytest.raises(UserError, match=r'tasks\.txt: no such file'):
        prepare(tmp_path / 'out', tmp_path)
    (tmp_path / name).write_bytes(gzip.compress(CONTENT) if is_packed else CONTENT)
    prepare(tmp_path / 'out', tmp_path)
    assert (tmp_path / 'out' / 'tasks.txt').read_bytes() == CONTENT


def test_a_file_of_the_user_is_not_replaced(monkeypatch, tmp_path):
    plant(monkeypatch)
    (tmp_path / 'tasks.txt').write_bytes(CONTENT)
    (tmp_path / 'out').mkdir()
    (tmp_path / 'out' / 'tasks.txt').write_text('mine')
    with pytest.raises(UserError, match='another file is there; give another --out'):
        prepare(tmp_path / 'out', tmp_path)
    assert (tmp_path / 'out' / 'tasks.txt').read_text() == 'mine'


@pytest.mark.slow
@pytest.mark.parametrize('name', OFFICIAL)
def test_the_official_files_are_taken_from_a_folder(name, tmp_path):
    found = list(prepare_official(name, find_official(name), tmp_path))
    assert len(found) == len(OFFICIAL[name].files)


def test_questions_of_ours(tmp_path, monkeypatch, capsys):
    def say(*words):
        return run('data.py', [str(word) for word in words], monkeypatch, capsys)

    words = ('questions', '--out', tmp_path, '--hops', 2, '--number')
    for _ in range(2):
        done = say(*words, 30)
        assert done.code == 0 and '30 questions' in done.out, done.errors
    questions = prontoqa_files.read_questions(tmp_path / 'questions.json')
    assert len(questions) == 30 and len(questions[0].chain) == 5
    rows = (tmp_path / 'texts.jsonl').read_text().splitlines()
    for row, question in zip(rows, questions, strict=True):
        text = json.loads(row)['text']
        assert text.startswith(f'Q: {question.context} True or false: ')
        assert text.endswith(f'{question.chain[-1]} {question.answer}')
    for bad, line in (
        ((*words, 20), 'another file is there; give another --out'),
        ((*words, 1), '--number = 1: must be at least 2'),
        ((*words[:4], 9), 'hops = 9: must be'),
        (('imagenet', '--out', tmp_path), "'imagenet': must be one of ('scan', "),
    ):
        done = say(*bad)
        assert (done.code, done.errors.count('\n')) == (2, 1), (bad, done.errors)
        assert line in done.errors, done.errors
