"""Stop signals as a flag: the training loop saves and stops at its next check.

People, Kubernetes and most schedulers send SIGTERM; submitit sends SIGUSR2.
"""

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR2)

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
def catch_stop() -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether a stop signal has arrived in the block."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    with handle_signals(STOP_SIGNALS, note):
        yield lambda: bool(received)
