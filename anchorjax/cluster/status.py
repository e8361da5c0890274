"""What every shard of a sweep is doing.

Whether a job still runs is decided by its lock, not by what its file says.
"""

import operator
import pathlib
from typing import NamedTuple

from anchorjax.cluster.job_files import Job, log_path, read_jobs
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.sweeps.shards import Shard, list_costs, partition

_TAIL_LINES = 5


class Status(NamedTuple):
    """A shard as `launch/status.py` shows it."""

    shard: Shard
    state: str  # of Job, or 'lost' (it ended without a report), or 'not started'
    share: float  # of its member-steps that are done
    job: Job | None
    log: list[str]  # its last lines, if it failed or was lost


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
    num_members = sum(chunk.num_members for chunk in chunks)
    num_done = sum(chunk.num_members for chunk in chunks if chunk.folder.done)
    share = num_done / num_members if num_members else 1.0
    if num_done == num_members:
        return Status(shard, 'done', share, job, [])
    if job is None:
        return Status(shard, 'not started', share, job, [])
    if _is_running(workdir, job):
        if job.total:
            share = job.done / job.total
        return Status(shard, 'running', share, job, [])
    if job.state == 'preempted':
        return Status(shard, 'preempted', share, job, [])
    state = 'failed' if job.state == 'failed' else 'lost'
    return Status(shard, state, share, job, _read_last_lines(log_path(workdir, shard)))


def _is_running(workdir: pathlib.Path, job: Job) -> bool:
    return locks.find_holder(workdir, range(*job.chunks)) is not None


def _read_last_lines(path: pathlib.Path) -> list[str]:
    if not path.exists():
        return []
    lines = path.read_text(errors='replace').splitlines()
    return [line for line in lines if line.strip()][-_TAIL_LINES:]
