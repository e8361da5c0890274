"""How far a sweep is: counts kept by the host loop, and a line that shows them."""

import dataclasses
import sys
import time
from typing import NamedTuple, TextIO

_EVERY_IN_LOG = 30.0  # seconds between two lines if the output is not a terminal
_WINDOW = 20  # pieces of work from which rate and time left are estimated


class _Piece(NamedTuple):
    """Some steps of the members of a chunk, just trained."""

    member_steps: int
    operations: float
    seconds: float


@dataclasses.dataclass
class Progress:
    """The work of one call of `run_sweep`, in member-steps and in operations."""

    total: int  # member-steps
    total_operations: float
    done: int = 0  # member-steps, including those of earlier calls
    done_operations: float = 0.0
    trained: int = 0  # member-steps of this call
    seconds: float = 0.0  # that this call spent on training
    saving: float = 0.0  # seconds that this call spent on checkpoints
    label: str = ''  # what is being trained: a cohort and a chunk
    recent: list[_Piece] = dataclasses.field(default_factory=list)

    def add_earlier(self, member_steps: int, operations: float) -> None:
        """Counts what an earlier call trained."""
        self.done += member_steps
        self.done_operations += operations

    def add_piece(
        self, member_steps: int, operations: float, seconds: float, is_first: bool
    ) -> None:
        """Counts what was just trained.

        Args:
          is_first: the piece is the first of its cohort, usually a single step, whose
            time is mostly compilation. Counting it in the rate made the first estimate
            of a six-minute sweep "48.8 h left".
        """
        self.done += member_steps
        self.done_operations += operations
        self.trained += member_steps
        self.seconds += seconds
        if not is_first:
            self.recent.append(_Piece(member_steps, operations, seconds))
            del self.recent[:-_WINDOW]

    @property
    def rate(self) -> float:
        """Recent member-steps per second; 0 while it is not known."""
        seconds = sum(piece.seconds for piece in self.recent)
        member_steps = sum(piece.member_steps for piece in self.recent)
        return member_steps / seconds if seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at the recent rate of operations; None while it is not known."""
        seconds = sum(piece.seconds for piece in self.recent)
        operations = sum(piece.operations for piece in self.recent)
        if not operations:
            return None
        return (self.total_operations - self.done_operations) * seconds / operations


class ProgressLine:
    """One line, rewritten in place on a terminal and repeated every 30 s in a log."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = sys.stdout if stream is None else stream
        self._is_live = self._stream.isatty()
        self._next = 0.0

    def update(self, progress: Progress) -> None:
        """Shows the share done, what is being trained, the rate and the time left."""
        is_last = progress.done >= progress.total
        if not self._is_live and time.monotonic() < self._next and not is_last:
            return
        self._next = time.monotonic() + _EVERY_IN_LOG
        left = 'time left unknown'
        if progress.seconds_left is not None:
            left = f'{format_duration(progress.seconds_left)} left'
        share = progress.done / progress.total
        rate = f'{progress.rate:,.0f} member-steps/s'
        text = f'{share:6.1%}  {progress.label}  {rate}  {left}'
        self._stream.write(f'\r\x1b[K{text}' if self._is_live else f'{text}\n')
        self._stream.flush()

    def warn(self, line: str) -> None:
        """Prints a warning to standard error, on a line of its own."""
        if self._is_live:
            self._stream.write('\n')
            self._stream.flush()
        print(f'warning: {line}', file=sys.stderr)

    def close(self) -> None:
        """Ends the live line."""
        if self._is_live:
            self._stream.write('\n')


def format_duration(seconds: float) -> str:
    """'45 s', '12 min', '3.4 h', '12 days'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    if seconds < 5400:
        return f'{seconds / 60:.0f} min'
    if seconds < 48 * 3600:
        return f'{seconds / 3600:.1f} h'
    return f'{seconds / 86400:,.0f} days'
