"""Trains a sweep: python launch/sweep.py --config configs/phase.py[:preset]

Prints the plan, a progress line with rate and time left, the table of members, and the
path of the figure. The same command again resumes, or says that all is done. Exit
codes: 1 what may be temporary (other hosts did not answer, another job trains
these members, the disk is full), 2 bad input, 75 stopped by SIGTERM or SIGUSR2 with
everything saved (run it again), 130 interrupted.
"""

import pathlib

from analysis.p1 import phase
from anchorjax import api, cli
from anchorjax.cluster.shards import Shard, parse_shard
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run
from anchorjax.storage.sweep_folder import check_folder
from anchorjax.sweeps import memory
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.plan import describe_data, describe_memory, describe_plan
from anchorjax.sweeps.progress import Progress, ProgressLine
from anchorjax.sweeps.signals import catch_stop
from anchorjax.training import hosts
from anchorjax.training.devices import make_mesh, use_every_core


def command() -> None:
    parser = cli.sweep_parser(description=__doc__)
    flags, experiment = cli.parse_command_line(parser)
    shard = parse_shard(flags.shard)
    workdir = cli.sweep_workdir(flags.workdir, experiment)
    use_every_core()
    cli.join_hosts(flags)
    cli.use_compilation_cache()
    hosts.run_on_first(lambda: check_folder(workdir, experiment))
    mesh = make_mesh(batch_devices=experiment.train.batch_devices)
    available = flags.device_memory or min(hosts.gather(memory.device_bytes(mesh)))
    environment = describe_environment(experiment, mesh, available, workdir)
    is_new = not (workdir / MANIFEST_FILE).exists()

    with catch_stop() as should_stop, hosts.silence_others():
        plan = describe_plan(experiment, environment, workdir, estimate=is_new)
        print(plan, flush=True)
        print(describe_data(experiment), end='', flush=True)
        if flags.dry_run:
            print(describe_memory(experiment, mesh, environment, available))
            return
        line = ProgressLine()
        has_trained = False

        def report(progress: Progress) -> None:
            nonlocal has_trained
            has_trained = True
            line.update(progress)

        def draw(run: Run, figures: pathlib.Path) -> list[pathlib.Path]:
            line.close()
            if not has_trained:
                print(describe_trained(run, shard))
            paths = phase.save(run, figures)
            cli.print_results(run, paths)
            return paths

        api.train(
            experiment,
            workdir,
            mesh=mesh,
            shard=shard,
            should_stop=should_stop,
            report=report,
            warn=line.warn,
            draw=draw,
            allow_environment_change=flags.allow_numerics_change,
            device_bytes=available,
        )


def describe_trained(run: Run, shard: Shard) -> str:
    """What is said if this command had nothing to train."""
    num_left = int((~run.results.trained).sum())
    if not num_left:
        return 'all members are trained already'
    return (
        f'all members of shard {shard} are trained already; '
        f'left to other shards: {num_left}'
    )


if __name__ == '__main__':
    cli.run_command(command)
