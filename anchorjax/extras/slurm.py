"""Shards as one Slurm job array, submitted by submitit.

submitit writes the batch script, and requeues a job that is preempted or out of time.
`ShardJob` adds what it lacks: the shard saves before the requeue, and a shard that
crashes is tried again.
"""

import contextlib
import dataclasses
import io
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import FrameType
from typing import Any

import submitit
from submitit.core.utils import FailedJobError
from submitit.slurm import slurm

from anchorjax.errors import EXIT_PREEMPTED, EXIT_USER_ERROR, UserError
from anchorjax.sweeps.signals import OF_SCHEDULERS, handle_signals

_PAUSE = 5.0  # seconds between a crash and the next try
# submitit counts stops near the time limit as failures. A shard continues where it was,
# so it may be requeued as often as it takes.
_MAX_REQUEUES = 1_000_000


@dataclasses.dataclass
class ShardJob(submitit.helpers.Checkpointable):
    """What submitit pickles and runs on each host: the command of one shard.

    The command runs in a child process, so that its crash does not end the job.

    SIGUSR2 (the time limit, or a preemption): the child saves, then submitit's handler,
    on the first host, puts the job back in the queue.
    SIGTERM (a requeue, or scancel): the child saves and starts again; Slurm then kills
    the job, or the shard continues.
    """

    command: list[str]  # of launch/sweep.py with its --shard
    log: pathlib.Path  # gets the output of the command
    retries: int  # how often a crash is followed by another try
    grace: float  # seconds the child has to save before it is killed

    def __call__(self) -> None:
        """Runs the command until the shard is trained.

        Raises:
          RuntimeError: bad input, or too many crashes.
          SystemExit: from submitit, after it has requeued the job.
        """
        rank = submitit.JobEnvironment().global_rank
        if rank > 0:  # a network file system would mix what two hosts append
            self.log = self.log.with_stem(f'{self.log.stem}_host_{rank:03d}')
        crashes = 0
        while True:
            code, received = self._run_child()
            if code == 0:
                return
            if code == EXIT_USER_ERROR:
                raise RuntimeError(f'refused (exit code {code}); see {self.log}')
            if signal.SIGUSR2 in received:
                signal.raise_signal(signal.SIGUSR2)  # for the handler of submitit
                time.sleep(self.grace)  # on other hosts, until Slurm ends the job
            elif not received and code != EXIT_PREEMPTED:
                crashes += 1
                if crashes > self.retries:
                    raise RuntimeError(f'crashed {crashes} times; see {self.log}')
                time.sleep(_PAUSE)

    def _run_child(self) -> tuple[int, list[int]]:
        """The exit code of the command, and the signals that came while it ran."""
        received: list[int] = []

        def stop(number: int, frame: FrameType | None) -> None:
            if not received:  # a second signal would end the child before it has saved
                child.terminate()
                killer.start()
            received.append(number)

        with open(self.log, 'ab') as log:
            child = subprocess.Popen(self.command, stdout=log, stderr=log)
        killer = threading.Timer(self.grace, child.kill)
        killer.daemon = True
        with handle_signals(OF_SCHEDULERS, stop):
            code = child.wait()
        killer.cancel()
        return code, received


def submit(jobs: list[ShardJob], folder: pathlib.Path, **parameters: Any) -> str:
    """Queues jobs as one array; returns its number in the queue.

    Args:
      folder: for submitit's own files.
      parameters: as of `write_script`.

    Raises:
      UserError: Slurm is not installed here, or it refused the jobs.
    """
    if not (shutil.which('sbatch') and shutil.which('srun')):
        raise UserError('there is no Slurm here (sbatch is not on the PATH)')
    if '%' in str(folder):
        raise UserError(f'{folder}: must not contain %, which Slurm replaces')
    # submitit loads pickles from its folder, so nobody else may have written there.
    folder.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(time.strftime('%Y%m%d_%H%M%S_'), dir=folder))
    executor = submitit.SlurmExecutor(folder, max_num_timeout=_MAX_REQUEUES)
    executor.update_parameters(**_complete(parameters))
    submitit_output = io.StringIO()  # it prints the error that it also raises
    try:
        with contextlib.redirect_stderr(submitit_output):
            queued = executor.submit_array(jobs)
    except FailedJobError as e:
        raise UserError(f'Slurm refused the jobs: {e}') from None
    return queued[0].job_id.split('_')[0]


def write_script(jobs: list[ShardJob], folder: pathlib.Path, **parameters: Any) -> str:
    """The batch script of `submit`, and in comments what each job runs.

    Nothing is written, and there need not be a Slurm.

    Args:
      parameters: of sbatch, by submitit's names; None leaves the cluster's default.
    """
    python = shlex.quote(sys.executable)
    command = f'{python} -u -m submitit.core._submit {shlex.quote(str(folder))}'
    number = len(jobs) if len(jobs) > 1 else None  # as submitit: one job is no array
    script = slurm._make_sbatch_string(
        command, folder, map_count=number, **_complete(parameters)
    )
    lines = [script]
    for i, job in enumerate(jobs):
        lines.append(f'# job {i}: {shlex.join(job.command)}')
    return '\n'.join(lines)


def _complete(parameters: dict[str, Any]) -> dict[str, Any]:
    """Those that are given, and what every array of shards needs."""
    given = {name: value for name, value in parameters.items() if value is not None}
    # One host that ended must not keep the others waiting for it.
    srun_args = ['--kill-on-bad-exit=1']
    if 'cpus_per_task' in given:
        # Since 22.05 srun does not take this from sbatch: a step would get one CPU.
        srun_args.append(f'--cpus-per-task={given["cpus_per_task"]}')
    needed = {'ntasks_per_node': 1, 'stderr_to_stdout': True, 'srun_args': srun_args}
    return given | needed | {'additional_parameters': {'requeue': True}}
