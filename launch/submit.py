"""Trains a sweep as jobs: python launch/submit.py --shards=16 [flags] -- --config FILE

Every job gets the words after --, which are those of launch/sweep.py, and its --shard.
Backends:

  slurm  one job array; this command submits it and returns. A preempted or timed-out
         job saves, goes back into the queue and continues. --nodes=k runs each shard
         as one program on k hosts
  local  processes on this machine, --max_parallel at a time; waits for them
  debug  processes on this machine, one after another; waits for them

A shard that crashes is tried again up to --retries times, while the others continue.
The same command again trains what is missing. Exit codes: 1 a shard failed, 2 bad
input, 75 stopped with everything saved.
"""

import argparse
import math
import pathlib
import sys
from typing import Any

from anchorjax import cli
from anchorjax.cluster.job_files import announce_job, log_path, make_jobs_folder
from anchorjax.cluster.local import run_local
from anchorjax.cluster.supervisor import Supervisor
from anchorjax.errors import UserError
from anchorjax.storage.sweep_folder import check_folder
from anchorjax.sweeps.shards import MOST_SHARDS, Shard

_LONGEST_PAUSE = 86_400
_MOST_DIGITS = 9  # of a whole number
SAVING_SHARE = 0.8  # of --signal_delay; the rest is for requeueing


def make_parser() -> cli.Parser:
    parser = cli.Parser(
        usage='%(prog)s --shards=N [flags] -- words of sweep.py',
        description=__doc__,
    )
    add = parser.add_argument
    backends = ('slurm', 'local', 'debug')
    add('--backend', choices=backends, default='local')
    number = {'type': parse_positive, 'metavar': 'N'}
    text = 'jobs to divide the sweep into'
    add('--shards', type=parse_shards, required=True, metavar='N', help=text)
    text = 'how often a shard that crashes is tried again (%(default)s)'
    add('--retries', type=parse_count, default=3, metavar='N', help=text)
    text = 'pause between a crash and the next try (%(default)s)'
    add('--pause', type=parse_seconds, default=5, metavar='SECONDS', help=text)
    add('--max_parallel', help='jobs at a time (local: 1, slurm: all)', **number)
    text = 'GPUs of each job, on each of its nodes (%(default)s)'
    add('--gpus', type=parse_count, default=0, metavar='N', help=text)
    add_slurm_flags(parser)
    return parser


def add_slurm_flags(parser: cli.Parser) -> None:
    add = parser.add_argument_group('on Slurm').add_argument
    number = {'type': parse_positive, 'metavar': 'N'}
    minutes = {'type': parse_positive, 'metavar': 'MINUTES'}
    seconds = {'type': parse_positive, 'metavar': 'SECONDS'}
    add('--time', default=1440, help='time limit of each job (%(default)s)', **minutes)
    add('--nodes', default=1, help='hosts of each shard (%(default)s)', **number)
    add('--cpus', help='CPUs of each job, on each of its nodes', **number)
    add('--mem_gb', type=parse_positive, metavar='GB', help='memory of each node')
    for name in ('partition', 'account', 'qos', 'constraint'):
        add(f'--{name}', metavar='NAME')
    text = 'shell command to run first: --setup="module load x"'
    add('--setup', action='append', metavar='LINE', help=text)
    add('--name', default='anchorjax', help='name in the queue (%(default)s)')
    text = 'time for saving before a job is stopped (%(default)s)'
    add('--signal_delay', default=120, help=text, **seconds)
    text = 'wait until all jobs have ended; exit code 1 if one failed'
    add('--wait', action='store_true', help=text)


def parse_positive(text: str) -> int:
    number = parse_whole(text)
    if not number:
        raise argparse.ArgumentTypeError(f'{text!r} is not a positive whole number')
    return number


def parse_count(text: str) -> int:
    number = parse_whole(text)
    if number is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number, at least 0')
    return number


def parse_shards(text: str) -> int:
    number = parse_whole(text)
    if not number or number > MOST_SHARDS:
        allowed = f'is not a positive whole number, at most {MOST_SHARDS}'
        raise argparse.ArgumentTypeError(f'{text!r} {allowed}')
    return number


def parse_whole(text: str) -> int | None:
    """A whole number, at least 0; None for anything else, or a number far too large."""
    is_number = text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None


