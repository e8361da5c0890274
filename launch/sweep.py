"""Trains a sweep: python launch/sweep.py --config configs/phase.py[:preset]

Prints the plan, the progress, the table of members, what the claims say of them, and
where the figures are, which fill while it trains. The same command again resumes, or
says that all is done. Exit codes: 1 failed for a reason that may pass (a full disk,
other hosts that do not answer), 2 bad input, or a figure that cannot be drawn, 75
stopped by Ctrl-C, SIGHUP, SIGTERM or SIGUSR2 with everything saved (run it again).
Output that cannot be written stops nothing.
"""

import pathlib

from analysis.first_look import save_figures, show_run
from anchorjax import api, cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.sweeps.plan import describe_sweep
from anchorjax.sweeps.prepare import prepare, require_beginning
from anchorjax.sweeps.progress import ProgressBar
from anchorjax.sweeps.shards import parse_shard
from anchorjax.sweeps.signals import catch_stop
from anchorjax.training import hosts
from anchorjax.training.devices import use_every_core


def command() -> None:
    parser = cli.sweep_parser(description=__doc__)
    flags, experiment = cli.parse_command_line(parser)
    shard = parse_shard(flags.shard)
    workdir = cli.sweep_workdir(flags.workdir, experiment)
    try:
        use_every_core()
    except RuntimeError:
        raise UserError(
            'JAX was used before the sweep began: a file of a task or a model, or the '
            'config, makes a JAX array at its top, or the task does in `make`; make it '
            'in the functions of the task (make_data, batch, eval sets), or with NumPy'
        ) from None
    cli.join_hosts(flags)
    cli.use_compilation_cache()

    with cli.lose_output(), catch_stop() as should_stop, hosts.silence_others():
        sweep = prepare(experiment, workdir, shard)
        print(describe_sweep(sweep), flush=True)
        if flags.dry_run:
            require_beginning(sweep)
            return
        bar = ProgressBar()

        def draw(run: Run, figures: pathlib.Path) -> list[pathlib.Path]:
            bar.close()
            return show_run(run, figures, flags.overrides)

        api.train_prepared(
            sweep,
            should_stop=should_stop,
            report=bar.update,
            warn=bar.warn,
            draw=draw,
            draw_cohort=save_figures,
            allow_environment_change=flags.allow_numerics_change,
            device_bytes=flags.device_memory,
        )


if __name__ == '__main__':
    cli.run_command(command)
