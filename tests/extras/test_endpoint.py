"""Asking an endpoint that refuses, stalls and limits the rate.

Every fault is met by the real client over the loopback.
"""

import pytest

pytest.importorskip('openai')

from anchorjax.errors import TemporaryError, UserError
from anchorjax.extras.prompts.models import Endpoint, check_address, read_key
from tests.support.stub_endpoint import serve

KEY = 'sk-A9/b+c=very/secret'
PROMPT = '(1, 1, 5) = 7\n(1, 1, 8) ='
TIMEOUT = 0.4


@pytest.fixture
def server():
    with serve() as stub:
        yield stub


def ask(address, retries=2, api='chat'):
    settings = {'endpoint': address, 'model': 'm', 'api': api, 'fields': {'seed': 1}}
    return Endpoint(settings, KEY, TIMEOUT, retries).ask(PROMPT, 'a/1')


@pytest.mark.parametrize('api', ['chat', 'completions'])
def test_the_request_and_its_answer(server, api):
    assert ask(server.address, api=api) == (' 10\n', 'stop')
    (body,) = server.bodies
    assert body['model'] == 'm' and body['seed'] == 1
    said = body['prompt'] if api == 'completions' else body['messages'][0]['content']
    assert said == PROMPT
    (headers,) = server.headers
    assert headers['authorization'] == f'Bearer {KEY}'
    assert headers['idempotency-key'] == 'a%2F1'


@pytest.mark.parametrize('accidents', [['429', '503'], ['stall']])
def test_what_may_pass_is_asked_again(server, accidents):
    server.accidents, server.waits = list(accidents), ['0.01', '0.01']
    assert ask(server.address) == (' 10\n', 'stop')
    assert len(server.bodies) == len(accidents) + 1


@pytest.mark.parametrize('accident', ['503', 'nonsense'])
def test_no_answer_is_temporary(server, accident):
    server.accidents, server.waits = [accident] * 2, ['0.01'] * 2
    with pytest.raises(TemporaryError, match=r'HTTP 503|no answer in the response'):
        ask(server.address, retries=1)


@pytest.mark.parametrize('status', [400, 401, 404, 302])
def test_a_final_refusal_is_not_repeated(server, status):
    server.accidents = ['redirect' if status == 302 else str(status)]
    with pytest.raises(UserError, match=f'HTTP {status}'):
        ask(server.address)
    assert len(server.bodies) == 1


def test_the_key_is_never_kept_or_shown(server, capsys):
    server.accidents = ['echo', '401', '500', '500', '500']
    server.waits = ['0.01'] * 4
    reply, _ = ask(server.address)
    assert 'Bearer [key]' in reply  # the server's echo
    errors = []
    for kind in (UserError, TemporaryError):
        with pytest.raises(kind, match=r'\[key\]') as error:
            ask(server.address)
        errors.append(repr(error.value))
    shown = reply + ''.join(errors) + ''.join(capsys.readouterr())
    for secret in (KEY, 'sk-A9', 'secret'):
        assert secret not in shown


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
def test_an_address_that_is_unusable_or_unsafe_is_refused(address):
    with pytest.raises(UserError, match='--endpoint: must') as error:
        check_address(address, has_key=True)
    assert 'sk-secret' not in str(error.value)


def test_other_addresses_are_allowed():
    check_address('https://example.org/v1', has_key=True)
    check_address('http://127.0.0.1:8000/v1', has_key=True)
    check_address('http://localhost:8000/v1', has_key=True)
    check_address('http://example.org/v1', has_key=False)


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
