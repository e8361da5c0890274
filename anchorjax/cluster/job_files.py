"""What each job of a sweep is doing: one small file for each shard, written by its job.

jobs/shard_00003_of_00016.json    the job's last report about itself
jobs/shard_00003_of_00016.log     its output, when launch/submit.py started it
"""

import contextlib
import dataclasses
import functools
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from anchorjax.config import schema
from anchorjax.errors import (
    ConfigError,
    StoreError,
    StoreUnavailable,
    brief,
    require,
)
from anchorjax.limits import check_fields
from anchorjax.storage import atomic, locks
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard, chunks_of_shard
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts

_INTERVAL = 2.0  # seconds between two writes
# Where Slurm and Kubernetes put the name they have for a job.
_ENGINE_VARIABLES = ('SLURM_JOB_ID', 'POD_NAME')


@dataclasses.dataclass(frozen=True)
class Job:
    """A job's last report about itself."""

    shard: tuple[int, int]  # index, count
    chunks: tuple[int, int]  # start, stop
    host: str
    process: int
    engine: str  # the job's name on Slurm or Kubernetes; '' elsewhere
    started: float  # seconds since 1970
    state: str = 'running'  # or done, preempted, failed, waiting (in a queue)
    done: int = 0  # member-steps
    total: int = 0
    rate: float = 0.0  # member-steps a second
    label: str = ''
    message: str = ''  # why it failed

    def __post_init__(self):
        check_fields(self, 'job')
        index, count = self.shard
        start, stop = self.chunks
        started = self.started
        require(0 <= index < count < 10**5, 'shard', self.shard, 'INDEX, COUNT')
        require(0 <= start <= stop < 2**31, 'chunks', self.chunks, 'START, STOP')
        require(0 <= started < 2**32, 'started', started, 'seconds since 1970')

    def __str__(self) -> str:
        started = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.started))
        index, count = self.shard
        details = f'shard {index}/{count}'
        if self.engine:
            details += f', job {self.engine}'
        return f'process {self.process} on {self.host} ({details}, since {started})'


@contextlib.contextmanager
def hold_shard(
    folder: SweepFolder, shard: Shard
) -> Iterator[Callable[[Progress], None]]:
    """Locks the chunks of a shard and keeps its file; yields a function for progress.

    Raises:
      StoreUnavailable: another job holds some of the chunks; the line says which job.
    """
    workdir = folder.workdir
    chunks = chunks_of_shard(folder, shard)
    with contextlib.ExitStack() as stack:
        lock = functools.partial(_lock_chunks, stack, workdir, chunks)
        hosts.run_on_first(lock)
        jobs = workdir / 'jobs'
        tidy = functools.partial(atomic.remove_leftovers, jobs, f'{shard.name}.json')
        hosts.run_on_first(tidy)
        reporter = _Reporter(workdir, _describe_job(shard, chunks))
        reporter.write()
        try:
            yield reporter.report_progress
        except (Preempted, KeyboardInterrupt):
            reporter.write(state='preempted')
            raise
        except BaseException as e:
            text = ' '.join(str(e).split())
            message = brief(f'{type(e).__name__}: {text}')
            reporter.write(state='failed', message=message)
            raise
        reporter.write(state='done', done=reporter.job.total)


def announce_job(workdir: pathlib.Path, shard: Shard, engine: str) -> None:
    """Records that a shard is in a queue, under the name the queue has for it.

    What the job itself has written already is newer, and stays.
    """
    job = _describe_job(shard, range(0))
    written = _read_job(_job_path(workdir, shard))
    if engine and written is not None and written.engine == engine:
        return
    _write_job(workdir, dataclasses.replace(job, state='waiting', engine=engine))


def make_jobs_folder(workdir: pathlib.Path) -> pathlib.Path:
    """The folder of all job files."""
    folder = workdir / 'jobs'
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def log_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    """The file for the output of a shard's job."""
    return workdir / 'jobs' / f'{shard.name}.log'


def read_jobs(workdir: pathlib.Path) -> list[Job]:
    """All jobs; damaged files are skipped, because they hold no data."""
    jobs = []
    for path in sorted((workdir / 'jobs').glob('shard_*.json')):
        job = _read_job(path)
        if job is not None:
            jobs.append(job)
    return jobs


def _read_job(path: pathlib.Path) -> Job | None:
    """The job in a file; None if that is missing or damaged."""
    try:
        values = schema.tuples_from_lists(atomic.read_json(path))
        return schema.build(Job, values, path.name)
    except (StoreError, ConfigError):
        return None


def _job_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    return workdir / 'jobs' / f'{shard.name}.json'


class _Reporter:
    """Writes the file of one job, on the first host only."""

    def __init__(self, workdir: pathlib.Path, job: Job):
        self.job = job
        self._workdir = workdir
        self._next_time = 0.0

    def report_progress(self, progress: Progress) -> None:
        """Takes the newest numbers, and writes them every few seconds."""
        self.job = dataclasses.replace(
            self.job,
            done=progress.done,
            total=progress.total,
            rate=progress.rate,
            label=progress.label,
        )
        now = time.monotonic()
        if now >= self._next_time:
            self._next_time = now + _INTERVAL
            self.write()

    def write(self, **changes: Any) -> None:
        self.job = dataclasses.replace(self.job, **changes)
        if hosts.is_first():
            # A full disk must not end a job for its report: the training state matters.
            with contextlib.suppress(StoreError):
                _write_job(self._workdir, self.job)


def _lock_chunks(
    stack: contextlib.ExitStack, workdir: pathlib.Path, chunks: range
) -> None:
    """Locks chunks until the stack closes; StoreUnavailable names their holder."""
    try:
        stack.enter_context(locks.hold_chunks(workdir, chunks))
    except locks.Held as e:
        holder: Job | None = None
        for job in read_jobs(workdir):
            start, stop = job.chunks
            has_taken = start < e.taken.stop and e.taken.start < stop
            if has_taken and (holder is None or job.started > holder.started):
                holder = job
        name = holder or 'another process'
        raise StoreUnavailable(f'{workdir}: {e} by {name}') from None


def _describe_job(shard: Shard, chunks: range) -> Job:
    """The job that this process is."""
    return Job(
        shard=tuple(shard),
        chunks=(chunks.start, chunks.stop),
        host=socket.gethostname(),
        process=os.getpid(),
        engine=_find_engine(),
        started=time.time(),
    )


def _find_engine() -> str:
    """The name that Slurm or Kubernetes has for this process's job; '' without one."""
    array = os.environ.get('SLURM_ARRAY_JOB_ID')
    task = os.environ.get('SLURM_ARRAY_TASK_ID')
    if array and task:  # what squeue and submitit show; the job has another number, too
        return f'{array}_{task}'
    for name in _ENGINE_VARIABLES:
        if engine := os.environ.get(name):
            return engine
    return ''


def _write_job(workdir: pathlib.Path, job: Job) -> None:
    path = _job_path(workdir, Shard(*job.shard))
    atomic.write_json(path, dataclasses.asdict(job))
