"""Trains a whole grid: python launch/sweep.py --config configs/phase.py[:preset]

Prints the plan, a live line with rate and time left, the table of members, and the path of the
figure. The same command again resumes, or says that all is done. Exit codes: 2 bad input,
75 stopped by SIGTERM with everything saved (run it again).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from analysis import phase
from anchorjax import cli, files, plan, sharding, store, sweep, sweepdir


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0], epilog='--config.x.y=z sets a field')
    parser.add_argument('--workdir', type=pathlib.Path, help='default: runs/<config name>')
    parser.add_argument('--dry_run', action='store_true', help='print the plan and stop')
    flags, experiment = cli.parse(parser)
    sharding.use_every_core()
    cli.use_compilation_cache()
    mesh = sharding.mesh()
    numerics = sweep.numerics(experiment, mesh)
    workdir = flags.workdir or pathlib.Path('runs') / experiment.name
    print(plan.describe(experiment, numerics, workdir))
    if flags.dry_run:
        return
    with files.lock(workdir):
        sweep_dir = sweepdir.create(workdir, experiment, numerics)
        line = plan.ProgressLine()
        progress = sweep.run(sweep_dir, mesh, line.update, line.warn)
        line.close()
        if not progress.trained:
            print('all members are trained already')
        run = store.finalize(sweep_dir)
        print(plan.summary(run))
        for path in phase.save(run, workdir / 'figures'):
            print(path)


if __name__ == '__main__':
    cli.main(command)
