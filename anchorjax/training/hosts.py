"""Several processes as one program: who writes, and how all decide the same.

Every process runs the same loop over the same global mesh. All must make the same
decisions (to stop, to save, which state is damaged), or the next collective operation
waits forever. With a single process, everything here is trivial and free.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from anchorjax.errors import (
    CliError,
    CorruptFileError,
    StoreError,
    StoreUnavailable,
    TemporaryError,
    UserError,
    is_temporary,
)

_HEARTBEAT_TIMEOUT = 60  # seconds of silence from a process until the others end
# What all processes raise if any of them failed: the first of these that occurred.
_KINDS = {
    'refused': StoreError,
    'unavailable': StoreUnavailable,
    'damaged': CorruptFileError,
}


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
) -> None:
    """Joins the other processes; call it before anything uses a device.

    Without arguments JAX finds them, on Slurm, Kubernetes, Cloud TPU or Open MPI.

    Args:
      coordinator: HOST:PORT of process 0.
      processes: how many there are.
      process: the index of this one.

    Raises:
      UserError: no cluster is recognized.
      TemporaryError: the others do not answer in time.
    """
    jax.config.update('jax_cpu_collectives_implementation', 'gloo')
    # JAX's handler would swallow the signals that sweeps/signals.py waits for.
    jax.config.update('jax_enable_preemption_service', False)
    try:
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            heartbeat_timeout_seconds=_HEARTBEAT_TIMEOUT,
        )
    except ValueError as e:
        reason = _first_line(e)
        raise UserError(
            f'--distributed: {reason} (or give --coordinator HOST:PORT)'
        ) from e
    except RuntimeError as e:
        # Not bad input: the others may start late, so a supervisor tries again.
        raise TemporaryError(f'--distributed: {_first_line(e)}') from e


def is_first() -> bool:
    """Whether this is process 0, which writes what only one may write."""
    return jax.process_index() == 0


def gather(value: Any) -> list:
    """The values of all processes, in order; plain JSON. All processes must call it."""
    if jax.process_count() == 1:
        return [value]
    data = np.frombuffer(json.dumps(value).encode(), np.uint8)
    sizes = multihost_utils.process_allgather(np.int32(len(data)))
    # Padded to a power of two, so that few shapes are compiled.
    padded = np.zeros(1 << int(sizes.max() - 1).bit_length(), np.uint8)
    padded[: len(data)] = data
    rows = multihost_utils.process_allgather(padded)
    values = []
    for row, size in zip(rows, sizes, strict=True):
        values.append(json.loads(row[:size].tobytes()))
    return values


def fetch_everywhere(tree: Any) -> Any:
    """Whole arrays as NumPy copies, of arrays whose parts lie on several processes."""
    return multihost_utils.process_allgather(tree, tiled=True)


def broadcast(value: Any) -> Any:
    """The value of process 0, on every process."""
    return gather(value)[0]


def run_together(action: Callable[[], Any]) -> Any:
    """Runs the action on every process and returns its result.

    Raises:
      StoreError: on all processes, if a UserError or OSError was raised on any. It is
        CorruptFileError only if every process that failed raised that, and
        StoreUnavailable if another try may help all of them.
    """
    result, problem = None, None
    try:
        result = action()
    except (CliError, OSError) as e:
        problem = (str(e), _find_kind(e))
    problems = [reported for reported in gather(problem) if reported is not None]
    for kind, error in _KINDS.items():
        for line, found in problems:
            if found == kind:
                raise error(line)
    return result


def run_on_first(action: Callable[[], Any]) -> None:
    """Runs the action on process 0 while the others wait; errors as `run_together`."""

    def run_or_wait() -> None:
        if is_first():
            action()

    run_together(run_or_wait)


@contextlib.contextmanager
def silence_others() -> Iterator[None]:
    """Inside the block, only process 0 prints to standard output."""
    if is_first():
        yield
        return
    with (
        open(os.devnull, 'w', encoding='utf-8') as devnull,
        contextlib.redirect_stdout(devnull),
    ):
        yield


def _find_kind(e: Exception) -> str:
    if isinstance(e, CorruptFileError):
        return 'damaged'
    return 'unavailable' if is_temporary(e) else 'refused'


def _first_line(e: Exception) -> str:
    return (str(e) or type(e).__name__).splitlines()[0]
