"""Trains a sweep as jobs: python launch/submit.py --backend=slurm --shards=16 -- --config FILE ...

The words after -- are those of launch/sweep.py; each job gets them, and its --shard. Backends:

  slurm  one job array; it is submitted and this command returns. A preempted or timed-out job
         saves, goes back into the queue and continues. --nodes=k makes k hosts one program
  local  processes of this machine, --max_parallel at a time; waits for them
  debug  one after another, under this very process; waits

A shard that crashes is tried again --retries times; the others go on. The same command continues
what is not trained. Exit codes: 1 a shard failed, 2 bad input, 75 stopped, everything saved.
"""

import argparse
import pathlib
import sys

from anchorjax import cli, sweep_command
from anchorjax.cluster import submission
from anchorjax.cluster.job_files import announce_job, log_path
from anchorjax.cluster.shards import Shard
from anchorjax.cluster.supervisor import Supervisor
from anchorjax.errors import UserError

GRACE = 0.8  # of --signal_delay is for saving, the rest for the way back into the queue


def parser() -> cli.Parser:
    raw = argparse.RawDescriptionHelpFormatter
    p = cli.Parser(
        usage='%(prog)s --shards=N [flags] -- words of sweep.py', formatter_class=raw
    )
    p.description = __doc__
    add = p.add_argument
    add('--backend', choices=('slurm', 'local', 'debug'), default='local')
    add(
        '--shards',
        type=positive,
        required=True,
        metavar='N',
        help='jobs to divide it into',
    )
    add(
        '--retries',
        type=int,
        default=3,
        metavar='N',
        help='of a shard that crashed (%(default)s)',
    )
    add(
        '--pause',
        type=float,
        default=5,
        metavar='SECONDS',
        help='before it is tried again',
    )
    add(
        '--max_parallel',
        type=positive,
        metavar='N',
        help='jobs at a time: local 1, slurm all',
    )
    add(
        '--gpus',
        type=int,
        default=0,
        metavar='N',
        help='for each job, on each of its nodes',
    )
    add = p.add_argument_group('on Slurm').add_argument
    add('--time', type=positive, default=1440, metavar='MINUTES', help='(%(default)s)')
    add('--nodes', type=positive, default=1, metavar='N', help='hosts of each shard')
    add('--cpus', type=positive, metavar='N', help='for each job, on each of its nodes')
    add('--mem_gb', type=positive, metavar='GB', help='of each node')
    for name in ('partition', 'account', 'qos', 'constraint'):
        add(f'--{name}', metavar='NAME')
    add(
        '--setup',
        action='append',
        metavar='LINE',
        help='of shell, before: --setup="module load x"',
    )
    add('--name', default='anchorjax', help='in the queue (%(default)s)')
    add(
        '--signal_delay',
        type=positive,
        default=120,
        metavar='SECONDS',
        help='to save in',
    )
    add(
        '--wait',
        action='store_true',
        help='until all jobs ended; exit code 1 if one failed',
    )
    return p


def command() -> None:
    own, words = sweep_command.split(sys.argv[1:])
    flags = parser().parse_args(own)
    workdir = checked(words, flags)
    backends = load_backends()
    runners = [
        runner(Shard(i, flags.shards), words, workdir, flags)
        for i in range(flags.shards)
    ]
    folder = backends.make_private_folder(workdir)
    if flags.backend == 'slurm':
        failed = on_slurm(backends, runners, folder, workdir, flags)
    elif flags.backend == 'local':
        tell(workdir, f'{flags.shards} jobs here')
        failed = backends.run_local(
            runners, folder, flags.max_parallel or 1, flags.gpus
        )
    else:
        tell(workdir, f'{flags.shards} jobs one after another')
        failed = backends.run_here(runners, folder)
    for line in failed:
        print(f'error: {line}', file=sys.stderr)
    sys.exit(1 if failed else 0)


def on_slurm(backends, runners: list[Supervisor], folder, workdir, flags) -> list[str]:
    submitted = backends.submit_slurm(
        runners,
        folder,
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
        **{
            f'slurm_{n}': getattr(flags, n)
            for n in ('partition', 'account', 'qos', 'constraint')
        },
    )
    for shard, job in enumerate(submitted):
        announce_job(workdir, Shard(shard, flags.shards), job.job_id)
    tell(workdir, f'job {submitted[0].job_id.split("_")[0]} is in the queue')
    return submission.wait_slurm(submitted, runners) if flags.wait else []


def tell(workdir: pathlib.Path, what: str) -> None:
    print(f'{what}; logs: {workdir}/jobs/*.log', flush=True)
    print(f'status: python launch/status.py --run {workdir}', flush=True)


def checked(words: list[str], flags: argparse.Namespace) -> pathlib.Path:
    """The run's folder; raises UserError for what every job would refuse."""
    if flags.nodes > 1 and flags.backend != 'slurm':
        raise UserError(f'--nodes={flags.nodes} needs --backend=slurm')
    said, experiment = sweep_command.checked(words)
    return sweep_command.workdir(said.workdir, experiment).absolute()


def runner(shard: Shard, words: list[str], workdir: pathlib.Path, flags) -> Supervisor:
    script = pathlib.Path(__file__).absolute().with_name('sweep.py')
    line = [sys.executable, '-u', str(script), *words]
    line += ['--distributed'] if flags.nodes > 1 else []
    log, grace = log_path(workdir, shard), GRACE * flags.signal_delay
    return Supervisor(
        line, shard, log, retries=flags.retries, grace=grace, pause=flags.pause
    )


def load_backends():
    try:
        from anchorjax.cluster import submission
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[cluster]'") from None
    return submission


def positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f'{text!r} is not a positive whole number')
    return int(text)


if __name__ == '__main__':
    cli.run_command(command)
