"""A wish to stop is a flag, raised by SIGTERM or SIGUSR2 and read where stopping is safe.

SIGTERM is what people, Kubernetes and most schedulers send; SIGUSR2 is submitit's on Slurm.
"""

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR2)


class Preempted(Exception):
    """A stop was asked for; everything is saved and the same command continues."""


@contextlib.contextmanager
def handle_signals(
    numbers: Iterable[int], handler: Callable[[int, Any], Any]
) -> Iterator[None]:
    """Within it the handler gets these signals; those that were there come back after."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextlib.contextmanager
def catch_stop() -> Iterator[Callable[[], bool]]:
    """Within it the signals only raise the flag.

    Whoever started this process may have held them back until now (engine.Runner).
    """
    received: list[int] = []
    with handle_signals(STOP_SIGNALS, lambda number, _: received.append(number)):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        yield lambda: bool(received)
