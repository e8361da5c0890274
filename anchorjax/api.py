"""The two functions that a notebook needs: train a sweep, and open a trained one.

from anchorjax import api, config

experiment = config.resolve(config.load('configs/phase.py'))
run = api.train(experiment, 'runs/phase')   # trains, resumes, or reads what is there
run.results.agreement.sel(eval_set='unseen', mapping='composed')

In a multiprocessing Pool use spawn: what reads a network cannot run in a fork.
"""

import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Callable

import jax
from jax.sharding import Mesh

from anchorjax.errors import CliError, brief
from anchorjax.experiment import Experiment
from anchorjax.storage.manifest import compare_programs, describe_changed_code
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.code import digest_code
from anchorjax.sweeps.jobs import hold_shard
from anchorjax.sweeps.prepare import Sweep, begin, prepare, require_beginning
from anchorjax.sweeps.progress import Progress, ProgressBar
from anchorjax.sweeps.publish import Draw, publish
from anchorjax.sweeps.run import Report, ShouldStop, Warn, run_sweep
from anchorjax.sweeps.shards import WHOLE, Shard, chunks_of_shard
from anchorjax.sweeps.signals import Preempted, catch_interrupt
from anchorjax.training import hosts
from anchorjax.training.devices import make_mesh, use_every_core
from anchorjax.training.programs import digest_programs

open = open_run
_BETWEEN_PICTURES = 30.0  # seconds


def train(
    experiment: Experiment,
    workdir: str | pathlib.Path,
    *,
    mesh: Mesh | None = None,
    shard: Shard = WHOLE,
    should_stop: ShouldStop | None = None,
    report: Report | None = None,
    warn: Warn = print,
    draw: Draw | None = None,
    allow_environment_change: bool = False,
    device_bytes: float | None = None,
) -> Run:
    """Trains every member that is not trained yet, and writes the tables of the sweep.

    After an interruption the same call resumes from the last save, and the result has
    the same bits as without the interruption. (On a GPU the last bits may differ: XLA
    measures anew which kernels are fastest.)

    Args:
      workdir: the folder of the sweep, new or begun.
      mesh: from `training.devices.make_mesh`; by default all devices (on a CPU, one per
        core).
      shard: the part of the sweep that this call trains: `sweeps.shards.Shard(0, 4)`.
      should_stop: called every few seconds; when it returns True, training saves and
        stops.
      report: called with the progress every few seconds; by default it is printed.
      warn: called with a line for every damaged state that is skipped, if the CPU is
        not one device per core, and if the code has changed since training finished.
      draw: writes figures once the tables are written, as
        `analysis.first_look.save_figures` does.
      allow_environment_change: continue although hardware, versions, layout or code
        changed; bits may then differ, and the manifest records the change.
      device_bytes: bytes that a device may use; by default `memory.device_bytes`.

    Returns:
      The sweep, for reading. With several hosts, the first writes the tables.

    Raises:
      ConfigError: the members do not fit the devices, a task or a model breaks its
        contract (`sweeps.checks`), or `experiment` was not made by `config.resolve`;
        nothing was trained.
      StoreError: the folder holds another sweep, was trained in another environment,
        is in use, is damaged or cannot be written.
      UserError: the data of a task cannot be read, there is no such shard, workdir is
        '', or what will be written does not fit its disk.
      Preempted: should_stop returned True; everything is saved.
      KeyboardInterrupt: Ctrl-C, or a notebook's stop button; everything is saved, and
        the same call resumes. A second one does not wait for that.
    """
    if mesh is None:
        with contextlib.suppress(RuntimeError):  # before anything else uses JAX
            use_every_core()
    return train_prepared(
        prepare(experiment, workdir, shard),
        mesh=mesh,
        should_stop=should_stop,
        report=report,
        warn=warn,
        draw=draw,
        allow_environment_change=allow_environment_change,
        device_bytes=device_bytes,
    )


def train_prepared(
    sweep: Sweep,
    *,
    mesh: Mesh | None = None,
    should_stop: ShouldStop | None = None,
    report: Report | None = None,
    warn: Warn = print,
    draw: Draw | None = None,
    draw_cohort: Draw | None = None,
    allow_environment_change: bool = False,
    device_bytes: float | None = None,
) -> Run:
    """`train` of a sweep of which `prepare` has told the plan.

    Args:
      draw_cohort: as `draw`, whenever a cohort is trained and another one follows.
    """
    begun = sweep.folder
    if begun is not None and sweep.is_finished:
        _warn_of_code(begun, warn)
        with hold_shard(begun, sweep.shard):
            pass  # removes what killed jobs left
        hosts.run_on_first(lambda: publish(begun, draw))
        return Run(begun)
    require_beginning(sweep)
    if mesh is None:
        mesh = _use_all_devices(sweep.experiment, warn)
    folder = begin(sweep, mesh, device_bytes, allow_environment_change)
    show = report or (ProgressBar().update if hosts.is_first() else None)

    with hold_shard(folder, sweep.shard) as report_to_job, catch_interrupt() as stopped:

        def report_to_both(progress: Progress) -> None:
            report_to_job(progress)
            if show is not None:
                show(progress)

        try:
            run_sweep(
                folder,
                mesh,
                chunks=chunks_of_shard(folder, sweep.shard),
                should_stop=lambda: stopped() or bool(should_stop and should_stop()),
                report=report_to_both,
                warn=warn,
                after_cohort=_publish_seldom(folder, draw_cohort, warn),
                allow_environment_change=allow_environment_change,
            )
        except Preempted:
            if not stopped():
                raise
        if stopped():  # after the last step, too: it is for the caller's loop
            raise KeyboardInterrupt('everything is saved; the same call resumes')
    hosts.run_on_first(lambda: publish(folder, draw))
    return Run(folder)


def _publish_seldom(
    folder: SweepFolder, draw: Draw | None, warn: Warn
) -> Callable[[], None] | None:
    """What is called between cohorts, which may train in a second."""
    last = time.monotonic()

    def publish_if_due() -> None:
        nonlocal last
        (is_due,) = hosts.broadcast([time.monotonic() - last > _BETWEEN_PICTURES])
        if is_due:
            try:
                hosts.run_on_first(lambda: publish(folder, draw))
            except CliError as e:  # training goes on
                warn(str(e))
            last = time.monotonic()

    return publish_if_due if draw else None


def _use_all_devices(experiment: Experiment, warn: Warn) -> Mesh:
    try:
        use_every_core()
    except RuntimeError:
        warn(
            'this process has used JAX before api.train, so it trains on '
            f'{jax.device_count()} device(s) instead of one per core'
        )
    return make_mesh(batch_devices=experiment.train.batch_devices)


def _warn_of_code(finished: SweepFolder, warn: Warn) -> None:
    """Warns if the code was edited since: the members stay as they were trained."""
    last = finished.environments[-1]
    ours = dataclasses.replace(last, code=digest_code(finished.experiment))
    changed = describe_changed_code(last, ours)
    if not changed:
        programs = digest_programs(finished.experiment)
        others, _ = compare_programs(finished.environments, programs)
        changed = brief(', '.join(f'another {name}' for name in others))
    if changed:
        warn(
            f'{finished.workdir} was trained with other code: '
            f'{changed}; its members stay as they are; use another --workdir to train '
            'them with this code'
        )
