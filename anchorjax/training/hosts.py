"""Several processes as one program: who writes, and how all decide alike.

Every process runs the same loop over the same global mesh. Whatever they decide (to
stop, to save, which state is damaged) must be decided by all of them, or the next
collective operation waits forever. With a single process everything here is trivial and
free.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from anchorjax.errors import StoreError, UserError

_HEARTBEAT_TIMEOUT = 60  # seconds of silence of one process that end the others too


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
) -> None:
    """Joins the other processes; call it before anything touches a device.

    Without arguments JAX finds them itself: Slurm, Kubernetes, Cloud TPU, Open MPI.

    Raises:
      UserError: no cluster is recognized, or the others do not answer.
    """
    jax.config.update('jax_cpu_collectives_implementation', 'gloo')
    # We handle stops ourselves (sweeps/signals.py): JAX's handler would swallow the
    # signal.
    jax.config.update('jax_enable_preemption_service', False)
    try:
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            heartbeat_timeout_seconds=_HEARTBEAT_TIMEOUT,
        )
    except (ValueError, RuntimeError) as e:
        reason = str(e).splitlines()[0]
        raise UserError(
            f'--distributed: {reason} (or give --coordinator HOST:PORT)'
        ) from e


def is_first() -> bool:
    """Whether this process writes what is written once."""
    return jax.process_index() == 0


def gather(value: Any) -> list:
    """The (JSON) value of every process, in their order; all must call it."""
    if jax.process_count() == 1:
        return [value]
    data = np.frombuffer(json.dumps(value).encode(), np.uint8)
    sizes = multihost_utils.process_allgather(np.int32(len(data)))
    # A power of two, so that few shapes are compiled.
    padded = np.zeros(1 << int(sizes.max() - 1).bit_length(), np.uint8)
    padded[: len(data)] = data
    rows = multihost_utils.process_allgather(padded)
    values = []
    for row, size in zip(rows, sizes, strict=True):
        values.append(json.loads(row[:size].tobytes()))
    return values


def broadcast(value: Any) -> Any:
    """The value of process 0, on every process."""
    return gather(value)[0]


def any_host(condition: bool) -> bool:
    """Whether the condition holds on any process."""
    return any(gather(bool(condition)))


def run_together(action: Callable[[], Any]) -> Any:
    """Every process runs the action; when one fails, all raise its StoreError."""
    result, problem = None, None
    try:
        result = action()
    except (UserError, OSError) as e:
        problem = str(e)
    for reported in gather(problem):
        if reported is not None:
            raise StoreError(reported)
    return result


def run_on_first(action: Callable[[], Any]) -> None:
    """Process 0 runs the action while the others wait; its failure is everyone's."""

    def run_or_wait() -> None:
        if is_first():
            action()

    run_together(run_or_wait)


@contextlib.contextmanager
def silence_others() -> Iterator[None]:
    """Inside it only process 0 prints to standard output."""
    if is_first():
        yield
        return
    with open(os.devnull, 'w') as devnull, contextlib.redirect_stdout(devnull):
        yield