def parse_seconds(text: str) -> float:
    """A number of seconds that a process can sleep: neither negative nor endless."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_PAUSE:
        allowed = f'must be from 0 to {_LONGEST_PAUSE} seconds'
        raise argparse.ArgumentTypeError(f'{text!r}: {allowed}')
    return seconds


def command() -> None:
    own_words, words = cli.split_words(sys.argv[1:])
    flags = make_parser().parse_args(own_words)
    check_backend(flags)
    # What every job would refuse is refused here, before anything starts.
    sweep_flags, experiment = cli.check_job_words(words)
    workdir = cli.sweep_workdir(sweep_flags.workdir, experiment).absolute()
    check_folder(workdir, experiment)
    supervisors = make_supervisors(words, workdir, flags)
    make_jobs_folder(workdir)
    if flags.backend == 'slurm':
        failures = run_on_slurm(supervisors, workdir, flags)
    else:
        failures = run_here(supervisors, workdir, flags)
    for line in failures:
        print(f'error: {line}', file=sys.stderr)
    sys.exit(cli.EXIT_FAILED if failures else 0)


def check_backend(flags: argparse.Namespace) -> None:
    """Raises UserError for a flag that the backend would ignore, or cannot obey."""
    if flags.backend == 'slurm' and flags.signal_delay >= 60 * flags.time:
        raise UserError(
            f'--signal_delay={flags.signal_delay}: must be less than the seconds of '
            f'--time={flags.time} (minutes)'
        )
    if flags.backend != 'slurm':
        on_slurm = cli.Parser()
        add_slurm_flags(on_slurm)
        require_defaults(flags, vars(on_slurm.parse_args([])), '--backend=slurm')
    if flags.backend == 'debug':
        several = {'gpus': 0, 'max_parallel': None}
        require_defaults(flags, several, '--backend=slurm or local')


def require_defaults(
    flags: argparse.Namespace, defaults: dict[str, Any], needed: str
) -> None:
    """Raises UserError if a flag has another value than its default."""
    for name, default in defaults.items():
        value = getattr(flags, name)
        if value != default:
            raise UserError(f'--{name}={value} needs {needed}')


def make_supervisors(
    words: list[str], workdir: pathlib.Path, flags: argparse.Namespace
) -> list[Supervisor]:
    """One Supervisor for each shard."""
    script = pathlib.Path(__file__).absolute().with_name('sweep.py')
    line = [sys.executable, '-u', str(script), *words]
    if flags.nodes > 1:
        line.append('--distributed')
    supervisors = []
    for index in range(flags.shards):
        shard = Shard(index, flags.shards)
        supervisor = Supervisor(
            line,
            shard,
            log_path(workdir, shard),
            retries=flags.retries,
            grace=SAVING_SHARE * flags.signal_delay,
            pause=flags.pause,
        )
        supervisors.append(supervisor)
    return supervisors


def run_here(
    supervisors: list[Supervisor], workdir: pathlib.Path, flags: argparse.Namespace
) -> list[str]:
    """Runs all shards on this machine; one line for each that failed."""
    if flags.backend == 'debug':
        print_hints(workdir, f'{flags.shards} jobs, one after another')
        return run_local(supervisors, slots=1, gpus=0)
    print_hints(workdir, f'{flags.shards} jobs on this machine')
    return run_local(supervisors, flags.max_parallel or 1, flags.gpus)


def run_on_slurm(
    supervisors: list[Supervisor], workdir: pathlib.Path, flags: argparse.Namespace
) -> list[str]:
    """Submits all shards; with --wait, one line for each that failed."""
    try:
        from anchorjax.cluster import submission
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[cluster]'") from None
    jobs = submission.submit_slurm(
        supervisors,
        submission.make_private_folder(workdir),
        name=flags.name,
        timeout_min=flags.time,
        nodes=flags.nodes,
        cpus_per_task=flags.cpus,
        mem_gb=flags.mem_gb,
        gpus_per_node=flags.gpus or None,
        slurm_array_parallelism=flags.max_parallel or flags.shards,
        slurm_signal_delay_s=flags.signal_delay,
        slurm_setup=flags.setup,
        slurm_comment=f'anchorjax {workdir}',
        slurm_partition=flags.partition,
        slurm_account=flags.account,
        slurm_qos=flags.qos,
        slurm_constraint=flags.constraint,
    )
    for index, job in enumerate(jobs):
        announce_job(workdir, Shard(index, flags.shards), job.job_id)
    array = jobs[0].job_id.split('_')[0]
    print_hints(workdir, f'job {array} is in the queue')
    return submission.wait_slurm(jobs, supervisors) if flags.wait else []


def print_hints(workdir: pathlib.Path, what: str) -> None:
    print(f'{what}; logs: {workdir}/jobs/*.log', flush=True)
    print(f'status: python launch/status.py --run {workdir}', flush=True)


if __name__ == '__main__':
    cli.run_command(command)
