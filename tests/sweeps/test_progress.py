"""The estimate of the time left, and the bar that shows it."""

import io

import pytest

from anchorjax.sweeps.progress import Progress, ProgressBar


def test_the_time_left_is_that_of_the_operations_left():
    """Half of the member-steps are done, but only a quarter of the operations."""
    progress = Progress(total=20, total_operations=400.0)
    assert progress.seconds_left is None and progress.rate == 0
    progress.add_piece(10, operations=10.0, seconds=3.0)
    assert progress.rate == pytest.approx(10 / 3.0)
    assert progress.seconds_left == pytest.approx(300.0 * 3.0 / 100.0)


def test_the_estimate_follows_the_latest_pieces():
    progress = Progress(total=1000, total_operations=1000.0)
    progress.add_earlier(100, operations=1.0)  # by an earlier call, at another rate
    for seconds in (9.0,) * 10 + (2.0,) * 100:
        progress.add_piece(1, operations=1.0, seconds=seconds)
    assert progress.seconds_left == pytest.approx(2.0 * 790)


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of the bar, to be set: [seconds]."""
    now = [1000.0]
    monkeypatch.setattr('anchorjax.sweeps.progress.time.monotonic', lambda: now[0])
    return now


def make_progress(done: int) -> Progress:
    progress = Progress(total=1000, total_operations=1000.0, label='all', loss=0.5)
    progress.add_piece(done, operations=1.0, seconds=done)
    return progress


def test_a_log_gets_its_first_line_late_then_every_three_minutes_and_the_last(clock):
    """The first steps are slow: a line about them would overestimate the time left."""
    stream = io.StringIO()
    bar = ProgressBar(stream)
    clock[0] += 60.0  # compiles
    for done in range(1, 1001):  # one second each
        bar.update(make_progress(done))
        clock[0] += 1.0
    bar.close()
    lines = stream.getvalue().splitlines()
    shares = [line.split()[0] for line in lines]
    assert shares == ['1.1%', '19.1%', '37.1%', '55.1%', '73.1%', '91.1%', '100.0%']
    assert lines[1].split(maxsplit=1)[1] == (
        'all  loss 0.5, 1 member-steps/s, 13 min left'
    )
