"""What each job of a sweep is doing: a small file that it locks, and keeps up to date.

jobs/shard_00003_of_00016.json    the job's last report about itself
jobs/shard_00003_of_00016.log     its output, when launch/submit.py started it

Whether a job still runs is decided by the lock of its file, not by what it says.
"""

import contextlib
import json
import operator
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from anchorjax.errors import StoreUnavailable, brief
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard, chunks_of_shard
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
    """Locks the file of a shard and keeps it; yields a function for progress.

    What killed jobs left in its chunks is removed.

    Raises:
      StoreUnavailable: another job holds some of the chunks; the line says which job.
    """
    chunks = chunks_of_shard(folder, shard)
    job = Job(
        shard=shard,
        chunks=(chunks.start, chunks.stop),
        host=socket.gethostname(),
        process=os.getpid(),
        engine=_find_engine(),
        started=time.time(),
    )
    held: list[IO] = []  # its file, in the first process alone
    next_time = time.monotonic()

    def lock() -> None:
        held.append(stack.enter_context(_hold_job(folder.workdir, job)))

    def write(**changes: Any) -> None:
        nonlocal job
        job = job._replace(**changes)
        for file in held:
            _write_job(file, job)

    def remove_leftovers() -> None:
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
        hosts.run_on_first(lock)
        hosts.run_on_first(remove_leftovers)
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


@contextlib.contextmanager
def _hold_job(workdir: pathlib.Path, job: Job) -> Iterator[IO]:
    """The locked file of a job; StoreUnavailable if another holds one of its chunks.

    Two jobs may divide a sweep differently (`--shard=1/4`, `--shard=2/8`) and must
    still see each other, so every job looks at the files of all.
    """
    chunks = range(*job.chunks)
    with contextlib.ExitStack() as stack:
        with locks.hold_folder(workdir, wait=True):  # one check at a time
            for path in _list_paths(workdir):
                holder = _read_job(path)
                # What cannot be read may hold any chunk.
                theirs = chunks if holder is None else range(*holder.chunks)
                is_shared = chunks.start < theirs.stop and theirs.start < chunks.stop
                if is_shared and locks.is_held(path):
                    raise StoreUnavailable(
                        f'{workdir}: chunks {theirs.start} to {theirs.stop - 1} are in '
                        f'use by {holder or "another process"}'
                    )
            file = stack.enter_context(locks.hold_file(_job_path(workdir, job.shard)))
            _write_job(file, job)
        yield file


def _write_job(file: IO, job: Job) -> None:
    """Writes the line of a job over that in its file, which keeps its lock."""
    line = json.dumps(job._asdict()).encode()
    # A full disk must not end a job for its report: the training state matters.
    with contextlib.suppress(OSError):
        file.seek(0)
        file.write(line.ljust(os.fstat(file.fileno()).st_size))  # over all of it


def _job_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    return workdir / 'jobs' / f'{shard.name}.json'


def _list_paths(workdir: pathlib.Path) -> list[pathlib.Path]:
    return sorted((workdir / 'jobs').glob('shard_*.json'))


def log_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    """The file for the output of a shard's job."""
    return workdir / 'jobs' / f'{shard.name}.log'


def read_jobs(workdir: pathlib.Path) -> list[Job]:
    """All jobs, the oldest first; damaged files are skipped: they hold no data."""
    jobs = filter(None, map(_read_job, _list_paths(workdir)))
    return sorted(jobs, key=operator.attrgetter('started'))


def _read_job(path: pathlib.Path) -> Job | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        values = json.loads(path.read_text())
        values['shard'] = Shard(*values['shard'])
        return Job(**values)
    return None


def list_statuses(folder: SweepFolder) -> list[Status]:
    """All shards of the newest division, then running jobs of other divisions."""
    jobs = read_jobs(folder.workdir)
    job_of_shard = {job.shard: job for job in jobs}
    count = jobs[-1].shard.count if jobs else 1
    shards = [Shard(index, count) for index in range(count)]
    for job in jobs:
        if job.shard.count != count and _is_running(folder.workdir, job):
            shards.append(job.shard)
    return [_find_status(folder, shard, job_of_shard.get(shard)) for shard in shards]


def _find_status(folder: SweepFolder, shard: Shard, job: Job | None) -> Status:
    num_members = num_done = 0
    for index in chunks_of_shard(folder, shard):
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
    return locks.is_held(_job_path(workdir, job.shard))


def _read_last_lines(path: pathlib.Path) -> list[str]:
    if not path.exists():
        return []
    lines = path.read_text(errors='replace').splitlines()
    return [line for line in lines if line.strip()][-_TAIL_LINES:]


def _find_engine() -> str:
    """The name that Slurm or Kubernetes has for this process's job; '' without one."""
    array = os.environ.get('SLURM_ARRAY_JOB_ID')
    if array:  # what squeue shows; SLURM_JOB_ID is another number
        return f'{array}_{os.environ.get("SLURM_ARRAY_TASK_ID")}'
    return os.environ.get('SLURM_JOB_ID') or os.environ.get('POD_NAME', '')
