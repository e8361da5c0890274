"""Shards as one Slurm job array, submitted by submitit.

submitit writes the batch script, and requeues a job that is preempted or out of time.
We add what it lacks: `SlurmJob` waits for the child to save before the requeue, and
`wait_slurm` works without sacct, which needs accounting.

submitit keeps each job as a pickle, and loading a pickle runs code. It only ever loads
those that this command, or a job of it, has just written to a folder of their own.
"""

import contextlib
import io
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any

import submitit
from submitit.core.utils import FailedJobError, pickle_load

from anchorjax.cluster.supervisor import Supervisor
from anchorjax.errors import UserError
from anchorjax.sweeps.signals import STOP_SIGNALS, Preempted, handle_signals

_QUEUE_POLL = 5.0  # seconds between two calls of squeue
_SIGNAL_POLL = 0.2  # seconds between two looks at the signals
_PATIENCE = 900.0  # seconds; more than between a cluster's SIGTERM and its SIGKILL
# submitit counts stops near the time limit as failures. A shard continues where it was,
# so it may be requeued as often as it takes.
_MAX_REQUEUES = 1_000_000


class SlurmJob(submitit.helpers.Checkpointable):
    """What submitit pickles and runs on each node: a supervisor that understands Slurm.

    SIGUSR2 (the time limit, or a preemption): the child saves, then submitit's handler,
    on the first host, puts the job back in the queue.
    SIGTERM (a preemption, a requeue, or scancel): the child saves. The job then waits,
    because to end now would count as a failure, and to requeue would revive a job that
    its owner cancelled. If Slurm neither kills nor requeues it, it continues.
    """

    def __init__(self, supervisor: Supervisor):
        self.supervisor = supervisor

    def __call__(self) -> str:
        """Runs to the end and returns the shard's name.

        Raises:
          ShardFailed: bad input, or too many crashes.
          SystemExit: from submitit, after it has requeued the job.
        """
        supervisor = self.supervisor
        rank = submitit.JobEnvironment().global_rank
        if rank > 0:  # one log for each host: a network file system would mix appends
            supervisor.log = supervisor.log.with_stem(
                f'{supervisor.log.stem}_host_{rank:03d}'
            )
        while True:
            supervisor.reset()  # it may have been stopped before it was pickled
            received = self._run_until_stopped(may_requeue=rank == 0)
            if not received:
                return supervisor.name
            if rank == 0 and signal.SIGUSR2 in received:
                supervisor.write_log('put back in the queue')
                signal.raise_signal(signal.SIGUSR2)  # for the handler of submitit

    def _run_until_stopped(self, may_requeue: bool) -> list[int]:
        """The signals that stopped the shard; none if it is trained."""
        supervisor = self.supervisor
        received: list[int] = []

        def stop(number: int, frame: Any) -> None:
            received.append(number)
            if number == signal.SIGUSR2:
                supervisor.stop(supervisor.grace)
            else:
                supervisor.stop()

        with handle_signals(STOP_SIGNALS, stop):
            try:
                supervisor.run()
            except Preempted:
                supervisor.write_log('has stopped; waits to be requeued or killed')
            else:
                return []
            limit = time.monotonic() + _PATIENCE
            while time.monotonic() < limit:
                if may_requeue and signal.SIGUSR2 in received:
                    break
                time.sleep(_SIGNAL_POLL)
        return received


def make_private_folder(workdir: pathlib.Path) -> pathlib.Path:
    """A new folder for the jobs of one submission, which only its owner can enter.

    It is new because a run folder may come from a stranger and contain pickles.

    Raises:
      UserError: submitit cannot use its name.
    """
    folder = workdir / 'jobs' / 'submitit'
    if '%' in str(folder):
        raise UserError(
            f'{folder}: must not contain %, which submitit and Slurm replace'
        )
    folder.mkdir(parents=True, exist_ok=True)
    prefix = time.strftime('%Y%m%d_%H%M%S_')
    return pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=folder))


def submit_slurm(
    supervisors: list[Supervisor],
    folder: pathlib.Path,
    *,
    cpus_per_task: int | None = None,
    **parameters: Any,
) -> list[submitit.Job]:
    """Queues shards as one job array.

    Args:
      parameters: of submitit.AutoExecutor.update_parameters; None leaves the cluster's
        default.

    Raises:
      UserError: Slurm is not installed here, or it refused the jobs.
    """
    if not (shutil.which('sbatch') and shutil.which('srun')):
        raise UserError(
            '--backend=slurm: there is no Slurm here (sbatch is not on the PATH)'
        )
    # One host that ended must not keep the others waiting for it.
    srun_args = ['--kill-on-bad-exit=1']
    if cpus_per_task is not None:
        parameters['cpus_per_task'] = cpus_per_task
        # Since 22.05 srun does not take this from sbatch: a step would get one CPU.
        srun_args.append(f'--cpus-per-task={cpus_per_task}')
    given = {name: value for name, value in parameters.items() if value is not None}
    executor = submitit.AutoExecutor(
        folder, cluster='slurm', slurm_max_num_timeout=_MAX_REQUEUES
    )
    executor.update_parameters(
        stderr_to_stdout=True,
        tasks_per_node=1,
        slurm_srun_args=srun_args,
        slurm_additional_parameters={'requeue': True},
        **given,
    )
    jobs = [SlurmJob(supervisor) for supervisor in supervisors]
    submitit_output = io.StringIO()  # it prints the error that it also raises
    try:
        with contextlib.redirect_stderr(submitit_output):
            return executor.submit_array(jobs)
    except FailedJobError as e:
        raise UserError(f'Slurm refused the jobs: {e}') from None


def wait_slurm(jobs: list[submitit.Job], supervisors: list[Supervisor]) -> list[str]:
    """Waits until all jobs have ended; returns one line for each that failed."""
    array = jobs[0].job_id.split('_')[0]
    command = ['squeue', '-h', '-j', array]
    while True:
        if not _is_queued(subprocess.run(command, capture_output=True, check=False)):
            break
        time.sleep(_QUEUE_POLL)
    lines = []
    for job, supervisor in zip(jobs, supervisors, strict=True):
        line = _describe_failure(job, supervisor)
        if line:
            lines.append(line)
    return lines


def _is_queued(answer: subprocess.CompletedProcess[bytes]) -> bool:
    """Whether squeue lists jobs, or cannot tell: it fails when the controller is busy.

    Of jobs that ended minutes ago it says that their id is invalid.
    """
    if answer.returncode:
        return b'Invalid job id' not in answer.stderr
    return bool(answer.stdout.strip())


def _describe_failure(job: submitit.Job, supervisor: Supervisor) -> str:
    """Why an ended job did not train its shard; '' if it did.

    job.exception() would call sacct for a job that left no result.
    """
    if not job.paths.result_pickle.exists():
        return f'{supervisor.name} was stopped; see {supervisor.log}'
    outcome, result = pickle_load(job.paths.result_pickle)
    if outcome != 'error':
        return ''
    last_line = result.strip().splitlines()[-1]
    return last_line.rpartition('ShardFailed: ')[2]
