"""How the processes of a program find each other, and agree on an error."""

from typing import Any

import pytest

from anchorjax import cli
from anchorjax.errors import CorruptFileError, StoreError, StoreUnavailable
from anchorjax.training import hosts

BROKEN = ('a is damaged', 'damaged')
BUSY = ('cannot read a', 'unavailable')
OTHER = ('a was saved by other code', 'refused')


@pytest.mark.parametrize(
    ('reported', 'kind', 'line'),
    [
        ([None, BROKEN], CorruptFileError, 'a is damaged'),
        ([BROKEN, BUSY], StoreUnavailable, 'cannot read a'),
        ([BUSY, None], StoreUnavailable, 'cannot read a'),
        ([BROKEN, BUSY, OTHER], StoreError, 'other code'),
    ],
)
def test_a_state_is_damaged_if_no_process_has_another_problem(
    monkeypatch, reported, kind, line
):
    monkeypatch.setattr(hosts, 'gather', lambda _: reported)
    with pytest.raises(StoreError, match=line) as caught:
        hosts.run_together(int)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        (ValueError('coordinator_address should be defined.'), 2),
        (RuntimeError('DEADLINE_EXCEEDED: Barrier timed out.\nmore'), 1),
    ],
)
def test_hosts_that_answer_too_late_are_tried_again(monkeypatch, capsys, error, code):
    """A supervisor takes exit code 2 for bad input, which it never runs again."""

    def fail(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr('jax.distributed.initialize', fail)
    monkeypatch.setattr('jax.config.update', lambda *_: None)
    with pytest.raises(SystemExit) as caught:
        cli.run_command(hosts.join)
    assert caught.value.code == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f'error: --distributed: {str(error).splitlines()[0]}')
