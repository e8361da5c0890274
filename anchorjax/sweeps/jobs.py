"""What each job of a sweep is doing: it locks its chunks, and writes a small file.

jobs/shard_00003_of_00016.json    the job's last report about itself
jobs/shard_00003_of_00016.log     its output, when launch/submit.py started it

Whether a job still runs is decided by its lock, not by what its file says.
"""

import contextlib
import functools
import json
import operator
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from anchorjax import files
from anchorjax.errors import StoreError, StoreUnavailable, brief
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard, chunks_of_shard, list_costs, partition
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts

_INTERVAL = 2.0  # seconds between two reports
_TAIL_LINES = 5


class Job(NamedTuple):
    """A job's last report about itself."""

    shard: Shard
    chunks: tuple[int, int]  # start, stop
    host: str
    process: int
    engine: str  # the job's name on Slurm or Kubernetes; '' elsewhere
    started: float  # seconds since 1970
    state: str = 'running'  # or done, preempted, failed
    done: int = 0  # member-steps
    total: int = 0
    rate: float = 0.0  # member-steps a second
    label: str = ''
    message: str = ''  # why it failed

    def __str__(self) -> str:
        started = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.started))
        details = f'shard {self.shard}'
        if self.engine:
            details += f', job {self.engine}'
        return f'process {self.process} on {self.host} ({details}, since {started})'


class Status(NamedTuple):
    """A shard as `launch/status.py` shows it."""

    shard: Shard
    state: str  # of Job, or 'lost' (it ended without a report), or 'not started'
    share: float  # of its member-steps that are done
    job: Job | None
    log: list[str]  # its last lines, if it failed or was lost


@contextlib.contextmanager
def hold_shard(
    folder: SweepFolder, shard: Shard
) -> Iterator[Callable[[Progress], None]]:
    """Locks the chunks of a shard and keeps its file; yields a function for progress.

    What killed jobs left there is removed.

    Raises:
      StoreUnavailable: another job holds some of the chunks; the line says which job.
    """
    workdir = folder.workdir
    chunks = chunks_of_shard(folder, shard)
    path = workdir / 'jobs' / f'{shard.name}.json'
    job = Job(
        shard=shard,
        chunks=(chunks.start, chunks.stop),
        host=socket.gethostname(),
        process=os.getpid(),
        engine=_find_engine(),
        started=time.time(),
    )
    next_time = time.monotonic()

    def write(**changes: Any) -> None:
        nonlocal job
        job = job._replace(**changes)
        if hosts.is_first():
            # A full disk must not end a job for its report: the training state matters.
            with contextlib.suppress(StoreError):
                files.write_json(path, job._asdict())

    def remove_leftovers() -> None:
        files.remove_leftovers(path.parent, path.name)
        for index in chunks:
            folder.chunks[index].folder.remove_leftovers()

    def report(progress: Progress) -> None:
        nonlocal job, next_time
        job = job._replace(
            done=progress.done,
            total=progress.total,
            rate=progress.rate,
            label=progress.label,
        )
        now = time.monotonic()
        if now >= next_time:
            next_time = now + _INTERVAL
            write()

    with contextlib.ExitStack() as stack:
        hosts.run_on_first(functools.partial(_lock_chunks, stack, workdir, chunks))
        hosts.run_on_first(remove_leftovers)
        write()
        try:
            yield report
        except (Preempted, KeyboardInterrupt):
            write(state='preempted')
            raise
        except BaseException as e:
            message = ' '.join(f'{type(e).__name__}: {e}'.split())
            write(state='failed', message=brief(message))
            raise
        write(state='done')


def log_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    """The file for the output of a shard's job."""
    return workdir / 'jobs' / f'{shard.name}.log'


def read_jobs(workdir: pathlib.Path) -> list[Job]:
    """All jobs, the oldest first; damaged files are skipped: they hold no data."""
    jobs = []
    for path in (workdir / 'jobs').glob('shard_*.json'):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            values = json.loads(path.read_text())
            values['shard'] = Shard(*values['shard'])
            jobs.append(Job(**values))
    return sorted(jobs, key=operator.attrgetter('started'))


def list_statuses(folder: SweepFolder) -> list[Status]:
    """All shards of the newest division, then running jobs of other divisions."""
    jobs = read_jobs(folder.workdir)
    job_of_shard = {job.shard: job for job in jobs}
    count = jobs[-1].shard.count if jobs else 1
    shards = [Shard(index, count) for index in range(count)]
    for job in jobs:
        if job.shard.count != count and _is_running(folder.workdir, job):
            shards.append(job.shard)
    costs = list_costs(folder)
    statuses = []
    for shard in shards:
        chunks = partition(costs, shard)
        statuses.append(_find_status(folder, shard, chunks, job_of_shard.get(shard)))
    return statuses


def _find_status(
    folder: SweepFolder, shard: Shard, chunks: range, job: Job | None
) -> Status:
    num_members = num_done = 0
    for index in chunks:
        chunk = folder.chunks[index]
        num_members += chunk.num_members
        num_done += chunk.num_members * chunk.folder.done
    share = num_done / num_members if num_members else 1.0
    if num_done == num_members:
        state = 'done'
    elif job is None:
        state = 'not started'
    elif _is_running(folder.workdir, job):
        state = 'running'
        if job.total:
            share = job.done / job.total
    elif job.state in ('preempted', 'failed'):
        state = job.state
    else:
        state = 'lost'
    log = []
    if state in ('failed', 'lost'):
        log = _read_last_lines(log_path(folder.workdir, shard))
    return Status(shard, state, share, job, log)


def _is_running(workdir: pathlib.Path, job: Job) -> bool:
    chunks = range(*job.chunks)
    return locks.find_holder(workdir, chunks) == chunks  # or another job has some


def _read_last_lines(path: pathlib.Path) -> list[str]:
    if not path.exists():
        return []
    lines = path.read_text(errors='replace').splitlines()
    return [line for line in lines if line.strip()][-_TAIL_LINES:]


def _lock_chunks(
    stack: contextlib.ExitStack, workdir: pathlib.Path, chunks: range
) -> None:
    """Locks chunks until the stack closes; StoreUnavailable names their holder."""
    try:
        stack.enter_context(locks.hold_chunks(workdir, chunks))
    except locks.LockHeld as e:
        holder = 'another process'
        for job in read_jobs(workdir):
            start, stop = job.chunks
            if start < e.taken.stop and e.taken.start < stop:
                holder = job  # the newest comes last
        raise StoreUnavailable(f'{workdir}: {e} by {holder}') from None


def _find_engine() -> str:
    """The name that Slurm or Kubernetes has for this process's job; '' without one."""
    array = os.environ.get('SLURM_ARRAY_JOB_ID')
    if array:  # what squeue shows; SLURM_JOB_ID is another number
        return f'{array}_{os.environ.get("SLURM_ARRAY_TASK_ID")}'
    return os.environ.get('SLURM_JOB_ID') or os.environ.get('POD_NAME', '')
