"""Whatever asks a sweep to stop: it saves, and goes on later with the same bits."""

import os
import pathlib
import signal
from collections.abc import Callable, Iterator

import pytest

from anchorjax import api
from anchorjax.storage import checkpoint
from anchorjax.sweeps import signals
from anchorjax.sweeps.jobs import read_jobs
from anchorjax.sweeps.progress import Progress
from tests.support.faults import ONE
from tests.support.sweeps import bits, trained

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2]


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """No signal is ignored, as it may be where these tests run."""
    with (
        signals.handle_signals(NUMBERS, signal.SIG_DFL),
        signals.handle_signals([signal.SIGINT], signal.default_int_handler),
    ):
        yield


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time that the handlers see, in an only item."""
    now = [100.0]
    monkeypatch.setattr(signals.time, 'monotonic', lambda: now[0])
    return now


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize('number', NUMBERS)
def test_the_first_signal_is_a_request_and_so_is_its_echo(clock, number):
    before = signal.getsignal(number)
    with signals.catch_stop() as must_stop:
        assert not must_stop()
        send(number)
        assert must_stop()
        clock[0] += 0.1
        send(number)
        assert must_stop()
    assert signal.getsignal(number) is before


@pytest.mark.parametrize('second', NUMBERS)
def test_a_second_signal_does_at_once_what_it_does_elsewhere(clock, second):
    class Ended(BaseException):
        pass

    def end(*_: object) -> None:
        raise Ended

    with (
        signals.handle_signals(NUMBERS, end),
        pytest.raises(Ended),
        signals.catch_stop(),
    ):
        send(signal.SIGTERM)
        clock[0] += 5.0
        send(second)


@pytest.mark.parametrize('number', NUMBERS)
def test_a_signal_that_is_ignored_stays_ignored(number):
    """As SIGHUP under nohup, and SIGINT in the background of a script."""
    with (
        signals.handle_signals([number], signal.SIG_IGN),
        signals.catch_stop() as must_stop,
    ):
        send(number)
        assert not must_stop()


def stop_at(number: int, step: int) -> Callable[[Progress], None]:
    """A report that sends a signal at a step."""

    def report(progress: Progress) -> None:
        if progress.done == step:
            send(number)

    return report


def find_states(workdir: pathlib.Path) -> list[int]:
    return checkpoint.list_steps(workdir / 'cohorts/all/chunk_0000/resume')


def test_ctrl_c_in_a_notebook_saves_and_the_same_call_resumes(one_member, tmp_path):
    seldom = {'train__resume_every': 1e9}  # nothing else is due
    for step in (10, 30):
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path, report=stop_at(signal.SIGINT, step), **ONE, **seldom)
        assert find_states(tmp_path)[-1] == step
        (job,) = read_jobs(tmp_path)
        assert job.state == 'preempted'
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    warnings = []
    trained(tmp_path, warn=warnings.append, **ONE, **seldom)
    assert not warnings
    assert bits(tmp_path) == bits(one_member)


def test_ctrl_c_at_the_last_step_ends_the_callers_loop_too(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, report=stop_at(signal.SIGINT, 40), **ONE)
    assert bool(api.open(tmp_path).results.trained.all())


def test_what_is_due_is_saved_before_it_is_reported(tmp_path):
    def fail(progress: Progress) -> None:
        raise AttributeError('isatty')

    for step in (10, 20):
        with pytest.raises(AttributeError):
            trained(tmp_path, report=fail, **ONE)
        assert find_states(tmp_path)[-1] == step
