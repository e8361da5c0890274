"""Supervisors of shard_stub.py, and what its processes left behind."""

import pathlib
import re
import sys

from anchorjax.cluster.supervisor import Supervisor
from anchorjax.sweeps.shards import Shard
from tests.support.shards.waiting import find_number, read_text

STUB = pathlib.Path(__file__).with_name('shard_stub.py')


def make_supervisors(
    folder: pathlib.Path,
    count: int,
    *words: str,
    retries: int = 0,
    grace: float = 10.0,
) -> list[Supervisor]:
    """One for each of `count` shards; `words` go to the stub."""
    command = [sys.executable, str(STUB), f'--workdir={folder}', *words]
    supervisors = []
    for index in range(count):
        shard = Shard(index, count)
        log = folder / f'{shard.name}.log'
        supervisor = Supervisor(
            command, shard, log, retries=retries, grace=grace, pause=0
        )
        supervisors.append(supervisor)
    return supervisors


def count_starts(folder: pathlib.Path, index: int) -> int:
    """How often the stub of a shard was started."""
    return len(read_text(folder / f'starts_{index}'))


def read_state(folder: pathlib.Path, index: int) -> int:
    """The step that a shard has saved."""
    return int(read_text(folder / f'state_{index}'))


def list_first_steps(supervisor: Supervisor) -> list[int]:
    """The step at which each start of a shard began."""
    found = re.findall(r'^step (\d+)', read_text(supervisor.log), re.MULTILINE)
    return [int(step) for step in found]


def find_child(supervisor: Supervisor) -> int | None:
    """The process of a running stub, once it handles signals."""
    return find_number(r'in process (\d+)', supervisor.log)


def find_keeper(supervisor: Supervisor) -> int | None:
    """The process that supervises a stub, once the stub handles signals."""
    if not find_child(supervisor):
        return None
    return find_number(r'kept by process (\d+)', supervisor.log)
