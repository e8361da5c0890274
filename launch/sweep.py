"""Trains a whole grid: python launch/sweep.py --config configs/phase.py[:preset]

Prints the plan, a live line with rate and time left, the table of members, and the path of the
figure. The same command again resumes, or says that all is done. Exit codes: 2 bad input,
75 stopped by SIGTERM or SIGUSR2 with everything saved (run it again).
"""

from analysis import results
from anchorjax import cli, sweep_command
from anchorjax.cluster.job_files import hold_shard
from anchorjax.cluster.shards import parse_shard
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps import memory, signals
from anchorjax.sweeps.progress import ProgressLine, describe_memory, describe_plan
from anchorjax.sweeps.run import describe_environment, require_fit, run_sweep
from anchorjax.training import hosts
from anchorjax.training.members import make_mesh, use_every_core


def command() -> None:
    flags, experiment = cli.parse_command_line(
        sweep_command.parser(description=__doc__.splitlines()[0])
    )
    shard, workdir = (
        parse_shard(flags.shard),
        sweep_command.workdir(flags.workdir, experiment),
    )
    use_every_core()
    cli.join_hosts(flags)
    cli.use_compilation_cache()
    mesh = make_mesh(batch_devices=experiment.train.batch_devices)
    available = flags.device_memory or min(hosts.gather(memory.device_bytes(mesh)))
    numerics = describe_environment(experiment, mesh, available)
    new = not (workdir / MANIFEST_FILE).exists()
    with signals.catch_stop() as asked, hosts.silence_others():
        print(describe_plan(experiment, numerics, workdir, estimate=new), flush=True)
        if flags.dry_run:
            print(describe_memory(experiment, mesh, numerics, available))
            return
        if new:
            require_fit(experiment, mesh, numerics, device_bytes=available)
        there = create_folder(
            workdir, experiment, numerics, flags.allow_numerics_change
        )
        line = ProgressLine()
        with hold_shard(there, shard) as tell:
            progress = run_sweep(
                *(there, mesh, asked),
                report=lambda progress: (line.update(progress), tell(progress)),
                warn=line.warn,
                part=there.part(shard),
                allow=flags.allow_numerics_change,
                device_bytes=available,
            )
        line.close()
        if not progress.trained:
            print('all members are trained already')
        hosts.run_on_first(lambda: results.publish(there))


if __name__ == '__main__':
    cli.run_command(command)
