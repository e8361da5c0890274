"""Stop signals as a flag: the training loop saves and stops at its next check.

People press Ctrl-C (SIGINT) or close the terminal (SIGHUP); they, Kubernetes and most
schedulers send SIGTERM; submitit sends SIGUSR2.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

OF_SCHEDULERS = (signal.SIGTERM, signal.SIGUSR2)
STOP_SIGNALS = (*OF_SCHEDULERS, signal.SIGINT, signal.SIGHUP)
# Seconds in which a second signal is the same request: a terminal that is closed sends
# SIGHUP twice, and a launcher passes on a Ctrl-C that all its processes got.
_SAME = 1.0

Handler = Callable[[int, FrameType | None], object]


class Preempted(Exception):
    """A stop was requested; everything is saved and the same command continues."""


@contextlib.contextmanager
def handle_signals(
    numbers: Iterable[int], handler: Handler | signal.Handlers
) -> Iterator[None]:
    """Inside the block, these signals go to the handler; afterwards as before."""
    former = {}
    for number in numbers:
        former[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in former.items():
            signal.signal(number, old)


@contextlib.contextmanager
def catch_stop(
    numbers: Iterable[int] = STOP_SIGNALS,
) -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether a stop signal has arrived in the block.

    A second one does what it does outside the block: it ends the process at once. One
    that is ignored, as SIGHUP under nohup, stays so.
    """
    former = {number: signal.getsignal(number) for number in numbers}
    caught = [number for number in former if former[number] != signal.SIG_IGN]
    first: float | None = None

    def note(number: int, _: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if first is None:
            first = now
        elif now - first >= _SAME:
            signal.signal(number, former[number])
            signal.raise_signal(number)

    with handle_signals(caught, note):
        yield lambda: first is not None


@contextlib.contextmanager
def catch_interrupt() -> Iterator[Callable[[], bool]]:
    """`catch_stop` of Ctrl-C, or a notebook's stop button, where nobody else does."""
    is_main = threading.current_thread() is threading.main_thread()
    is_free = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_main and is_free:
        with catch_stop((signal.SIGINT,)) as is_interrupted:
            yield is_interrupted
    else:
        yield lambda: False
