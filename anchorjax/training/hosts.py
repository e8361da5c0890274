"""Several processes as one program (`jax.distributed`): who writes, and how all decide alike.

Every process runs the same loop over the same global mesh. Whatever they decide (to stop, to
save, which state is damaged) must be decided by all, or the next collective waits for ever.
With a single process everything here is trivial and free.
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

_SILENCE = 60  # seconds after which a process that is not heard of ends the others too


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
):
    """Joins the other processes; before anything touches a device.

    Without arguments JAX finds out by itself: Slurm, Kubernetes, Cloud TPU, Open MPI.

    Raises:
      UserError: no cluster is recognized, or the others do not answer.
    """
    jax.config.update('jax_cpu_collectives_implementation', 'gloo')
    # Stopping is our own affair (signals.py): JAX's handler would swallow the signal.
    jax.config.update('jax_enable_preemption_service', False)
    try:
        jax.distributed.initialize(
            coordinator, processes, process, heartbeat_timeout_seconds=_SILENCE
        )
    except (ValueError, RuntimeError) as e:
        told = str(e).splitlines()[0]
        raise UserError(
            f'--distributed: {told} (or give --coordinator HOST:PORT)'
        ) from e


def is_first() -> bool:
    """Whether this is the process that writes what is written once."""
    return jax.process_index() == 0


def gather(value: Any) -> list:
    """The (JSON) value of every process, in their order; all must call it."""
    if jax.process_count() == 1:
        return [value]
    data = np.frombuffer(json.dumps(value).encode(), np.uint8)
    sizes = multihost_utils.process_allgather(np.int32(len(data)))
    padded = np.zeros(
        1 << int(sizes.max() - 1).bit_length(), np.uint8
    )  # few shapes to compile
    padded[: len(data)] = data
    rows = multihost_utils.process_allgather(padded)
    return [
        json.loads(row[:size].tobytes()) for row, size in zip(rows, sizes, strict=True)
    ]


def broadcast(value: Any) -> Any:
    """What process 0 says."""
    return gather(value)[0]


def any_host(wish: bool) -> bool:
    """Whether any process says so."""
    return any(gather(bool(wish)))


def run_together(action: Callable[[], Any]) -> Any:
    """Every process acts; when one fails, all raise its StoreError."""
    result, problem = None, None
    try:
        result = action()
    except (UserError, OSError) as e:
        problem = str(e)
    for told in gather(problem):
        if told is not None:
            raise StoreError(told)
    return result


def run_on_first(action: Callable[[], Any]) -> None:
    """Process 0 acts and the others wait; its failure is everyone's."""
    run_together(action if is_first() else lambda: None)


@contextlib.contextmanager
def silence_others() -> Iterator[None]:
    """Within it only process 0 is heard on standard output."""
    with contextlib.ExitStack() as stack:
        if not is_first():
            silent = stack.enter_context(open(os.devnull, 'w'))
            stack.enter_context(contextlib.redirect_stdout(silent))
        yield
