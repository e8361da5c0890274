"""Where the shards of a sweep run: in this process, in processes here, or on Slurm; by submitit.

submitit keeps each job as a pickle, and unpickling runs code: it only ever reads those that this
command, or a job of it, has just written in a folder of their own.
"""

import collections
import contextlib
import io
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator

import submitit
from submitit.core.utils import FailedJobError, pickle_load

from anchorjax.cluster.supervisor import Supervisor
from anchorjax.errors import UserError
from anchorjax.storage import atomic
from anchorjax.sweeps.signals import Preempted, handle_signals

_EVERY = 0.2  # seconds between two looks at local jobs
_SLURM_EVERY = 5.0  # and at those on Slurm
_NO_LIMIT = 525600  # minutes: local jobs end when they are done
# submitit takes every stop in the last ten minutes for a time-out, and counts those. A shard goes
# on where it was, so neither a preemption nor a time limit is a failure.
_REQUEUES = 1_000_000


def make_private_folder(workdir: pathlib.Path) -> pathlib.Path:
    """A new folder for the jobs of one submission, its owner's alone.

    New, because a run folder may come from a stranger, with pickles in it.

    Raises:
      UserError: submitit could not use its name, or a link leads it elsewhere.
    """
    folder = atomic.require_inside(workdir, workdir / 'jobs' / 'submitit')
    if '%' in str(folder):
        raise UserError(
            f'{folder}: must not contain %, which submitit and Slurm replace'
        )
    folder.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(
        tempfile.mkdtemp(prefix=time.strftime('%Y%m%d_%H%M%S_'), dir=folder)
    )


def run_here(runners: list[Supervisor], folder: pathlib.Path) -> list[str]:
    """One after another in this process; a line for each that failed."""
    executor = submitit.AutoExecutor(folder, cluster='debug')
    return [line for r in runners if (line := _failure(executor.submit(r), r))]


def run_local(
    runners: list[Supervisor], folder: pathlib.Path, slots: int, gpus: int
) -> list[str]:
    """In processes of this machine, `slots` at a time; a line for each that failed.

    Args:
      gpus: for each slot, from those this process sees; 0 hides none and gives out none.

    Raises:
      Preempted: SIGTERM or Ctrl-C came; what ran has saved.
    """
    executor = submitit.AutoExecutor(folder, cluster='local')
    executor.update_parameters(timeout_min=_NO_LIMIT, stderr_to_stdout=True)
    waiting, free, running, lines = (
        collections.deque(runners),
        list(range(slots)),
        {},
        [],
    )
    with _passed_on(running) as stopped:
        while running or (waiting and not stopped):
            while waiting and free and not stopped:
                runner, slot = waiting.popleft(), free.pop(0)
                runner.environment = _devices(slot, gpus)
                running[_started(executor, runner)] = (runner, slot)
                _tell(running if stopped else ())  # a signal may have come just before
            for job in [j for j in running if j.done()]:
                runner, slot = running.pop(job)
                free.append(slot)
                lines += [line] if (line := _failure(job, runner)) else []
            time.sleep(_EVERY)
    if stopped:
        raise Preempted
    return lines


def submit_slurm(runners: list[Supervisor], folder: pathlib.Path, **parameters) -> list:
    """Queues them as one job array; returns submitit's jobs.

    Args:
      parameters: of submitit.AutoExecutor.update_parameters; None means the cluster's default.

    Raises:
      UserError: there is no Slurm here, or it refused.
    """
    if not (shutil.which('sbatch') and shutil.which('srun')):
        raise UserError(
            '--backend=slurm: there is no Slurm here (sbatch is not on the PATH)'
        )
    executor = submitit.AutoExecutor(
        folder, cluster='slurm', slurm_max_num_timeout=_REQUEUES
    )
    executor.update_parameters(
        stderr_to_stdout=True,
        tasks_per_node=1,
        # One host that ended must not keep the others waiting for it.
        slurm_srun_args=[
            '--kill-on-bad-exit=1',
            *_cpus(parameters.get('cpus_per_task')),
        ],
        slurm_additional_parameters={'requeue': True},
        **{name: value for name, value in parameters.items() if value is not None},
    )
    try:
        with contextlib.redirect_stderr(
            io.StringIO()
        ):  # submitit prints what it raises
            return executor.submit_array(runners)
    except FailedJobError as e:
        raise UserError(f'Slurm refused: {e}') from None


def wait_slurm(jobs: list, runners: list[Supervisor]) -> list[str]:
    """Until none is queued or running; a line for each that failed.

    By squeue: sacct, which submitit asks, needs accounting, and not every cluster has it.
    """
    array = jobs[0].job_id.split('_')[0]
    while True:
        asked = subprocess.run(
            ['squeue', '-h', '-j', array], capture_output=True, check=False
        )
        if not asked.stdout.strip() and b'connect' not in asked.stderr:
            break
        time.sleep(_SLURM_EVERY)
    return [
        line for j, r in zip(jobs, runners, strict=True) if (line := _failure(j, r))
    ]


def _started(executor, runner: Supervisor):
    """Submits to processes that ignore Ctrl-C: submitit would kill them one second after it."""
    with handle_signals([signal.SIGINT], signal.SIG_IGN):
        return executor.submit(runner)


def _cpus(number: int | None) -> list[str]:
    """Since 22.05 srun no longer takes this from sbatch: a step would get one CPU."""
    return [f'--cpus-per-task={number}'] if number else []


def _failure(job, runner: Supervisor) -> str:
    """Why an ended job did not train its shard; '' if it did."""
    if isinstance(job, submitit.DebugJob):
        return str(job.exception() or '')  # to ask runs it
    if not job.paths.result_pickle.exists():
        return f'{runner.name} was stopped; see {runner.log}'
    outcome, result = pickle_load(
        job.paths.result_pickle
    )  # job.exception() may ask sacct
    lines = result.strip().splitlines() if outcome == 'error' else ['']
    return lines[-1].partition('ShardFailed: ')[2] or lines[-1]


def _devices(slot: int, gpus: int) -> dict[str, str | None]:
    """CUDA_VISIBLE_DEVICES of a slot: submitit itself would hide all."""
    seen = os.environ.get('CUDA_VISIBLE_DEVICES')
    if not gpus:
        return {'CUDA_VISIBLE_DEVICES': seen}
    known = seen.split(',') if seen else list(map(str, range((slot + 1) * gpus)))
    return {'CUDA_VISIBLE_DEVICES': ','.join(known[slot * gpus : (slot + 1) * gpus])}


def _tell(jobs: Iterable) -> None:
    """Local jobs are to stop."""
    for job in jobs:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(job.job_id), signal.SIGTERM)


@contextlib.contextmanager
def _passed_on(running: dict) -> Iterator[list[int]]:
    """SIGTERM and Ctrl-C reach running local jobs as SIGTERM; yields the signals that came."""
    received: list[int] = []

    def stop(number, _):
        received.append(number)
        _tell(running)

    with handle_signals((signal.SIGTERM, signal.SIGINT), stop):
        yield received
