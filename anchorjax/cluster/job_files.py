"""What each job of a sweep is doing: one small file for each shard, written by its job.

jobs/shard_00003_of_00016.json    the job's last report about itself
jobs/shard_00003_of_00016.log     its output, when launch/submit.py started it
"""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from anchorjax import files
from anchorjax.errors import StoreError, StoreUnavailable, brief
from anchorjax.storage import locks
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard, chunks_of_shard
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts

_INTERVAL = 2.0  # seconds between two writes


@dataclasses.dataclass(frozen=True)
class Job:
    """A job's last report about itself."""

    shard: tuple[int, int]  # index, count
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
        hosts.run_on_first(functools.partial(_lock_chunks, stack, workdir, chunks))
        tidy = functools.partial(files.remove_leftovers, name=f'{shard.name}.json')
        hosts.run_on_first(functools.partial(tidy, workdir / 'jobs'))
        reporter = _Reporter(workdir, shard, chunks)
        try:
            yield reporter.report_progress
        except (Preempted, KeyboardInterrupt):
            reporter.write(state='preempted')
            raise
        except BaseException as e:
            message = ' '.join(f'{type(e).__name__}: {e}'.split())
            reporter.write(state='failed', message=brief(message))
            raise
        reporter.write(state='done')


def log_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    """The file for the output of a shard's job."""
    return workdir / 'jobs' / f'{shard.name}.log'


def read_jobs(workdir: pathlib.Path) -> list[Job]:
    """All jobs, by shard; damaged files are skipped, because they hold no data."""
    jobs = []
    for path in sorted((workdir / 'jobs').glob('shard_*.json')):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            values = json.loads(path.read_text())
            values['shard'] = tuple(values['shard'])
            jobs.append(Job(**values))
    return jobs


class _Reporter:
    """Writes the file of one job, on the first host only."""

    def __init__(self, workdir: pathlib.Path, shard: Shard, chunks: range):
        self._path = workdir / 'jobs' / f'{shard.name}.json'
        self._next_time = 0.0
        self._job = Job(
            shard=tuple(shard),
            chunks=(chunks.start, chunks.stop),
            host=socket.gethostname(),
            process=os.getpid(),
            engine=_find_engine(),
            started=time.time(),
        )
        self.write()

    def report_progress(self, progress: Progress) -> None:
        """Keeps the newest numbers, and writes them at most every few seconds."""
        self._job = dataclasses.replace(
            self._job,
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
        self._job = dataclasses.replace(self._job, **changes)
        if hosts.is_first():
            # A full disk must not end a job for its report: the training state matters.
            with contextlib.suppress(StoreError):
                files.write_json(self._path, dataclasses.asdict(self._job))


def _lock_chunks(
    stack: contextlib.ExitStack, workdir: pathlib.Path, chunks: range
) -> None:
    """Locks chunks until the stack closes; StoreUnavailable names their holder."""
    try:
        stack.enter_context(locks.hold_chunks(workdir, chunks))
    except locks.LockHeld as e:
        holder = _find_job(workdir, e.taken) or 'another process'
        raise StoreUnavailable(f'{workdir}: {e} by {holder}') from None


def _find_job(workdir: pathlib.Path, chunks: range) -> Job | None:
    """The newest job that reported some of these chunks as its own."""
    found = None
    for job in read_jobs(workdir):
        start, stop = job.chunks
        has_some = start < chunks.stop and chunks.start < stop
        if has_some and (found is None or job.started > found.started):
            found = job
    return found


def _find_engine() -> str:
    """The name that Slurm or Kubernetes has for this process's job; '' without one."""
    array = os.environ.get('SLURM_ARRAY_JOB_ID')
    if array:  # what squeue shows; SLURM_JOB_ID is another number
        return f'{array}_{os.environ.get("SLURM_ARRAY_TASK_ID")}'
    return os.environ.get('SLURM_JOB_ID') or os.environ.get('POD_NAME', '')
