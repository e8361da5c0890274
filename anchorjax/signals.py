"""A wish to stop is a flag, raised by SIGTERM or SIGUSR2 and read where stopping is safe.

SIGTERM is what people, Kubernetes and most schedulers send; SIGUSR2 is submitit's on Slurm.
"""

import contextlib
import signal
from collections.abc import Callable, Iterator

ASKED = (signal.SIGTERM, signal.SIGUSR2)


class Preempted(Exception):
    """A stop was asked for; everything is saved and the same command continues."""


@contextlib.contextmanager
def flag() -> Iterator[Callable[[], bool]]:
    """Within it the signals only raise the flag; the handlers that were there come back after.

    Whoever started this process may have held them back until now (engine.Runner).
    """
    received: list[int] = []
    before = {s: signal.signal(s, lambda number, _: received.append(number)) for s in ASKED}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKED)
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
