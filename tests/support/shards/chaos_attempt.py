"""One process on a shard: started, perhaps killed, and judged by how it ended."""

import os
import pathlib
import random
import signal
import subprocess
import time
from collections.abc import Callable

from anchorjax.sweeps.signals import STOP_SIGNALS
from tests.support.shards.chaos_work import Situation, Work
from tests.support.sweeps import command, launch

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR2)  # in turn
# When to kill, at random with these weights.
_MOMENTS = {'training': 4, 'saving': 4, 'results': 1, 'any': 2}
_AFTER_FIRST_SAVE = 0.8  # seconds at most from a first save to a kill
_INTO_SAVE = 0.1  # seconds at most from the start of a save to a kill
_POLL = 0.01


class Attempt:
    """One process on one shard.

    Args:
      words: of the command line, beside folder and shard.
      rng: decides when to kill.
      damaged: the state of this shard that was damaged before, if one was.
    """

    def __init__(
        self,
        situation: Situation,
        work: Work,
        words: list[str],
        rng: random.Random,
        damaged: pathlib.Path | None,
    ):
        self._situation = situation
        self._work = work
        self._rng = rng
        self._damaged = damaged
        workdir = work.sweep.workdir
        self._line = ['--workdir', workdir, f'--shard={work.shard}', *words]
        self._unfinished_before = work.list_unfinished()
        self._saved_before = work.list_saved()
        self._start = time.monotonic()
        self.process = subprocess.Popen(**command(*self._line))

    def run(self) -> int:
        """Kills the process or not, judges it, and returns its exit code."""
        situation, process = self._situation, self.process
        self._wait_for_moment()
        number = self._choose_signal()
        inside = self._is_saving()
        if number:
            process.send_signal(number)
        timeout = max(1, situation.end - time.monotonic())
        _, errors = process.communicate(timeout=timeout)
        if number == signal.SIGKILL:  # what it was writing is still there
            inside = self._is_saving()
        code = process.returncode
        with situation.lock:
            counts = situation.counts
            counts.exits[code] += 1
            if number:
                name = signal.Signals(number).name
                counts.kills[name] += 1
                if inside:
                    counts.inside[name] += 1
        self._judge(code, number, errors)
        assert code or self._work.is_done()
        return code

    def _wait_for_moment(self) -> None:
        """Waits for the moment of the kill, or the end of the process."""
        (moment,) = self._rng.choices([*_MOMENTS], _MOMENTS.values())
        if self._damaged:
            moment = 'training'
        start_up = self._situation.start_up
        if moment == 'any':
            self._pass_time(1.5 * start_up)
        elif moment == 'results':
            self._wait_until(self._work.is_done)
            self._pass_time(start_up / 2)
        else:
            self._wait_until(self._has_saved)
            self._situation.start_up = time.monotonic() - self._start
            self._intrude()
            self._pass_time(_AFTER_FIRST_SAVE)
        if moment == 'saving':
            self._wait_until(self._is_saving)
            self._pass_time(_INTO_SAVE)

    def _has_saved(self) -> bool:
        return bool(self._work.list_saved() - self._saved_before)

    def _is_saving(self) -> bool:
        return bool(self._work.list_unfinished() - self._unfinished_before)

    def _is_over(self) -> bool:
        """Whether there is nothing to kill."""
        return self.process.poll() is not None or not self._situation.killing

    def _pass_time(self, most: float) -> None:
        """Waits for a random time, at most that many seconds."""
        end = time.monotonic() + self._rng.uniform(0, most)
        self._wait_until(lambda: time.monotonic() > end)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        while not self._is_over() and not condition():
            time.sleep(_POLL)

    def _choose_signal(self) -> int:
        """The signal to send; 0 for none."""
        if self._is_over() or self._situation.is_disk_full():
            return 0
        num_kills = self._situation.counts.kills.total()
        return SIGNALS[num_kills % len(SIGNALS)]

    def _intrude(self) -> None:
        """Once: starts a second process on this shard, while the first is frozen."""
        situation, process = self._situation, self.process
        if situation.counts.refused or process.poll() is not None:
            return
        if not situation.intruding.acquire(blocking=False):
            return
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        is_alive = process.poll() is None and not self._work.is_done()
        if is_alive and not situation.counts.refused:
            self._check_intruder()
        process.send_signal(signal.SIGCONT)
        situation.intruding.release()

    def _check_intruder(self) -> None:
        """A second process is refused in one line and changes nothing."""
        before = self._work.hash_files()
        intruder = launch(*self._line)
        assert intruder.returncode == 1, intruder.stderr
        assert len(intruder.stderr.splitlines()) == 1
        assert 'are in use' in intruder.stderr
        assert f'process {self.process.pid} ' in intruder.stderr
        assert self._work.hash_files() == before
        self._situation.counts.refused += 1

    def _judge(self, code: int, number: int, errors: str) -> None:
        """A process ends as it should, and prints no more than it should."""
        situation = self._situation
        lines = errors.splitlines()
        warnings = [line for line in lines if line.startswith('warning: ')]
        if code == 1:
            assert situation.full_from < time.monotonic(), errors
            assert self._start < situation.full_to, errors
            assert len(lines) - len(warnings) == 1, errors
            is_full = 'cannot write' in lines[-1] or 'are free there' in lines[-1]
            assert is_full, errors
        else:
            expected = {0, -number}
            if number in STOP_SIGNALS:
                expected.add(75)
            assert code in expected, (code, number, errors)
        assert 'Traceback' not in errors, errors
        assert len(warnings) == bool(self._damaged), errors
        for warning in warnings:
            assert f'{self._damaged} ' in warning, errors
            assert 'falling back' in warning, errors
