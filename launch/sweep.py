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
from anchorjax.sweepdir import create


def parser() -> cli.Parser:
    p = cli.Parser(description=__doc__.splitlines()[0], epilog='--config.x.y=z sets a field')
    add = p.add_argument
    add('--workdir', type=pathlib.Path, help='default: runs/<config name>')
    add('--dry_run', action='store_true', help='print the plan, memory measured, and stop')
    add('--shard', default='0/1', metavar='I/N', help='part I (from 0) of N')
    add('--allow_numerics_change', action='store_true', help='go on with other bits (recorded)')
    add('--device_memory', type=cli.gibibytes, metavar='GIB', help='what a device may use')
    add('--distributed', action='store_true', help='several hosts as one program; JAX finds them')
    add('--coordinator', metavar='HOST:PORT', help='of process 0, when JAX cannot find it')
    add('--processes', type=int, metavar='N', help='with --coordinator')
    add('--process', type=int, metavar='I', help='with --coordinator: this one, from 0')
    return p


def command() -> None:
    flags, experiment = cli.parse(parser())
    shard = shards.parse(flags.shard)
    sharding.use_every_core()
    cli.join_hosts(flags)
    cli.use_compilation_cache()
    mesh = sharding.mesh(batch_devices=experiment.train.batch_devices)
    available = flags.device_memory or min(hosts.everyone(memory.device_bytes(mesh)))
    numerics = sweep.numerics(experiment, mesh, available)
    workdir = flags.workdir or pathlib.Path('runs') / experiment.name
    with signals.flag() as asked, hosts.first_speaks():
        print(plan.describe(experiment, numerics, workdir))
        if flags.dry_run:
            print(plan.memory_of(experiment, mesh, numerics, available))
            return
        if not (workdir / manifest.NAME).exists():
            sweep.require_fit(experiment, mesh, numerics, device_bytes=available)
        there = create(workdir, experiment, numerics, flags.allow_numerics_change)
        line = plan.ProgressLine()
        with jobs.working(there, shard) as tell:
            report = lambda progress: (line.update(progress), tell(progress))
            progress = sweep.run(
                *(there, mesh, asked, report, line.warn),
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
