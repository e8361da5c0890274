"""Trains the paper's own size on a GPU, in calls of any length that continue.

  pip install -e . 'jax[cuda12]'
  python launch/paper_size.py --out analysis/gallery/paper_gpu --budget_s 3600
  git add analysis/gallery/paper_gpu && git commit -m "The paper's size on a GPU"

stage        what (configs/paper_size.py; PAPERS 1.3, 1.7)         operations
bench_first  one row of the bench: it tells how much will fit
paper_30     depth 2, 30 epochs, gamma .3 to .8, 3 rates, 3 seeds  7.9e16, 54 members
full         gamma .5 and .8, rate 2e-4, one seed, all 210 epochs  2.1e16, 2 members
depths       gamma .5 and .8 at depth 3 to 6, 30 epochs            4.3e16, 8 members
bench        lanes 1, 4, 16 in float32, TF32, bfloat16; share of a bare product's rate

Every stage resumes what is in its folder below --root. The command stops itself before
the budget is over. After each piece of work it writes into --out, in 8 files at most:

  stages.md             progress, seconds, steps a second and time left of every stage
  members.csv           the members of all sweeps, with a column `stage`
  bench.csv             the rows of the bench
  results.tar.gz        results.nc of every sweep
  state_1_of_N.tar ...  what a fresh machine needs to continue, given as --state: all
                        finished members, the parameters of `full`, and unfinished ones
                        as far as they fit --state_mb (one of depth 2 does)

Exit codes: 0 all done, 1 a stage failed, 2 bad input, 75 the budget is over or a signal
came, with everything saved (run it again). --shrink does all of it in tiny sizes, on
any machine, with three of the nine rows of the bench. It has not been run on a GPU yet;
there a call that resumes may differ in the last bits, because XLA measures anew which
kernels are fastest.

Run the same command again until it exits with 0: on the machine where --root is, it
continues by itself. To continue on another one, where --root is empty, take along what
is in --out, and name that folder with --state. A machine that has no internet needs
the packages brought to it: analysis/gallery/costs.md, "Without internet", has the
commands. --list prints the stages and how far they are.

It commits nothing by itself. What --out has after any call is meant to be committed, in
a folder of analysis/gallery: 1.5 MB at most when all is done. Only the state is not,
whatever the folder: .gitignore leaves it out. So a clone has no state; copy the folder.
"""

import argparse
import pathlib
import sys

import jax
from jax.sharding import Mesh

from anchorjax import api, cli, config
from anchorjax.bench import precisions
from anchorjax.bench.speed import Size
from anchorjax.errors import UserError
from anchorjax.storage import atomic, portable
from anchorjax.sweeps import stages
from anchorjax.sweeps.cost import operations_of_sweep
from anchorjax.sweeps.ledger import (
    FAILED,
    LEDGER_FILE,
    Ledger,
    read_ledger,
    write_ledger,
)
from anchorjax.sweeps.progress import Progress, ProgressBar
from anchorjax.sweeps.shards import Shard
from anchorjax.sweeps.signals import catch_stop
from anchorjax.sweeps.stage_tables import collect_tables, describe_stages
from anchorjax.training.devices import make_mesh, use_every_core

CONFIG = pathlib.Path(__file__).parents[1] / 'configs' / 'paper_size.py'
BENCH_FILE = 'bench.json'
# The order in which the shards of a sweep are trained. Of paper_30, each is one gamma
# on a single GPU: first those of the official runs (PAPERS 1.7), then the ends.
SHARDS = {'paper_30': (5, 2, 0, 3, 1, 4), 'full': (0, 1), 'depths': (0,)}
NAMES = ('bench_first', *SHARDS, 'bench')
_SHRUNK_SCALE = precisions.Scale(Size(8, 4, 8, num_steps=2), 16, 64, rounds=2)
# Each compiles a program of its own, so these have every precision and every number of
# lanes once. As in the full bench, the one that training uses is first.
_SHRUNK_ROWS = [('tensorfloat32', 4), ('float32', 1), ('bfloat16', 16)]


def parse_flags() -> argparse.Namespace:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    folder = {'type': cli.parse_folder, 'metavar': 'DIR'}
    number = {'type': float, 'metavar': 'N'}
    add('--out', help='folder for what is worth keeping', **folder)
    text = 'seconds that this call has (%(default)g)'
    add('--budget_s', default=570.0, help=text, **number)
    text = 'of these, for saving and copying; nothing new begins in the as many before'
    add('--reserve_s', default=40.0, help=f'{text} (%(default)g)', **number)
    text = 'what an earlier call left in --out, to continue on another machine'
    add('--state', help=text, **folder)
    text = 'most MiB of state in --out (%(default)g)'
    add('--state_mb', default=40.0, help=text, **number)
    root = pathlib.Path('runs/paper_size')
    add('--root', default=root, help='folder of the sweeps (%(default)s)', **folder)
    add('--only', choices=NAMES, help='do this stage alone')
    add('--list', action='store_true', help='print the stages, and exit')
    add('--shrink', action='store_true', help='everything tiny, to try it on a CPU')
    text = 'continue although hardware, versions, layout or code changed'
    add('--allow_numerics_change', action='store_true', help=text)
    flags = parser.parse_args()
    if flags.out is None and not flags.list:
        raise UserError('--out is missing: give a folder for what is worth keeping')
    if not 0 <= 2 * flags.reserve_s < flags.budget_s:
        raise UserError(
            f'--budget_s={flags.budget_s:g}: must be more than twice --reserve_s, '
            f'which is {flags.reserve_s:g}'
        )
    if not 1 <= flags.state_mb <= 4096:
        raise UserError(f'--state_mb={flags.state_mb:g}: must be from 1 to 4096')
    return flags


