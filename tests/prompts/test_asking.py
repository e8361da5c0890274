"""Asking an endpoint that refuses, stalls and limits the rate: nothing is lost.

Every accident is met by the real client over the loopback; only waiting is replaced.
"""

import json
import os
import pathlib

import pytest

from anchorjax import config
from anchorjax.errors import StoreError, StoreUnavailable, TemporaryError, UserError
from anchorjax.prompts.asking import Answer, Pace, Unavailable, ask_all
from anchorjax.prompts.endpoint import Endpoint, Settings, check_address, read_key
from anchorjax.prompts.prompt_files import make_prompts
from anchorjax.prompts.reply_files import open_replies, read_replies
from tests.support.stub_endpoint import serve

KEY = 'sk-A9/b+c=very/secret'
SETTINGS = {'model': 'stub'}


@pytest.fixture(scope='module')
def prompts():
    experiment = config.resolve(config.default())
    return make_prompts(experiment, 3, 1, instruct=True).list_prompts()  # 9


@pytest.fixture
def server():
    with serve() as stub:
        yield stub


class Waits(list):
    """A `sleep` that only remembers."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def ask(server, prompts, path, retries=3, timeout=0.3, api='chat', report=None):
    """(replies, waits) of one call of `ask_all`."""
    settings = Settings(server.address, 'stub', api, {'max_tokens': 9})
    model = Endpoint(settings, KEY, timeout)
    waits, reports = Waits(), []
    with open_replies(path, SETTINGS) as file:
        ask_all(
            prompts,
            file,
            model,
            pace=Pace(1e9),
            retries=retries,
            report=report or reports.append,
            sleep=waits,
        )
        return dict(file.replies), waits


def test_every_prompt_has_one_answer_despite_all_accidents(server, prompts, tmp_path):
    server.accidents = ['', 'refuse', '429', 'cut', '', '503', 'nonsense', '', 'stall']
    server.accidents += ['', 'drip', '500']
    server.waits = ['7', 'Wed, 21 Oct 2026 07:28:00 GMT', 'nan']
    replies, waits = ask(server, prompts, tmp_path / 'r.jsonl')
    assert list(replies) == [prompt.id for prompt in prompts]
    assert read_replies(tmp_path / 'r.jsonl') == replies
    for prompt in prompts:
        assert server.answered[prompt.prompt] == 1
        assert int(replies[prompt.id]) == prompt.answers['inferential'] or (
            prompt.asked[:2] == (3, 4)
        )
    # One wait for each accident; that of the server, or twice the one before.
    assert waits == [1.0, 7.0, 4.0, 1.0, 2.0, 1.0, 1.0, 2.0]
    first = server.bodies[0]
    assert first['model'] == 'stub' and first['max_tokens'] == 9
    ids = {headers['Idempotency-Key'] for headers in server.headers}
    assert len(ids) == len(prompts)


def test_the_completions_api_sends_the_text(server, prompts, tmp_path):
    ask(server, prompts[:1], tmp_path / 'r.jsonl', api='completions')
    assert server.paths == ['/v1/completions']
    assert server.bodies[0]['prompt'] == prompts[0].prompt


def test_a_failure_keeps_what_is_there_and_the_next_call_continues(
    server, prompts, tmp_path
):
    path = tmp_path / 'r.jsonl'
    server.accidents = ['', '', '503', '503', '503']
    with pytest.raises(TemporaryError, match='after 3 attempts; 2 replies are kept'):
        ask(server, prompts, path, retries=2)
    assert len(read_replies(path)) == 2
    with path.open('ab') as f:  # killed while it wrote
        f.write(b'{"id": "x", "rep')
    replies, _ = ask(server, prompts, path)
    assert len(replies) == len(prompts)
    assert set(server.answered.values()) == {1}
    asked_before = len(server.bodies)
    ask(server, prompts, path)
    assert len(server.bodies) == asked_before  # everything has a reply


def test_a_kill_between_two_replies_loses_none(server, prompts, tmp_path):
    path = tmp_path / 'r.jsonl'

    def stop(progress):
        if progress.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(server, prompts, path, report=stop)
    assert len(read_replies(path)) == 4
    ask(server, prompts, path)
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize('status', [400, 401, 403, 404, 302])
def test_a_final_refusal_is_one_line_and_not_repeated(
    server, prompts, tmp_path, status
):
    server.accidents = ['redirect' if status == 302 else str(status)]
    with pytest.raises(UserError, match=f'HTTP {status}') as error:
        ask(server, prompts, tmp_path / 'r.jsonl')
    assert KEY not in str(error.value) and '\n' not in str(error.value)
    assert len(server.bodies) == 1


def test_a_wait_beyond_all_patience_is_refused(server, prompts, tmp_path):
    server.accidents, server.waits = ['429'], ['100000']
    with pytest.raises(TemporaryError, match=r'HTTP 429 .*after 1 attempts'):
        ask(server, prompts, tmp_path / 'r.jsonl')


def test_the_key_is_sent_and_never_kept_or_shown(server, prompts, tmp_path, capsys):
    server.accidents = ['echo', 'null', '500', '', '401']
    with pytest.raises(UserError) as error:
        ask(server, prompts, tmp_path / 'r.jsonl')
    assert server.headers[0]['Authorization'] == f'Bearer {KEY}'
    text = (tmp_path / 'r.jsonl').read_text()
    assert 'Bearer [key]' in text  # the server's echo
    shown = ''.join(capsys.readouterr()) + str(error.value) + repr(error.value)
    assert '[key]' in str(error.value)
    for secret in (KEY, 'sk-A9', 'secret'):
        assert secret not in text + shown


def test_a_key_from_the_environment(monkeypatch):
    monkeypatch.setenv('SOME_KEY', f' {KEY}\n')
    assert read_key('SOME_KEY') == KEY
    monkeypatch.delenv('SOME_KEY')
    assert read_key('SOME_KEY') == ''
    for bad in ('sk-with space', 'sk-line\nfeed', 'sk-\N{SNOWMAN}'):
        monkeypatch.setenv('SOME_KEY', bad)
        with pytest.raises(UserError, match='SOME_KEY: holds characters') as error:
            read_key('SOME_KEY')
        assert 'sk-' not in str(error.value)


@pytest.mark.parametrize(
    'address',
    [
        'http://example.org/v1',
        'ftp://example.org',
        'example.org/v1',
        'https://user:sk-secret@example.org/v1',
        'https://example.org/v1?key=sk-secret',
    ],
)
def test_an_address_that_would_give_the_key_away_is_refused(address):
    require_refusal(address, '--endpoint')


@pytest.mark.parametrize(
    'address',
    [
        'https://[bad',
        'https://example.org:sk-secret/v1',
        'https://example.org:99999/v1',
        'http://127.0.0.1:9/ü',
        'https://example.org/v 1',
        'https://a..b/v1',
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(address):
    require_refusal(address, '--endpoint: must be https://HOST:PO')


def require_refusal(address: str, line: str) -> None:
    """The address is refused in such a line, which does not show its secret."""
    with pytest.raises(UserError, match=line) as error:
        check_address(address, has_key=True)
    assert 'sk-secret' not in str(error.value)


def test_other_addresses_are_allowed():
    check_address('https://example.org/v1', has_key=True)
    check_address('http://127.0.0.1:8000/v1', has_key=True)
    check_address('http://localhost:8000/v1', has_key=True)
    check_address('http://example.org/v1', has_key=False)


def test_the_pace_spreads_calls():
    waits = Waits()
    pace = Pace(120, waits)  # every half second
    for _ in range(3):
        pace.wait()
    assert waits == pytest.approx([0.5, 1.0], abs=0.05)  # nobody really waited


class Deaf:
    def ask(self, prompt, id):
        raise Unavailable('deaf')


class Brief:
    def ask(self, prompt, id):
        return Answer('7', 'stop')


def test_without_retries_one_failure_ends_it(prompts, tmp_path):
    with (
        open_replies(tmp_path / 'r.jsonl', SETTINGS) as file,
        pytest.raises(TemporaryError, match='deaf, after 1 attempts; 0 replies'),
    ):
        ask_all(prompts, file, Deaf(), pace=Pace(1e9), retries=0, report=print)


def test_a_file_of_replies_is_of_one_process_and_one_setting(tmp_path):
    path = tmp_path / 'r.jsonl'
    with open_replies(path, SETTINGS) as file:
        file.add('a', '7')
        with pytest.raises(StoreUnavailable, match='another process is asking'):
            open_replies(path, SETTINGS).__enter__()
    other = {'model': 'stub', 'temperature': 1}
    with pytest.raises(StoreError, match='temperature = None, now 1'):
        open_replies(path, other).__enter__()
    with open_replies(path, SETTINGS) as file:
        assert file.replies == {'a': '7'}


@pytest.mark.parametrize(
    ('line', 'problem'),
    [
        (b'{"id": "a"}', 'line 2: must have the texts'),
        (b'[1]', 'line 2: must be an object'),
        (b'\xff\xfe', 'line 2: no JSON'),
        (b'{"id": "b", "reply": "1"}\n{"id": "b", "reply": "2"}', 'line 3: a second'),
    ],
)
def test_a_damaged_file_of_replies_is_one_line(tmp_path, line, problem):
    path = tmp_path / 'r.jsonl'
    path.write_bytes(b'{"settings": {}}\n' + line + b'\n')
    with pytest.raises(StoreError, match=problem):
        read_replies(path)


def test_replies_from_elsewhere_need_no_settings(tmp_path):
    path = tmp_path / 'r.jsonl'
    rows = [{'id': 'a', 'reply': 'x'}, {'id': 'b', 'reply': 'y', 'note': 1}]
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    assert read_replies(path) == {'a': 'x', 'b': 'y'}
    with pytest.raises(StoreError, match='replies without settings'):
        open_replies(path, SETTINGS).__enter__()


LAST = b'{"id": "b", "reply": "8"}'


def test_a_last_reply_without_a_newline_counts_and_is_kept(tmp_path):
    path = tmp_path / 'r.jsonl'
    path.write_bytes(b'{"id": "a", "reply": "7"}\n' + LAST)  # from elsewhere
    before = path.read_bytes()
    assert read_replies(path) == {'a': '7', 'b': '8'}
    with pytest.raises(StoreError, match='replies without settings'):
        open_replies(path, SETTINGS).__enter__()
    assert path.read_bytes() == before
    path.write_bytes(json.dumps({'settings': SETTINGS}).encode() + b'\n' + LAST)
    with open_replies(path, SETTINGS) as file:
        file.add('c', '9')
    assert read_replies(path) == {'b': '8', 'c': '9'}


@pytest.mark.parametrize('rest', [LAST, LAST[:-3]])
def test_a_refused_file_of_replies_stays_as_it_is(tmp_path, rest):
    path = tmp_path / 'r.jsonl'
    with open_replies(path, SETTINGS) as file:
        file.add('a', '7')
    with path.open('ab') as f:
        f.write(rest)
    before = path.read_bytes()
    with pytest.raises(StoreError, match='asked with other settings'):
        open_replies(path, {'model': 'other'}).__enter__()
    assert path.read_bytes() == before


def test_settings_without_replies_can_be_corrected(tmp_path):
    path = tmp_path / 'r.jsonl'
    with open_replies(path, {'endpoint': 'mistyped'}):
        pass
    with open_replies(path, SETTINGS) as file:
        file.add('a', '7')
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [{'settings': SETTINGS}, {'id': 'a', 'reply': '7'}]


def test_no_file_of_replies_is_followed_out_of_its_folder(tmp_path):
    target = tmp_path / 'target'
    target.write_text('')
    os.symlink(target, tmp_path / 'r.jsonl')
    with pytest.raises(StoreError, match='cannot write'):
        open_replies(pathlib.Path(tmp_path / 'r.jsonl'), SETTINGS).__enter__()
