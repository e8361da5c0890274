"""Workers on shards that are killed, starved and robbed of their files; everything is counted."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

from anchorjax.cluster.shards import Shard
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.sweeps import signals
from tests.support.faults import largest
from tests.support.sweeps import command, launch, tree_hash

SHARDS, WORKERS = 3, 2
_SIGNALS = (
    signal.SIGKILL,
    signal.SIGTERM,
    signal.SIGKILL,
    signal.SIGUSR2,
)  # round and round
_MOMENTS = {
    'training': 4,
    'saving': 4,
    'results': 1,
    'any': 2,
}  # at random, with these weights
_SOON, _SAVE = (
    0.8,
    0.1,
)  # seconds: a kill comes so long at most after a first save, into a save
_POLL = 0.01
# What is being written has such a name: Orbax's folders, and the files of files.write_atomic.
_UNFINISHED = re.compile(r'.*\.orbax-checkpoint-tmp.*|\.[0-9a-f]{32}\..*')


@dataclasses.dataclass(eq=False)
class Work:
    """One shard of one sweep."""

    sweep: SweepFolder
    shard: Shard
    starts: int = 0

    @property
    def chunks(self) -> list[Chunk]:
        return [self.sweep.chunks[i].chunk for i in self.sweep.part(self.shard)]

    @property
    def done(self) -> bool:
        return all(chunk.done for chunk in self.chunks)

    def saved(self) -> set[pathlib.Path]:
        """States and snapshots that are whole."""
        return {path for path in self._saves() if path.name.isdecimal()}

    def unfinished(self) -> set[tuple[str, int]]:
        """(path, inode) of what is being written, or was when a process died."""
        found = set()
        for path in self._saves():
            with contextlib.suppress(FileNotFoundError):
                if _UNFINISHED.fullmatch(path.name):
                    found.add((str(path), path.stat().st_ino))
        return found

    def hashes(self) -> dict:
        """Digests of all files of this shard."""
        news = self.sweep.workdir / 'jobs' / f'{self.shard.name}.json'
        return {
            'news': news.read_bytes(),
            **{c.folder: tree_hash(c.folder) for c in self.chunks},
        }

    def _saves(self) -> Iterator[pathlib.Path]:
        for chunk in self.chunks:
            for folder in (
                chunk.folder,
                chunk.folder / 'resume',
                chunk.folder / 'snapshots',
            ):
                with contextlib.suppress(FileNotFoundError):
                    yield from list(folder.iterdir())


@dataclasses.dataclass
class Counts:
    """What happened so far, by kind."""

    kills: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    inside: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    exits: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    refused: int = 0  # intruders
    damaged: int = 0  # states

    def __str__(self) -> str:
        listed = lambda counter: ', '.join(
            f'{k} {n}' for k, n in sorted(counter.items())
        )
        return (
            f'{self.kills.total()} kills ({listed(self.kills)}), {self.inside.total()} inside a '
            f'save ({listed(self.inside)}); {self.exits.total()} starts, by exit code: '
            f'{listed(self.exits)}; {self.damaged} damaged states, {self.refused} intruder refused'
        )


class Crew:
    """Worker threads: each takes a shard, starts a process on it, kills it or not, takes another.

    Args:
      sweep_at: the sweep of that number, as it will be in its folder; one follows another for as
        long as killing goes on.
      words: what every process gets on its command line beside folder and shard.
      damages: each is done once, to a file of the newest state of a chunk that has two.
      seconds: after so many all is killed, and the test fails.
    """

    def __init__(
        self,
        sweep_at: Callable[[int], SweepFolder],
        words: list[str],
        damages: list[Callable[[pathlib.Path], None]],
        seed: int,
        seconds: float,
    ):
        self.sweeps: list[SweepFolder] = []
        self.counts = Counts()
        self._sweep_at, self._words, self._damages = sweep_at, words, list(damages)
        self._seed, self._end = seed, time.monotonic() + seconds
        self._waiting: collections.deque[Work] = collections.deque()
        self._processes: list[subprocess.Popen] = []
        self._threads: list[concurrent.futures.Future] = []
        self._lock, self._intruding = threading.Lock(), threading.Lock()
        self._killing, self._over = True, False
        self._full_from = self._full_to = math.inf
        self._start_up = 5.0  # seconds from start to first save; measured as we go

    @property
    def planned(self) -> bool:
        """Whether something that must happen has not happened yet."""
        unsent = any(not self.counts.kills[number.name] for number in _SIGNALS)
        torn = self.counts.inside['SIGKILL'] > 0
        return bool(self._damages) or unsent or not torn or not self.counts.refused

    @property
    def _full(self) -> bool:
        return self._full_from <= time.monotonic() < self._full_to

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Within it all works and is killed; at its end the workers finish undisturbed."""
        pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        self._threads = [pool.submit(self._worker) for _ in range(WORKERS)]
        try:
            yield
            self._killing = False
            self.until(lambda: all(thread.done() for thread in self._threads))
        finally:
            self._over = True
            for process in self._processes:
                process.kill()
            pool.shutdown()

    @contextlib.contextmanager
    def full_disk(self, folder: pathlib.Path) -> Iterator[None]:
        """Within it the disk is full, and nobody is killed, so that all find out."""
        ballast, self._full_from = folder / 'ballast', time.monotonic()
        with contextlib.suppress(OSError), open(ballast, 'wb', buffering=0) as f:
            while True:
                f.write(bytes(4096))
        yield
        ballast.unlink()
        self._full_to = time.monotonic()

    def until(self, condition: Callable[[], bool]) -> None:
        """Waits; raises what a worker raised, or that it takes too long."""
        while not condition():
            assert time.monotonic() < self._end, f'not done in time: {self.counts}'
            self._raise()
            time.sleep(_POLL)
        self._raise()

    def _raise(self) -> None:
        for thread in self._threads:
            if thread.done():
                thread.result()

    def _worker(self) -> None:
        while not self._over and (work := self._taken()):
            if not self._run(work):
                self._waiting.append(work)

    def _taken(self) -> Work | None:
        with self._lock:
            if not self._waiting and self._killing:
                self.sweeps.append(self._sweep_at(len(self.sweeps)))
                shards = (Shard(i, SHARDS) for i in range(SHARDS))
                self._waiting.extend(Work(self.sweeps[-1], shard) for shard in shards)
            return self._waiting.popleft() if self._waiting else None

    def _run(self, work: Work) -> bool:
        """One process on a shard, from start to end; whether it was the last one."""
        rng = random.Random(
            f'{self._seed} {work.sweep.workdir.name} {work.shard} {work.starts}'
        )
        litter(work)
        work.starts += 1
        damaged = self._damage(work)
        begun, unfinished = time.monotonic(), work.unfinished()
        process = subprocess.Popen(**command(*self._line(work)))
        self._processes.append(process)
        moment = (
            'training' if damaged else rng.choices([*_MOMENTS], _MOMENTS.values())[0]
        )
        self._wait(process, work, moment, rng, unfinished)
        sent, inside = self._kill(process, work, unfinished)
        _, errors = process.communicate(timeout=max(1, self._end - time.monotonic()))
        inside = inside or (sent == signal.SIGKILL and work.unfinished() - unfinished)
        self._count(process.returncode, sent, inside)
        self._judge(process.returncode, sent, damaged, errors, begun)
        assert process.returncode or work.done
        return process.returncode == 0

    def _line(self, work: Work) -> list:
        return ['--workdir', work.sweep.workdir, f'--shard={work.shard}', *self._words]

    def _damage(self, work: Work) -> pathlib.Path | None:
        """Damages the newest state of one of its chunks, when something is left to be done."""
        with self._lock:
            for chunk in work.chunks:
                states = [
                    p for p in work.saved() if p.parent == chunk.folder / 'resume'
                ]
                if (
                    self._damages
                    and not self._full
                    and not chunk.done
                    and len(states) >= 2
                ):
                    newest = max(states, key=lambda p: int(p.name))
                    self._damages.pop(0)(largest(newest / 'tree'))
                    self.counts.damaged += 1
                    return newest
        return None

    def _wait(
        self, process, work: Work, moment: str, rng: random.Random, unfinished: set
    ) -> None:
        """Until the moment of the kill, or the end of the process."""
        begun, before = time.monotonic(), work.saved()
        if moment == 'any':
            self._pass(process, lambda: False, rng.uniform(0, 1.5 * self._start_up))
        elif moment == 'results':
            self._pass(process, lambda: work.done)
            self._pass(process, lambda: False, rng.uniform(0, self._start_up / 2))
        else:
            self._pass(process, lambda: work.saved() - before)
            self._start_up = time.monotonic() - begun
            self._intrude(process, work)
            self._pass(process, lambda: False, rng.uniform(0, _SOON))
        if moment == 'saving':
            self._pass(process, lambda: work.unfinished() - unfinished)
            self._pass(process, lambda: False, rng.uniform(0, _SAVE))

    def _pass(self, process, condition: Callable, seconds: float = math.inf) -> None:
        """Time passes, for as long as there is something to kill."""
        end = time.monotonic() + seconds
        while process.poll() is None and self._killing and not condition():
            if time.monotonic() > end:
                break
            time.sleep(_POLL)

    def _kill(self, process, work: Work, before: set) -> tuple[int, bool]:
        """(signal sent, whether inside a save); (0, False) when none was."""
        if process.poll() is not None or self._full or not self._killing:
            return 0, False
        number = _SIGNALS[self.counts.kills.total() % len(_SIGNALS)]
        inside = bool(work.unfinished() - before)
        process.send_signal(number)
        return (
            number,
            inside and number != signal.SIGKILL,
        )  # the dead are looked at afterwards

    def _intrude(self, process, work: Work) -> None:
        """A second worker on a shard whose worker is frozen, thus surely there: once."""
        if (
            self.counts.refused
            or process.poll() is not None
            or not self._intruding.acquire(False)
        ):
            return
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if process.poll() is None and not work.done and not self.counts.refused:
            self._refused(process.pid, work)
        process.send_signal(signal.SIGCONT)
        self._intruding.release()

    def _refused(self, holder: int, work: Work) -> None:
        before = work.hashes()
        done = launch(*self._line(work))
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1 and 'are in use' in done.stderr
        assert f'process {holder} ' in done.stderr
        assert work.hashes() == before
        self.counts.refused += 1

    def _count(self, code: int, sent: int, inside: bool) -> None:
        with self._lock:
            self.counts.exits[code] += 1
            if sent:
                self.counts.kills[signal.Signals(sent).name] += 1
            if inside:
                self.counts.inside[signal.Signals(sent).name] += 1

    def _judge(self, code: int, sent: int, damaged, errors: str, begun: float) -> None:
        """A process ends as it should, and says no more than it should."""
        lines = errors.splitlines()
        warnings = [line for line in lines if line.startswith('warning: ')]
        if code == 2:
            assert self._full_from < time.monotonic() and begun < self._full_to, errors
            assert len(lines) - len(warnings) == 1 and 'cannot write' in lines[-1], (
                errors
            )
        else:
            assert code in {0, -sent, 75 if sent in signals.STOP_SIGNALS else 0}, (
                code,
                sent,
                errors,
            )
        assert 'Traceback' not in errors, errors
        assert len(warnings) == bool(damaged), errors
        assert all(f'{damaged} ' in w and 'falling back' in w for w in warnings), errors


def litter(work: Work) -> None:
    """What stays behind when a worker dies while it writes: random kills leave only some of it."""
    first, top, temporary = work.chunks[0], work.sweep.workdir, '.' + '0' * 32
    left = [
        first.folder / f'{temporary}.curves.npz',
        first.folder / 'resume' / '3.orbax-checkpoint-tmp' / 'tree',
        top / f'{temporary}.results.nc',
        top / 'jobs' / f'{temporary}.{work.shard.name}.json',
    ]
    left += [
        chunk.folder / 'resume' / '3' / 'tree' for chunk in work.chunks if chunk.done
    ]
    for path in left:
        with contextlib.suppress(OSError):  # the disk may be full
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'killed')


def strays(folder: pathlib.Path) -> list[str]:
    """What should have gone: files that were never finished, states of chunks that are."""
    gone = lambda path: _UNFINISHED.fullmatch(path.name) or path.name == 'resume'
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob('*') if gone(path)
    )