def command() -> None:
    flags = parse_flags()
    use_every_core()
    cli.use_compilation_cache()
    all_stages = make_stages(flags, make_mesh())
    chosen = [stage for stage in all_stages if flags.only in (None, stage.name)]
    if flags.list:
        print_stages(chosen)
        return
    devices = jax.devices()
    device = f'{len(devices)} x {devices[0].device_kind}'
    with catch_stop() as is_requested:
        budget = stages.Budget(flags.budget_s, flags.reserve_s, is_requested)
        if flags.state:
            names = portable.restore_state(flags.state, flags.root)
            print(f'restored from {flags.state}: {", ".join(names) or "nothing new"}')
        ledger = read_ledger(flags.root)

        def keep() -> None:
            keep_results(flags, all_stages, ledger)

        had_time = stages.run_stages(chosen, budget, ledger, device, keep)
        keep()
    print((flags.out / 'stages.md').read_text())
    if not had_time:
        line = 'the budget is over and all is saved; the same command continues.'
        print(line, file=sys.stderr)
        sys.exit(cli.EXIT_PREEMPTED)
    has_failed = any(ledger[stage.name].state == FAILED for stage in chosen)
    is_complete = all(stage.is_done for stage in chosen)
    sys.exit(0 if is_complete and not has_failed else cli.EXIT_FAILED)


def make_stages(flags: argparse.Namespace, mesh: Mesh) -> list[stages.Stage]:
    """All stages, most valuable first."""
    rows = precisions.list_rows()
    scale = precisions.Scale()
    if flags.shrink:
        rows = _SHRUNK_ROWS
        scale = _SHRUNK_SCALE
    path = flags.root / BENCH_FILE
    made = [precisions.make_stage('bench_first', rows[:1], scale, path)]
    for name in SHARDS:
        made.append(make_sweep(name, flags, mesh))
    made.append(precisions.make_stage('bench', rows, scale, path))
    return made


def make_sweep(name: str, flags: argparse.Namespace, mesh: Mesh) -> stages.Stage:
    """The stage that trains a preset of configs/paper_size.py, shard by shard."""
    experiment = make_experiment(name, flags.shrink)
    workdir = flags.root / name
    line = ProgressBar()
    rate = 0.0

    def report(progress: Progress) -> None:
        nonlocal rate
        rate = progress.rate or rate
        line.update(progress)

    def make_piece(shard: Shard) -> stages.Piece:
        def train(should_stop: stages.ShouldStop) -> None:
            api.train(
                experiment,
                workdir,
                mesh=mesh,
                shard=shard,
                should_stop=should_stop,
                report=report,
                warn=line.warn,
                allow_environment_change=flags.allow_numerics_change,
            )

        return train

    def measure() -> stages.Amount:
        return stages.measure_sweep(experiment, workdir)

    def find_rate() -> float:
        return rate

    pieces = []
    for index in SHARDS[name]:
        pieces.append(make_piece(Shard(index, len(SHARDS[name]))))
    operations = operations_of_sweep(experiment)
    return stages.Stage(name, pieces, measure, find_rate, operations)


def make_experiment(name: str, shrink: bool) -> config.Experiment:
    """A preset; if shrunk, the same gammas with everything small that costs time."""
    c = config.load(f'{CONFIG}:{name}')
    if shrink:
        c.task.update(num_examples=640, probe_examples=16)
        c.model.update(width=8, head_dim=4, mlp_dim=8)
        c.train.update(batch_size=16, num_steps=8, eval_every=4)
        c.train.update(resume_every=0.0, lanes=1)
        c.optimizer.update(warmup_steps=2, schedule_steps=0)
        c.grid.learning_rate = c.grid.learning_rate[:1]
        c.grid.seed = c.grid.seed[:1]
        c.loop = tuple((path, values[:2]) for path, values in c.loop)
    return config.resolve(c)


def keep_results(
    flags: argparse.Namespace, all_stages: list[stages.Stage], ledger: Ledger
) -> None:
    """Writes all files of --out; what could not be kept is a line in stages.md."""
    write_ledger(flags.root, ledger)
    lines = collect_tables(flags.root, SHARDS, flags.out)
    lines += portable.pack_state(
        flags.root,
        flags.out,
        limit=int(flags.state_mb * 2**20),
        names=[LEDGER_FILE, BENCH_FILE, *SHARDS],
        params_of=['full'],
    )
    rows = []
    try:
        rows = precisions.read_rows(flags.root / BENCH_FILE)
    except UserError as e:  # a damaged bench must not cost the sweeps their tables
        lines.append(str(e))
    speed = rows[0].teraflops * 1e12 if rows else 0.0
    text = '# The paper at its own size\n\n'
    text += describe_stages(all_stages, ledger, speed)
    if lines:
        text += '\n- ' + '\n- '.join(lines) + '\n'
    text += '\nSpeed by precision and lanes:\n\n'
    text += precisions.make_table(rows)
    atomic.write_text(flags.out / 'stages.md', text)
    atomic.write_text(flags.out / 'bench.csv', precisions.make_csv(rows))


def print_stages(chosen: list[stages.Stage]) -> None:
    for stage in chosen:
        amount = stage.measure()
        members = f'{amount.members} members' if amount.members else ''
        unit = 'member-steps' if amount.members else 'rows'
        done = f'{amount.done:,} of {amount.total:,} {unit}'
        if amount.problem:
            done = f'unknown: {amount.problem}'
        print(f'{stage.name:12s} {members:16s} {done}')


if __name__ == '__main__':
    cli.run_command(command)
