"""One shard as a job: its command is run again until it is trained, whatever stops it.

This is what runs on a compute node, around a child `launch/sweep.py --shard=i/n`. It imports no
JAX: only the child touches a device. The child stays in this process's group, so a kill of the
whole job reaches it too, however the cluster keeps track of processes.

What stopped it, and what follows:
  the cluster, by SIGUSR2    the child saves, and submitit puts the job back in the queue
  someone, by SIGTERM        the child saves; on Slurm what comes next is Slurm's to decide
  its own exit code 75       it was asked to stop and nobody told this process: it goes on
  exit code 2                bad input, which trying again does not mend
  anything else              a crash: tried again, at most `retries` times
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from anchorjax.cluster.shards import Shard
from anchorjax.sweeps.signals import STOP_SIGNALS, handle_signals

REFUSED, SAVED = 2, 75  # the exit codes of anchorjax.cli, which imports JAX
# A stop before the child listens waits until it does; sent from elsewhere it may end it.
STOPPED = (SAVED, *(-s for s in STOP_SIGNALS))
PATIENCE = 900.0  # seconds; longer than between a cluster's SIGTERM and its SIGKILL


class ShardFailed(RuntimeError):
    """A shard was refused, or crashed too often; the line names it, its exit code and its log."""


class Supervisor:
    """A callable without arguments that submitit pickles, runs and, when it must, requeues."""

    def __init__(
        self,
        command: list[str],
        shard: Shard,
        log: pathlib.Path,
        *,
        retries: int = 3,
        grace: float = 90.0,
        pause: float = 5.0,
    ):
        """Nothing starts before the call.

        Args:
          command: what to run; --shard=i/n is appended. It starts with the signals to stop held
            back, and lets them in once it can heed them (signals.flag).
          log: gets what the command prints; an absolute path in a folder that exists.
          retries: how often a crash is followed by another try.
          grace: seconds that the child has to save, once SIGUSR2 came.
          pause: seconds between a crash and the next try.
        """
        self.command = [*command, f'--shard={shard}']
        self.name, self.log = f'shard {shard}', log
        self.directory = os.getcwd()  # relative paths of the command are from here
        self.environment: dict[
            str, str | None
        ] = {}  # other than this process's; None: unset
        self.retries, self.grace, self.pause = retries, grace, pause
        self.crashes, self._stopped, self._child = 0, False, None

    def __call__(self) -> str:
        """Runs to the end; returns the shard's name.

        Raises:
          ShardFailed: bad input, or more than `retries` crashes.
          SystemExit: code 75, stopped by SIGTERM.
        """
        self._stopped = False  # it may have been told to, before it was requeued
        # Of several hosts, submitit asks only the first for its checkpoint.
        numbers = STOP_SIGNALS if _host() else (signal.SIGTERM,)
        with handle_signals(numbers, self._stop):
            while (code := self._run()) != 0:
                if self._stopped:
                    self._leave()
                elif code not in STOPPED:
                    self._crashed(code)
        return self.name

    def checkpoint(self):
        """What submitit calls on SIGUSR2: ends the child, and gives itself to be run again."""
        from submitit.helpers import DelayedSubmission

        if (child := self._child) is not None:
            child.terminate()
            if not _ended(child, self.grace):
                child.kill()  # what it saved before is whole
            child.wait()
            self._say('put back in the queue')
        self._child = None
        return DelayedSubmission(self)

    def _run(self) -> int:
        """Starts the child and waits; its exit code, or SAVED when a stop came first."""
        if self._stopped:
            return SAVED
        environment = {**os.environ, **self.environment}
        self._say(f'starts on {socket.gethostname()}, kept by process {os.getpid()}')
        with _appended(self._log()) as log, _held_back():
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env={k: v for k, v in environment.items() if v is not None},
            )
        # Popen.wait() holds a lock in which a signal's handler could not wait for the child.
        os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT)
        child, self._child = self._child, None
        self._say(f'ended with exit code {child.wait()}')
        return child.returncode

    def _crashed(self, code: int) -> None:
        self.crashes += 1
        if code == REFUSED:
            raise ShardFailed(
                f'{self.name} was refused (exit code {code}); see {self._log()}'
            )
        if self.crashes > self.retries:
            often = f'{self.crashes} times, the last with exit code {code}'
            raise ShardFailed(f'{self.name} crashed {often}; see {self._log()}')
        time.sleep(self.pause)

    def _stop(self, signum, frame) -> None:
        """The child is to save; __call__ sees to the rest."""
        self._stopped = True
        if self._child is not None:
            self._child.terminate()

    def _leave(self) -> None:
        """After SIGTERM.

        Slurm sends it before a preemption, a requeue or the end of a cancelled job. Ending now
        would pass for a failure, and requeueing would revive what its owner cancelled: so wait
        for Slurm's SIGKILL (or SIGUSR2), and go on if none comes.
        """
        if not _on_slurm():
            sys.exit(SAVED)
        self._say('was told to stop; waits to be killed or requeued')
        time.sleep(PATIENCE)
        self._stopped = False

    def _log(self) -> pathlib.Path:
        """One log for each host: appends over a network file system would mix."""
        name = f'{self.log.stem}_host_{_host():03d}.log'
        return self.log.with_name(name) if _host() else self.log

    def _say(self, what: str) -> None:
        with _appended(self._log()) as log:
            log.write(f'[{time.strftime("%F %T")}] {self.name} {what}\n'.encode())


def _appended(path: pathlib.Path):
    """The file, to write bytes at its end; not through a link, which may lead anywhere."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o644), 'ab', buffering=0)


def _on_slurm() -> bool:
    return os.environ.get('SUBMITIT_EXECUTOR') == 'slurm'


def _host() -> int:
    """Which of the hosts of a shard this is."""
    return int(os.environ.get('SLURM_PROCID', 0)) if _on_slurm() else 0


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Signals to stop wait meanwhile: their handlers must find the child that is starting."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ended(child: subprocess.Popen, seconds: float) -> bool:
    """Whether the child ends within some seconds; it is not reaped."""
    limit, how = time.monotonic() + seconds, os.WEXITED | os.WNOWAIT | os.WNOHANG
    while (
        ended := os.waitid(os.P_PID, child.pid, how)
    ) is None and time.monotonic() < limit:
        time.sleep(0.05)
    return ended is not None
