"""The estimate of the time left, and the one line that shows it."""

import io
from typing import Any

import pytest
from jax.sharding import Mesh

from anchorjax.experiment import Experiment
from anchorjax.sweeps.cost import operations_per_step
from anchorjax.sweeps.plan import summarize_members
from anchorjax.sweeps.progress import Progress, ProgressLine, format_duration
from anchorjax.sweeps.run import run_sweep
from anchorjax.sweeps.trainer import Tick
from tests.support.sweeps import opened

DEPTHS = (('model.depth', (1, 2)),)
NUM_STEPS = 40
SECONDS_PER_OPERATION = 1e-6


def test_the_first_piece_of_a_cohort_gives_no_estimate():
    progress = Progress(total=100, total_operations=1000.0)
    assert progress.seconds_left is None
    progress.add_piece(1, operations=10.0, seconds=60.0, is_first=True)
    assert progress.seconds_left is None
    assert progress.rate == 0
    assert progress.done == 1


def test_the_time_left_is_that_of_the_operations_left():
    """Half of the member-steps are done, but only a quarter of the operations."""
    progress = Progress(total=20, total_operations=400.0)
    progress.add_piece(1, operations=10.0, seconds=60.0, is_first=True)
    progress.add_piece(9, operations=90.0, seconds=3.0, is_first=False)
    assert progress.done == 10
    assert progress.rate == pytest.approx(9 / 3.0)
    assert progress.seconds_left == pytest.approx(300.0 * 3.0 / 90.0)


def test_the_first_piece_of_a_later_cohort_changes_no_estimate_of_the_rate():
    progress = Progress(total=20, total_operations=400.0)
    progress.add_piece(10, operations=100.0, seconds=3.0, is_first=False)
    progress.add_piece(1, operations=30.0, seconds=60.0, is_first=True)
    assert progress.rate == pytest.approx(10 / 3.0)
    assert progress.seconds_left == pytest.approx(270.0 * 3.0 / 100.0)


def test_the_estimate_follows_the_latest_pieces():
    progress = Progress(total=1000, total_operations=1000.0)
    for _ in range(10):
        progress.add_piece(1, operations=1.0, seconds=9.0, is_first=False)
    for _ in range(100):
        progress.add_piece(1, operations=1.0, seconds=2.0, is_first=False)
    assert progress.seconds_left == pytest.approx(2.0 * 890)


class FakeTrainer:
    """Trains nothing, but tells the seconds that the operations would take.

    Its first piece takes a minute for one step: that is compilation.
    """

    def __init__(self, experiment: Experiment, mesh: Mesh, lanes: int):
        self._seconds_per_step = SECONDS_PER_OPERATION * operations_per_step(experiment)
        self._pieces = [1, 13, 13, 13]

    def train_chunk(
        self, folder: Any, hparams: Any, environment: int, tick: Tick, warn: Any
    ) -> float:
        step = 0
        for num_steps in self._pieces:
            step += num_steps
            seconds = 60.0 if num_steps == 1 else num_steps * self._seconds_per_step
            tick(step, num_steps, seconds)
        self._pieces = [20, 20]
        return 0.0


def test_the_estimates_of_a_sweep_of_two_depths_are_right(tmp_path, monkeypatch):
    folder, mesh = opened(tmp_path, loop=DEPTHS)
    assert folder.experiment.train.num_steps == NUM_STEPS
    monkeypatch.setattr('anchorjax.sweeps.run.get_trainer', FakeTrainer)
    monkeypatch.setattr('anchorjax.sweeps.run.require_fit', lambda *_: None)
    per_step = []
    for cohort in folder.experiment.cohorts():
        per_step.append(operations_per_step(folder.experiment.for_cohort(cohort)))
    assert per_step[1] > 1.5 * per_step[0]

    estimates, expected = [], []

    def note(progress: Progress) -> None:
        estimates.append(progress.seconds_left)
        left = progress.total_operations - progress.done_operations
        expected.append(left * SECONDS_PER_OPERATION)

    progress = run_sweep(folder, mesh, report=note)
    members_per_depth = 4
    assert progress.total == progress.done == 2 * members_per_depth * NUM_STEPS
    total_operations = members_per_depth * NUM_STEPS * sum(per_step)
    assert progress.total_operations == total_operations
    assert progress.done_operations == total_operations
    assert expected == sorted(expected, reverse=True)
    assert estimates[0] is None
    assert estimates[1:] == pytest.approx(expected[1:])


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of the progress line, to be set: [seconds]."""
    now = [1000.0]
    monkeypatch.setattr('anchorjax.sweeps.progress.time.monotonic', lambda: now[0])
    return now


def make_progress(done: int) -> Progress:
    return Progress(total=100, total_operations=1000.0, done=done, label='all')


def test_a_log_gets_a_line_every_30_seconds_and_the_last_one(clock):
    stream = io.StringIO()
    line = ProgressLine(stream)
    for done in range(1, 101):  # one second each
        line.update(make_progress(done))
        clock[0] += 1.0
    line.close()
    shares = [text.split()[0] for text in stream.getvalue().splitlines()]
    assert shares == ['1.0%', '31.0%', '61.0%', '91.0%', '100.0%']


def test_a_log_that_ends_at_once_still_gets_its_last_line(clock):
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.update(make_progress(99))
    line.update(make_progress(100))
    assert len(stream.getvalue().splitlines()) == 2
    assert 'time left unknown' in stream.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_that_is_rewritten(clock):
    stream = Terminal()
    line = ProgressLine(stream)
    for done in (1, 2, 3):
        line.update(make_progress(done))
    line.close()
    assert stream.getvalue().count('\r\x1b[K') == 3
    assert stream.getvalue().count('\n') == 1


def test_durations_are_shown_in_the_nearest_unit():
    assert format_duration(45) == '45 s'
    assert format_duration(12 * 60) == '12 min'
    assert format_duration(3.4 * 3600) == '3.4 h'


def test_the_table_of_the_anchor_task_has_its_own_headings(finished):
    heading = summarize_members(finished).splitlines()[0].split()
    axes = ['depth', 'gamma', 'seed']
    assert heading == [*axes, 'loss', 'held-out', 'inferential', 'symmetric']
