"""Trains a whole grid: python launch/sweep.py --config configs/phase.py[:preset]

Prints the plan, a live line with rate and time left, the table of members, and the path of the
figure. The same command again resumes, or says that all is done. Exit codes: 2 bad input,
75 stopped by SIGTERM or SIGUSR2 with everything saved (run it again).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from analysis import results
from anchorjax import cli, hosts, jobs, manifest, memory, plan, sharding, shards, signals, sweep
from anchorjax import sweep_command as words
from anchorjax.sweepdir import create


def command() -> None:
    flags, experiment = cli.parse(words.parser(description=__doc__.splitlines()[0]))
    shard, workdir = shards.parse(flags.shard), words.workdir(flags.workdir, experiment)
    sharding.use_every_core()
    cli.join_hosts(flags)
    cli.use_compilation_cache()
    mesh = sharding.mesh(batch_devices=experiment.train.batch_devices)
    available = flags.device_memory or min(hosts.everyone(memory.device_bytes(mesh)))
    numerics = sweep.numerics(experiment, mesh, available)
    new = not (workdir / manifest.NAME).exists()
    with signals.flag() as asked, hosts.first_speaks():
        print(plan.describe(experiment, numerics, workdir, estimate=new), flush=True)
        if flags.dry_run:
            print(plan.memory_of(experiment, mesh, numerics, available))
            return
        if new:
            sweep.require_fit(experiment, mesh, numerics, device_bytes=available)
        there = create(workdir, experiment, numerics, flags.allow_numerics_change)
        line = plan.ProgressLine()
        with jobs.working(there, shard) as tell:
            progress = sweep.run(
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
        hosts.by_first(lambda: results.publish(there))


if __name__ == '__main__':
    cli.main(command)
