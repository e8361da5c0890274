"""How far a sweep is: counts kept by the host loop, and a bar that shows them."""

import dataclasses
import sys
import time
from collections.abc import Iterable
from typing import TextIO

import numpy as np
from tqdm import tqdm

from anchorjax.experiment import Experiment
from anchorjax.storage.sweep_folder import Chunk
from anchorjax.sweeps.cost import count_step

_EVERY_IN_LOG = 180.0  # seconds between two lines if the output is not a terminal
_FIRST_IN_LOG = 10.0  # of training before the first: the first steps are slow
_WINDOW = 20  # pieces of work from which rate and time left are estimated
_COLUMNS = 80


@dataclasses.dataclass
class Progress:
    """The work of one call of `run_sweep`, in member-steps and in operations.

    The time left is that of the operations: a step of a deep cohort takes longer.
    """

    total: int  # member-steps
    total_operations: float
    done: int = 0  # member-steps, including those of earlier calls
    done_operations: float = 0.0
    label: str = ''  # what is being trained: a cohort and a chunk
    loss: float = np.nan  # mean since the last record, of those that did not diverge
    held_out: float = np.nan  # accuracy of all members at the last record
    # (member-steps, operations, seconds) of the newest pieces of work
    recent: list[tuple[int, float, float]] = dataclasses.field(default_factory=list)

    def add_earlier(self, member_steps: int, operations: float) -> None:
        """Counts what an earlier call trained."""
        self.done += member_steps
        self.done_operations += member_steps * operations

    def add_piece(self, member_steps: int, operations: float, seconds: float) -> None:
        """Counts what was just trained, with the operations of one member-step."""
        self.add_earlier(member_steps, operations)
        self.recent.append((member_steps, member_steps * operations, seconds))
        del self.recent[:-_WINDOW]

    @property
    def rate(self) -> float:
        """Recent member-steps per second; 0 while it is not known."""
        member_steps, _, seconds = self._sum_recent()
        return member_steps / seconds if seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at the recent rate of operations; None while it is not known."""
        _, operations, seconds = self._sum_recent()
        if not operations:
            return None
        return (self.total_operations - self.done_operations) * seconds / operations

    def _sum_recent(self) -> tuple[float, float, float]:
        sums = np.sum(self.recent, axis=0) if self.recent else (0.0, 0.0, 0.0)
        steps, operations, seconds = map(float, sums)
        return steps, operations, seconds


def count_progress(
    experiment: Experiment, work: Iterable[Chunk], waiting: Iterable[Chunk]
) -> Progress:
    """The progress of some chunks before any of them is trained in this call."""
    steps = experiment.train.num_steps
    per_step = {}
    for name, of_cohort in experiment.of_cohorts.items():
        per_step[name] = count_step(of_cohort).operations

    def count(chunks: Iterable[Chunk]) -> tuple[int, float]:
        member_steps, operations = 0, 0.0
        for chunk in chunks:
            member_steps += chunk.num_members * steps
            operations += chunk.num_members * steps * per_step[chunk.cohort.name]
        return member_steps, operations

    total, total_operations = count(work)
    left, left_operations = count(waiting)
    return Progress(
        total=total,
        total_operations=total_operations,
        done=total - left,
        done_operations=total_operations - left_operations,
    )


class ProgressBar:
    """A bar of 80 columns on a terminal; a line every three minutes in a log."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = sys.stdout if stream is None else stream
        self._bar: tqdm | None = None
        self._next: float | None = None  # when a line is due; None: nothing is trained

    def update(self, progress: Progress) -> None:
        """Shows the share done, loss, held-out accuracy, rate and time left."""
        if self._stream.isatty():
            self._draw_bar(progress)
            return
        now = time.monotonic()
        if self._next is None:  # not from the start: compiling may take a minute
            self._next = now + _FIRST_IN_LOG
        is_last = progress.done >= progress.total
        if now >= self._next or is_last:
            self._next = now + _EVERY_IN_LOG
            share = progress.done / progress.total
            line = f'{share:6.1%}  {progress.label}  {_describe(progress)}'
            print(line, file=self._stream, flush=True)

    def _draw_bar(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = tqdm(
                total=progress.total,
                file=self._stream,
                ncols=_COLUMNS,
                bar_format='{percentage:3.0f}%|{bar}|{postfix}',
            )
        self._bar.n = progress.done
        self._bar.set_postfix_str(_describe(progress))  # draws

    def warn(self, line: str) -> None:
        """Prints a warning to standard error, on a line of its own."""
        self.close()
        print(f'warning: {line}', file=sys.stderr)

    def close(self) -> None:
        """Leaves the bar as it is; the next update draws a new one below."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _describe(progress: Progress) -> str:
    """'loss 0.012, held-out 0.97, 310 member-steps/s, 12 min left'."""
    parts = [f'loss {progress.loss:.3g}']
    if np.isfinite(progress.held_out):
        parts.append(f'held-out {progress.held_out:.2f}')
    parts.append(f'{progress.rate:,.0f} member-steps/s')
    if progress.seconds_left is not None:
        parts.append(f'{format_duration(progress.seconds_left)} left')
    return ', '.join(parts)


def format_duration(seconds: float) -> str:
    """'45 s', '12 min', '3.4 h', '12 days'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    if seconds < 5400:
        return f'{seconds / 60:.0f} min'
    if seconds < 48 * 3600:
        return f'{seconds / 3600:.1f} h'
    return f'{seconds / 86400:,.0f} days'
