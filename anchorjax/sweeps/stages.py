"""Stages of work in a fixed order, within a limited time; the same call continues.

A stage is made of pieces. Every piece skips what is already done, and raises Preempted
once it is asked to stop and has saved.
"""

import pathlib
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple

from anchorjax.errors import StoreError, UserError, brief
from anchorjax.experiment import Experiment
from anchorjax.storage.checkpoint import list_steps
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.ledger import DONE, FAILED, STOPPED, WAITING, Entry, Ledger
from anchorjax.sweeps.signals import Preempted

ShouldStop = Callable[[], bool]
Piece = Callable[[ShouldStop], None]


class Amount(NamedTuple):
    """How much of a stage is done, as its files say."""

    done: int  # member-steps, or rows
    total: int
    members: str = ''  # those trained to the end, e.g. '9 of 54'
    problem: str = ''  # why its files do not say it, and `done` is 0


class Stage(NamedTuple):
    """A part of the work, in pieces that are done in order."""

    name: str
    pieces: Sequence[Piece]
    measure: Callable[[], Amount]
    # Member-steps a second of training, as far as this process knows; 0: not known.
    rate: Callable[[], float]
    operations: float = 0.0  # of the whole stage

    @property
    def is_done(self) -> bool:
        """Whether nothing is left, according to its files."""
        amount = self.measure()
        return amount.done >= amount.total


class Budget:
    """The time that this process has, and whether somebody asked it to stop.

    Args:
      seconds: until everything must be saved and copied.
      reserve: seconds of these that are kept for saving and copying. A piece begins
        only if another `reserve` is left, because compilation cannot be interrupted.
      is_requested: tells whether a signal asked to stop.
      clock: gives the time in seconds.
    """

    def __init__(
        self,
        seconds: float,
        reserve: float,
        is_requested: ShouldStop,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._is_requested = is_requested
        self._clock = clock
        self._last_second = clock() + seconds - reserve
        self._last_start = self._last_second - reserve

    def is_over(self) -> bool:
        """Whether the work must stop and save now."""
        return self._is_requested() or self._clock() >= self._last_second

    def is_too_late(self) -> bool:
        """Whether no further piece should begin."""
        return self._is_requested() or self._clock() >= self._last_start


def run_stages(
    stages: Sequence[Stage],
    budget: Budget,
    ledger: Ledger,
    device: str,
    keep: Callable[[], None],
) -> bool:
    """Does the stages in order, until each had its turn or the budget is over.

    A stage that fails, or whose amount cannot be measured, is reported on standard
    error and recorded; the next one goes on. The next call does it again even if all
    its members are trained: it may have failed after that, as it wrote its tables.

    Args:
      ledger: gets the state of every stage that had its turn or was stopped.
      device: the name of the device, for the ledger.
      keep: called after every piece, and when a stage stops or fails. What it raises
        after a piece counts as a failure of the stage; otherwise it ends the call.

    Returns:
      Whether every stage had its turn; False if the budget was over before that.
    """
    for stage in stages:
        entry = ledger.setdefault(stage.name, Entry())
        try:
            if stage.is_done and entry.state in (DONE, WAITING):
                entry.state = DONE
                continue
            if budget.is_too_late():
                return False
            entry.state = STOPPED
            entry.message = ''
            entry.device = device
            for piece in stage.pieces:
                if budget.is_too_late():
                    raise Preempted
                _run_piece(stage, piece, budget, entry)
                keep()
            entry.state = DONE
        except Preempted:
            keep()
            return False
        except Exception as e:  # a bug in one stage must not cost the others their time
            entry.state = FAILED
            entry.message = describe_error(e)
            print(f'{stage.name} failed: {entry.message}', file=sys.stderr)
            keep()
    return True


def measure_sweep(experiment: Experiment, workdir: pathlib.Path) -> Amount:
    """How much of a sweep is trained and saved, begun or not.

    If its folder is damaged nothing is known of it, and the amount has the problem.
    """
    num_members = sum(cohort.size for cohort in experiment.cohorts())
    steps = experiment.train.num_steps
    total = num_members * steps
    chunks = ()
    try:
        if (workdir / MANIFEST_FILE).exists():
            chunks = read_folder(workdir).chunks
    except StoreError as e:
        return Amount(0, total, f'? of {num_members}', describe_error(e))
    trained = done = 0
    for chunk in chunks:
        saved = list_steps(chunk.folder.path / 'resume')
        if chunk.folder.done:
            trained += chunk.num_members
            done += chunk.num_members * steps
        elif saved:
            done += chunk.num_members * saved[-1]
    return Amount(done, total, f'{trained} of {num_members}')


def describe_error(e: Exception) -> str:
    """One line for the table; for what no user can cause, also where it happened."""
    text = ' '.join(str(e).split()).replace('|', '/')
    if isinstance(e, UserError | OSError):
        return brief(text)
    frame = traceback.extract_tb(e.__traceback__)[-1]
    where = pathlib.Path(frame.filename).name
    return brief(f'{type(e).__name__}: {text} ({where}, line {frame.lineno})')


def _run_piece(stage: Stage, piece: Piece, budget: Budget, entry: Entry) -> None:
    """Runs a piece; its time counts, however it ends."""
    started = time.monotonic()
    try:
        piece(budget.is_over)
    finally:
        entry.seconds += time.monotonic() - started
        entry.rate = stage.rate() or entry.rate
