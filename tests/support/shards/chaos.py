"""Workers on shards that are killed, starved of disk and robbed of their files."""

import collections
import concurrent.futures
import contextlib
import pathlib
import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.shards import Shard
from tests.support.faults import find_arrays
from tests.support.shards.chaos_attempt import SIGNALS, Attempt
from tests.support.shards.chaos_work import (
    SHARDS,
    Counts,
    Situation,
    Work,
    leave_litter,
)

WORKERS = 2
_POLL = 0.01


class Crew:
    """Worker threads: each takes a shard, starts a process on it, kills it or not.

    Args:
      make_sweep: a number -> the sweep of that number, as it will be in its folder. One
        sweep follows another for as long as killing goes on.
      words: what every process gets on its command line beside folder and shard.
      damages: each is done once, to a file of the newest state of a chunk that has two.
      seconds: after so many everything is killed, and the test fails.
    """

    def __init__(
        self,
        make_sweep: Callable[[int], SweepFolder],
        words: list[str],
        damages: list[Callable[[pathlib.Path], None]],
        seed: int,
        seconds: float,
    ):
        self.sweeps: list[SweepFolder] = []
        self._make_sweep = make_sweep
        self._words = words
        self._damages = list(damages)
        self._seed = seed
        self._situation = Situation(end=time.monotonic() + seconds)
        self._waiting: collections.deque[Work] = collections.deque()
        self._processes: list[subprocess.Popen] = []
        self._threads: list[concurrent.futures.Future] = []
        self._lock = threading.Lock()
        self._over = False

    @property
    def counts(self) -> Counts:
        return self._situation.counts

    def has_plans(self) -> bool:
        """Whether something that must happen has not happened yet."""
        counts = self.counts
        unsent = [number for number in SIGNALS if not counts.kills[number.name]]
        has_torn_a_save = counts.inside['SIGKILL'] > 0
        has_all = has_torn_a_save and counts.refused and not unsent
        return bool(self._damages) or not has_all

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """Within it processes are killed; at its end the workers finish undisturbed."""
        pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        for _ in range(WORKERS):
            self._threads.append(pool.submit(self._run_worker))
        try:
            yield
            self._situation.killing = False
            self.wait_until(lambda: all(thread.done() for thread in self._threads))
        finally:
            self._over = True
            for process in self._processes:
                process.kill()
            pool.shutdown()

    @contextlib.contextmanager
    def fill_disk(self, folder: pathlib.Path) -> Iterator[None]:
        """Within it the disk is full, and nobody is killed, so that all find out."""
        ballast = folder / 'ballast'
        self._situation.full_from = time.monotonic()
        with contextlib.suppress(OSError), open(ballast, 'wb', buffering=0) as f:
            while True:
                f.write(bytes(4096))
        yield
        ballast.unlink()
        self._situation.full_to = time.monotonic()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Waits; raises what a worker raised, or that it takes too long."""
        while not condition():
            is_in_time = time.monotonic() < self._situation.end
            assert is_in_time, f'not done in time: {self.counts}'
            self._raise_errors()
            time.sleep(_POLL)
        self._raise_errors()

    def _raise_errors(self) -> None:
        for thread in self._threads:
            if thread.done():
                thread.result()

    def _run_worker(self) -> None:
        while not self._over:
            work = self._take_work()
            if work is None:
                return
            code = self._attempt(work)
            if code != 0:
                self._waiting.append(work)

    def _take_work(self) -> Work | None:
        with self._lock:
            if not self._waiting and self._situation.killing:
                sweep = self._make_sweep(len(self.sweeps))
                self.sweeps.append(sweep)
                for index in range(SHARDS):
                    self._waiting.append(Work(sweep, Shard(index, SHARDS)))
            return self._waiting.popleft() if self._waiting else None

    def _attempt(self, work: Work) -> int:
        """One process on a shard, from start to end; its exit code."""
        seed = f'{self._seed} {work.sweep.workdir.name} {work.shard} {work.starts}'
        leave_litter(work)
        work.starts += 1
        damaged = self._damage(work)
        rng = random.Random(seed)
        attempt = Attempt(self._situation, work, self._words, rng, damaged)
        self._processes.append(attempt.process)
        return attempt.run()

    def _damage(self, work: Work) -> pathlib.Path | None:
        """Damages the newest state of an unfinished chunk, if there are plans to."""
        with self._lock:
            if not self._damages or self._situation.is_disk_full():
                return None
            for chunk in work.chunks:
                states = []
                for path in work.list_saved():
                    if path.parent == chunk.path / 'resume':
                        states.append(path)
                if chunk.done or len(states) < 2:
                    continue
                newest = max(states, key=lambda path: int(path.name))
                damage = self._damages.pop(0)
                damage(find_arrays(newest / 'tree'))
                self.counts.damaged += 1
                return newest
        return None
