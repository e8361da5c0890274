"""What the processes of a program make of an error that only some of them had."""

import pytest

from anchorjax.errors import Damaged, StoreError
from anchorjax.training import hosts

BROKEN = ('a is damaged', True)
BUSY = ('cannot read a', False)


@pytest.mark.parametrize(
    ('reported', 'kind', 'line'),
    [
        ([None, BROKEN], Damaged, 'a is damaged'),
        ([BROKEN, BUSY], StoreError, 'cannot read a'),
        ([BUSY, None], StoreError, 'cannot read a'),
    ],
)
def test_a_state_is_damaged_if_no_process_has_another_problem(
    monkeypatch, reported, kind, line
):
    monkeypatch.setattr(hosts, 'gather', lambda _: reported)
    with pytest.raises(StoreError, match=line) as caught:
        hosts.run_together(int)
    assert type(caught.value) is kind


@pytest.mark.parametrize('kind', [Damaged, StoreError])
def test_the_kind_of_an_error_is_kept(kind):
    def fail() -> None:
        raise kind('a is damaged')

    with pytest.raises(StoreError) as caught:
        hosts.run_together(fail)
    assert type(caught.value) is kind
