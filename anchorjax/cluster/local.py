"""Shards as processes of this machine, a few at a time: a thread and a child for each.

submitit's local executor is not used. It would add two Python processes to each shard
(65 MB, about a second to start), has no queue, hides all GPUs that it does not assign,
and kills its jobs one second after Ctrl-C.
"""

import os
import pathlib
import queue
import signal
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

from anchorjax.cluster.supervisor import ShardFailed, Supervisor
from anchorjax.errors import UserError
from anchorjax.sweeps.signals import STOP_SIGNALS, handle_signals

_DRIVER_FOLDER = pathlib.Path('/proc/driver/nvidia/gpus')  # one entry for each GPU
# Without that folder, one of these says that there are GPUs, but not how many: NVIDIA's
# in some containers, on Jetson and in WSL 2, and AMD's.
_DEVICE_FILES = ('/dev/nvidiactl', '/dev/nvmap', '/dev/dxg', '/dev/kfd')
_NO_GPU = ('', '-1', 'NoDevFiles')  # what CUDA_VISIBLE_DEVICES says instead of a GPU


def run_local(supervisors: list[Supervisor], slots: int, gpus: int) -> list[str]:
    """Runs shards, `slots` at a time; returns one line for each that failed.

    Args:
      gpus: how many each slot gets, of those this process sees; with 0 all shards see
        all of them.

    Raises:
      UserError: there are fewer GPUs than the slots need; nothing was started.
      Preempted: SIGTERM, SIGUSR2 or Ctrl-C came; all running shards have saved.
    """
    _require_gpus(min(slots, len(supervisors)), gpus)
    free_slots: queue.SimpleQueue[int] = queue.SimpleQueue()
    for slot in range(slots):
        free_slots.put(slot)

    def run_one(supervisor: Supervisor) -> str:
        slot = free_slots.get()
        supervisor.environment = assign_gpus(slot, gpus)
        try:
            supervisor.run()
        except ShardFailed as e:
            return str(e)
        except OSError as e:  # the log cannot be written, or the command not started
            return f'{supervisor.name}: {e}'
        finally:
            free_slots.put(slot)
        return ''

    def stop_all(number: int, frame: FrameType | None) -> None:
        for supervisor in supervisors:
            supervisor.stop()

    with (
        handle_signals((*STOP_SIGNALS, signal.SIGINT), stop_all),
        ThreadPoolExecutor(slots) as pool,
    ):
        lines = list(pool.map(run_one, supervisors))
    return list(filter(None, lines))


def assign_gpus(slot: int, gpus: int) -> dict[str, str]:
    """The environment variable that shows a slot its own GPUs."""
    if not gpus:
        return {}
    first, last = slot * gpus, (slot + 1) * gpus
    names = _list_gpus()
    if names is None:
        names = list(map(str, range(last)))
    return {'CUDA_VISIBLE_DEVICES': ','.join(names[first:last])}


def _require_gpus(slots: int, gpus: int) -> None:
    """Raises UserError if a slot would get fewer GPUs, and so train on the CPU."""
    names = _list_gpus()
    if names is not None and slots * gpus > len(names):
        raise UserError(
            f'--max_parallel * --gpus = {slots} * {gpus}: must be at most '
            f'{len(names)}, the number of GPUs that this process sees'
        )


def _list_gpus() -> list[str] | None:
    """The GPUs that this process sees, as CUDA names them; None: some, not known."""
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is not None:
        return [name for name in visible.split(',') if name not in _NO_GPU]
    if _DRIVER_FOLDER.is_dir():
        return list(map(str, range(len(list(_DRIVER_FOLDER.iterdir())))))
    return None if any(map(os.path.exists, _DEVICE_FILES)) else []
