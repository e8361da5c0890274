"""What every shard of a sweep is doing.

Whether a job still runs is decided by its lock, not by what its file says.
"""

import operator
import pathlib
from typing import NamedTuple

from anchorjax.cluster.job_files import Job, log_path, read_jobs
from anchorjax.errors import brief
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.sweeps.shards import Shard, list_costs, partition

_TAIL_LINES = 5
_TAIL_BYTES = 8192


class Status(NamedTuple):
    """A shard as `launch/status.py` shows it."""

    shard: Shard
    state: str  # of Job, or 'lost' (it ended without a report), or 'not started'
    share: float  # of its member-steps that are done
    job: Job | None
    log: list[str]  # its last lines, if it failed or was lost


def count_waiting(workdir: pathlib.Path) -> int:
    """How many jobs wait in a queue."""
    return sum(job.state == 'waiting' for job in read_jobs(workdir))


def list_statuses(folder: SweepFolder) -> list[Status]:
    """All shards of the newest division, then running jobs of other divisions."""
    jobs = sorted(read_jobs(folder.workdir), key=operator.attrgetter('started'))
    count = jobs[-1].shard[1] if jobs else 1
    shards = [Shard(index, count) for index in range(count)]
    for job in jobs:
        if job.shard[1] != count and _is_running(folder.workdir, job):
            shards.append(Shard(*job.shard))

    job_of_shard = {job.shard: job for job in jobs}
    costs = list_costs(folder)
    statuses = []
    for shard in shards:
        chunks = [folder.chunks[index] for index in partition(costs, shard)]
        job = job_of_shard.get(shard)
        statuses.append(_find_status(folder.workdir, shard, chunks, job))
    return statuses


def _find_status(
    workdir: pathlib.Path, shard: Shard, chunks: list[Chunk], job: Job | None
) -> Status:
    num_members = num_done = 0
    for chunk in chunks:
        num_members += chunk.num_members
        if chunk.folder.done:
            num_done += chunk.num_members
    share = num_done / num_members if num_members else 1.0

    state = job.state if job else 'not started'
    if num_done == num_members:
        state = 'done'
    elif job and _is_running(workdir, job):
        state = 'running'
        if job.total:
            share = job.done / job.total
    elif state in ('running', 'done'):
        state = 'lost'

    log = []
    if state in ('failed', 'lost'):
        log = _read_last_lines(log_path(workdir, shard))
    return Status(shard, state, share, job, log)


def _is_running(workdir: pathlib.Path, job: Job) -> bool:
    return locks.find_holder(workdir, range(*job.chunks)) is not None


def _read_last_lines(path: pathlib.Path) -> list[str]:
    if not path.exists():
        return []
    with open(path, 'rb') as f:
        f.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        text = f.read().decode(errors='replace')
    lines = [brief(line) for line in text.splitlines() if line.strip()]
    return lines[-_TAIL_LINES:]
