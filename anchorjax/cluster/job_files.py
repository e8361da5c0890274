"""What each job on a sweep is doing: one small file a shard, written by the job, read by anyone.

jobs/shard_00003_of_00016.json    what it said last
jobs/shard_00003_of_00016.log     what it printed, when an engine started it
"""

import contextlib
import dataclasses
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from anchorjax.cluster.shards import Shard
from anchorjax.config import schema
from anchorjax.errors import ConfigError, StoreError, brief, require
from anchorjax.storage import atomic, locks
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts

_EVERY = 2.0  # seconds between two writes
# What the engines call a job, the most specific first.
_ENGINES = ('SLURM_JOB_ID', 'SUBMITIT_LOCAL_JOB_ID', 'POD_NAME')


@dataclasses.dataclass(frozen=True)
class Job:
    """What a job last said of itself."""

    shard: tuple[int, int]  # index, count
    chunks: tuple[int, int]  # start, stop
    host: str
    process: int
    engine: str  # its number there; '' without one
    started: float  # seconds since 1970
    state: str = 'running'  # running, done, preempted, failed, waiting (for its engine)
    done: int = 0  # member-steps
    total: int = 0
    rate: float = 0.0  # member-steps a second
    label: str = ''
    message: str = ''  # why it failed

    def __post_init__(self):
        (index, count), (start, stop) = self.shard, self.chunks
        require(0 <= index < count < 10**5, 'shard', self.shard, 'INDEX, COUNT')
        require(0 <= start <= stop < 2**31, 'chunks', self.chunks, 'START, STOP')
        require(
            0 <= self.started < 2**32, 'started', self.started, 'seconds since 1970'
        )

    def __str__(self) -> str:
        since = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.started))
        engine = f', job {self.engine}' if self.engine else ''
        index, count = self.shard
        return f'process {self.process} on {self.host} (shard {index}/{count}{engine}, since {since})'


@contextlib.contextmanager
def hold_shard(sweep_dir: SweepFolder, shard: Shard) -> Iterator[Callable[[Any], None]]:
    """Holds a shard's chunks and keeps its file; yields a function to be given every Progress.

    Raises:
      StoreError: another job works on some of them; the line says which, where and since when.
    """
    part, stack = sweep_dir.part(shard), contextlib.ExitStack()
    hosts.run_on_first(lambda: _hold(stack, sweep_dir.workdir, part))
    job = _new(shard, part)
    with stack:
        folder = atomic.require_inside(sweep_dir.workdir, sweep_dir.workdir / 'jobs')
        hosts.run_on_first(
            lambda: atomic.remove_leftovers(folder, f'{shard.name}.json')
        )
        keeper = _Keeper(sweep_dir.workdir, job)
        keeper.write()
        try:
            yield keeper.update
        except BaseException as e:
            keeper.write(**_end(e))
            raise
        keeper.write(state='done', done=keeper.job.total)


def announce_job(workdir: pathlib.Path, shard: Shard, engine: str) -> None:
    """Says that an engine will run this shard, before it does."""
    _write(
        workdir,
        dataclasses.replace(_new(shard, range(0)), state='waiting', engine=engine),
    )


def log_path(workdir: pathlib.Path, shard: Shard) -> pathlib.Path:
    """Where an engine puts what the shard prints."""
    return workdir / 'jobs' / f'{shard.name}.log'


class _Keeper:
    """Writes the file of one job now and then; only the first host does."""

    def __init__(self, workdir: pathlib.Path, job: Job):
        self.workdir, self.job, self._next = workdir, job, 0.0

    def update(self, progress) -> None:
        names = ('done', 'total', 'rate', 'label')
        self.job = dataclasses.replace(
            self.job, **{n: getattr(progress, n) for n in names}
        )
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self.write()

    def write(self, **changes) -> None:
        self.job = dataclasses.replace(self.job, **changes)
        if hosts.is_first():
            # What a job says of itself is worth no job: on a full disk the states matter.
            with contextlib.suppress(StoreError):
                _write(self.workdir, self.job)


def _hold(stack: contextlib.ExitStack, workdir: pathlib.Path, part: range) -> None:
    try:
        stack.enter_context(locks.hold_chunks(workdir, part))
    except locks.Held as e:
        taken = e.taken
        users = [j for j in read_jobs(workdir) if _overlap(range(*j.chunks), taken)]
        who = max(users, key=lambda j: j.started, default='another process')
        raise StoreError(f'{workdir}: {e} by {who}') from None


def _new(shard: Shard, part: range) -> Job:
    named = (os.environ[name] for name in _ENGINES if os.environ.get(name))
    return Job(
        shard=tuple(shard),
        chunks=(part.start, part.stop),
        host=socket.gethostname(),
        process=os.getpid(),
        engine=next(named, ''),
        started=time.time(),
    )


def _end(e: BaseException) -> dict[str, str]:
    if isinstance(e, Preempted | KeyboardInterrupt):
        return {'state': 'preempted'}
    return {
        'state': 'failed',
        'message': brief(f'{type(e).__name__}: {" ".join(str(e).split())}'),
    }


def _overlap(a: range, b: range) -> bool:
    return a.start < b.stop and b.start < a.stop


def _write(workdir: pathlib.Path, job: Job) -> None:
    path = atomic.require_inside(
        workdir, workdir / 'jobs' / f'{Shard(*job.shard).name}.json'
    )
    atomic.write_json(path, dataclasses.asdict(job))


def read_jobs(workdir: pathlib.Path) -> list[Job]:
    """The jobs whose files can be read: they are news, not data."""
    found = []
    for path in sorted((workdir / 'jobs').glob('shard_*.json')):
        with contextlib.suppress(StoreError, ConfigError):
            found.append(
                schema.build(
                    Job, schema.tuples_from_lists(atomic.read_json(path)), path.name
                )
            )
    return found
