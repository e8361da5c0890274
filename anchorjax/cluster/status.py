"""What became of every shard of a sweep, for whoever asks.

Whether a job still runs is not believed from its file but asked of its lock.
"""

import pathlib
from typing import NamedTuple

from anchorjax.cluster.job_files import Job, log_path, read_jobs
from anchorjax.cluster.shards import Shard
from anchorjax.errors import brief
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import SweepFolder

_TAIL_LINES, _TAIL_BYTES = 5, 8192


class Status(NamedTuple):
    """A shard as `launch/status.py` shows it."""

    shard: Shard
    state: str  # of Job, or 'lost' (ended without a word) or 'not started'
    share: float  # of its member-steps
    job: Job | None
    log: list[str]  # its last lines, when it failed or was lost


def count_waiting(workdir: pathlib.Path) -> int:
    """How many jobs wait for their engine."""
    return sum(job.state == 'waiting' for job in read_jobs(workdir))


def list_statuses(sweep_dir: SweepFolder) -> list[Status]:
    """Every shard of the division that was used last, and jobs of others that still run."""
    found = sorted(read_jobs(sweep_dir.workdir), key=lambda job: job.started)
    count = found[-1].shard[1] if found else 1
    by_shard = {job.shard: job for job in found}
    shown = [(i, count) for i in range(count)]
    others = [
        j.shard for j in found if j.shard[1] != count and _runs(sweep_dir.workdir, j)
    ]
    return [_status(sweep_dir, Shard(*s), by_shard.get(s)) for s in [*shown, *others]]


def _status(sweep_dir: SweepFolder, shard: Shard, job: Job | None) -> Status:
    part = [sweep_dir.chunks[i] for i in sweep_dir.part(shard)]
    done = [piece.chunk.done for piece in part]
    state = job.state if job else 'not started'
    if all(done):
        state = 'done'
    elif job and _runs(sweep_dir.workdir, job):
        state = 'running'
    elif state in ('running', 'done'):
        state = 'lost'
    members = sum(piece.real for piece in part)
    finished = sum(p.real for p, d in zip(part, done, strict=True) if d)
    share = finished / members if members else 1.0
    if state == 'running' and job.total:
        share = job.done / job.total
    log = (
        _tail(log_path(sweep_dir.workdir, shard)) if state in ('failed', 'lost') else []
    )
    return Status(shard, state, share, job, log)


def _runs(workdir: pathlib.Path, job: Job) -> bool:
    return locks.find_holder(workdir, range(*job.chunks)) is not None


def _tail(path: pathlib.Path) -> list[str]:
    if not path.exists():
        return []
    with open(path, 'rb') as f:
        f.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        text = f.read().decode(errors='replace')
    return [brief(line) for line in text.splitlines() if line.strip()][-_TAIL_LINES:]
