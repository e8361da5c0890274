"""Trains a sweep on Slurm: python launch/submit.py --shards=16 [flags] -- --config FILE

The sweep becomes one job array, a job for each shard. Every job gets the words after
--, which are those of launch/sweep.py, and its --shard. This command submits the array
and returns. A preempted or timed-out job saves, goes back into the queue and continues;
a shard that crashes is tried again up to --retries times, while the others continue.
--nodes=k runs each shard as one program on k hosts. The same command again trains what
is missing; with --dry_run it prints the job script and queues nothing.
"""

import argparse
import pathlib
import sys
from types import ModuleType
from typing import Any

from anchorjax import cli
from anchorjax.errors import import_extra, require
from anchorjax.storage.manifest import find_sweep
from anchorjax.sweeps.jobs import log_path
from anchorjax.sweeps.shards import MOST_SHARDS, Shard

_SAVING_SHARE = 0.8  # of --signal_delay; the rest is for requeueing


def make_parser() -> cli.Parser:
    parser = cli.Parser(
        usage='%(prog)s --shards=N [flags] -- words of sweep.py',
        description=__doc__,
    )
    add = parser.add_argument
    number = {'type': int, 'metavar': 'N'}
    add('--shards', required=True, help='jobs to divide the sweep into', **number)
    text = 'how often a shard that crashes is tried again (%(default)s)'
    add('--retries', default=3, help=text, **number)
    add('--max_parallel', help='jobs at a time (all)', **number)
    add('--gpus', help='GPUs of each node', **number)
    text = 'time limit of each job (%(default)s)'
    add('--time', type=int, default=1440, metavar='MINUTES', help=text)
    add('--nodes', default=1, help='hosts of each shard (%(default)s)', **number)
    add('--cpus', help='CPUs of each node', **number)
    add('--mem_gb', type=int, metavar='GB', help='memory of each node')
    for name in ('partition', 'account', 'qos', 'constraint'):
        add(f'--{name}', metavar='NAME')
    text = 'shell command to run first: --setup="module load x"'
    add('--setup', action='append', metavar='LINE', help=text)
    add('--name', default='anchorjax', help='name in the queue (%(default)s)')
    text = 'time for saving before a job is stopped (%(default)s)'
    add('--signal_delay', type=int, default=120, metavar='SECONDS', help=text)
    text = 'print the job script and exit'
    add('--dry_run', action='store_true', help=text)
    return parser


def command() -> None:
    own_words, words = cli.split_words(sys.argv[1:])
    flags = make_parser().parse_args(own_words)
    check_flags(flags)
    # What every job would refuse is refused here, before anything is queued.
    sweep_flags, experiment = cli.check_job_words(words)
    workdir = cli.sweep_workdir(sweep_flags.workdir, experiment)
    find_sweep(workdir, experiment)
    slurm = import_extra('anchorjax.extras.slurm', 'cluster')
    jobs = make_jobs(slurm, words, workdir, flags)
    folder = workdir / 'jobs' / 'submitit'
    parameters = make_parameters(workdir, flags)
    if flags.dry_run:
        print(slurm.write_script(jobs, folder, **parameters))
        return
    array = slurm.submit(jobs, folder, **parameters)
    print(f'job {array} is in the queue; logs: {workdir}/jobs/*.log')
    print(f'status: python launch/status.py --run {workdir}')


def check_flags(flags: argparse.Namespace) -> None:
    """Raises ConfigError for numbers that are not allowed; Slurm checks the rest."""
    allowed = f'from 1 to {MOST_SHARDS}'
    require(0 < flags.shards <= MOST_SHARDS, '--shards', flags.shards, allowed)
    require(flags.nodes > 0, '--nodes', flags.nodes, 'positive')
    is_limit = flags.max_parallel is None or flags.max_parallel > 0
    require(is_limit, '--max_parallel', flags.max_parallel, 'positive')
    allowed = 'positive, and less than the seconds of --time'
    fits = 0 < flags.signal_delay < 60 * flags.time
    require(fits, '--signal_delay', flags.signal_delay, allowed)


def make_jobs(
    slurm: ModuleType,
    words: list[str],
    workdir: pathlib.Path,
    flags: argparse.Namespace,
) -> list:
    """A `slurm.ShardJob` for every shard."""
    script = pathlib.Path(__file__).absolute().with_name('sweep.py')
    line = [sys.executable, '-u', str(script), *words]
    if flags.nodes > 1:
        line.append('--distributed')
    grace = _SAVING_SHARE * flags.signal_delay
    jobs = []
    for index in range(flags.shards):
        shard = Shard(index, flags.shards)
        log = log_path(workdir, shard)
        command = [*line, f'--shard={shard}']
        jobs.append(slurm.ShardJob(command, log, flags.retries, grace))
    return jobs


def make_parameters(workdir: pathlib.Path, flags: argparse.Namespace) -> dict[str, Any]:
    """What Slurm is asked for, by the names of submitit's SlurmExecutor."""
    return {
        'job_name': flags.name,
        'time': flags.time,
        'nodes': flags.nodes,
        'cpus_per_task': flags.cpus,
        'mem': None if flags.mem_gb is None else f'{flags.mem_gb}GB',
        'gpus_per_node': flags.gpus,
        'array_parallelism': flags.max_parallel or flags.shards,
        'signal_delay_s': flags.signal_delay,
        'setup': flags.setup,
        'comment': f'anchorjax {workdir}',
        'partition': flags.partition,
        'account': flags.account,
        'qos': flags.qos,
        'constraint': flags.constraint,
    }


if __name__ == '__main__':
    cli.run_command(command)
