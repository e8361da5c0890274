"""Runs the command of one shard until the shard is trained, whatever interrupts it.

How the command ends, and what follows:
  exit code 0               the shard is trained
  75, or a stop signal      it was stopped: run again, unless `stop` was called
  2                         bad input: never run again
  anything else             a crash: run again, at most `retries` times

Neither Slurm nor submitit retries a crash: both requeue only jobs that are preempted or
out of time. This module imports no JAX, because only the command may touch a device.
"""

import contextlib
import math
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from anchorjax.sweeps.signals import STOP_SIGNALS, Preempted

if TYPE_CHECKING:
    from anchorjax.sweeps.shards import Shard  # imports JAX

REFUSED = 2  # the exit codes of anchorjax.cli, which imports JAX
SAVED = 75
# After its last save a child has no handlers any more: a stop signal may kill it.
_STOPPED_CODES = (SAVED, -signal.SIGTERM, -signal.SIGUSR2)
_POLL = 1.0  # seconds between two looks at the time, or at a wish to stop


class ShardFailed(RuntimeError):
    """Bad input or too many crashes; the line names shard, exit code and log."""


class Supervisor:
    """Runs one shard's command in a child process; may be pickled while no child runs.

    The child stays in this process's group, so that whatever kills a whole job, by its
    group or by its tree of processes, also kills the child.
    """

    def __init__(
        self,
        command: list[str],
        shard: 'Shard',
        log: pathlib.Path,
        *,
        retries: int = 3,
        grace: float = 90.0,
        pause: float = 5.0,
    ):
        """Prepares the command; nothing starts before `run`.

        Args:
          command: what to run; --shard=i/n is appended. It starts with the stop signals
            and Ctrl-C blocked, and unblocks the stop signals as soon as it handles them
            (signals.catch_stop).
          log: gets the output of the command; an absolute path in an existing folder.
          retries: how often a crash is followed by another try.
          grace: seconds a preempted child has to save before it is killed.
          pause: seconds between a crash and the next try.
        """
        self.command = [*command, f'--shard={shard}']
        self.name = f'shard {shard}'
        self.log = log
        self.directory = os.getcwd()  # the command's relative paths start here
        self.environment: dict[str, str] = {}  # on top of this process's own
        self.retries = retries
        self.grace = grace
        self.pause = pause
        self.crashes = 0
        self._child: subprocess.Popen | None = None
        self.reset()

    def reset(self) -> None:
        """Forgets an earlier `stop`."""
        self._stopping = False
        self._kill_time = math.inf

    def run(self) -> None:
        """Runs the command until the shard is trained.

        Raises:
          ShardFailed: bad input, or more than `retries` crashes.
          Preempted: `stop` was called and the child has ended.
        """
        while not self._stopping:
            code = self._run_child()
            if code == 0:
                return
            if not self._stopping and code not in _STOPPED_CODES:
                self._handle_failure(code)
        raise Preempted

    def stop(self, seconds: float = math.inf) -> None:
        """Tells the child to save and end; kills it if that takes more than `seconds`.

        May be called from a signal handler and from another thread.
        """
        self._kill_time = time.monotonic() + seconds
        self._stopping = True
        child = self._child
        if child is not None:
            child.terminate()

    def write_log(self, text: str) -> None:
        """Adds a line with time and shard to the log."""
        line = f'[{time.strftime("%F %T")}] {self.name} {text}\n'
        with _open_log(self.log) as log:
            log.write(line.encode())

    def _run_child(self) -> int:
        """Starts the command and waits for its exit code."""
        self.write_log(
            f'starts on {socket.gethostname()}, kept by process {os.getpid()}'
        )
        with _open_log(self.log) as log, _block_signals():
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env=os.environ | self.environment,
            )
        if self._stopping:  # `stop` may have found no child yet
            self._child.terminate()
        code = self._wait(self._child)
        self._child = None
        self.write_log(f'ended with exit code {code}')
        return code

    def _wait(self, child: subprocess.Popen) -> int:
        """Waits for the exit code of a child; kills it if it takes too long to save."""
        while True:
            try:
                return child.wait(timeout=_POLL)
            except subprocess.TimeoutExpired:
                if time.monotonic() > self._kill_time:
                    child.kill()  # its earlier saves are complete

    def _handle_failure(self, code: int) -> None:
        """Waits before the next try or until `stop`, or raises ShardFailed."""
        if code == REFUSED:
            raise ShardFailed(f'{self.name} was refused (exit code 2); see {self.log}')
        self.crashes += 1
        if self.crashes > self.retries:
            count = f'{self.crashes} times, the last with exit code {code}'
            raise ShardFailed(f'{self.name} crashed {count}; see {self.log}')
        end = time.monotonic() + self.pause
        while not self._stopping and time.monotonic() < end:
            # In short steps: neither a thread's nor a handler's `stop` ends a sleep.
            time.sleep(min(self.pause, _POLL))


def _open_log(path: pathlib.Path) -> BinaryIO:
    """The file, opened to append bytes; a link is refused: it may lead anywhere."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o644), 'ab', buffering=0)


@contextlib.contextmanager
def _block_signals() -> Iterator[None]:
    """Blocks the stop signals and Ctrl-C in this thread and in children it starts.

    A child that has no handlers yet would die of a stop signal instead of saving.
    Ctrl-C reaches all processes of a terminal; only ours handles it, and stops its
    children.
    """
    blocked = (*STOP_SIGNALS, signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
