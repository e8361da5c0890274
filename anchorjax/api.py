"""The two functions that a notebook needs: train a grid, open one that was trained.

from anchorjax import api, config

experiment = config.resolve(config.load('configs/phase.py'))
run = api.train(experiment, 'runs/phase')   # trains, resumes, or reads what is there
run.results.agreement.sel(probe='unseen', mapping='inferential')
"""

import contextlib
import pathlib
from collections.abc import Callable

from jax.sharding import Mesh

from anchorjax.cluster.job_files import hold_shard
from anchorjax.cluster.shards import WHOLE, Shard, chunks_of_shard
from anchorjax.config import Experiment
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps import memory
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.publish import Draw, draw_nothing, publish
from anchorjax.sweeps.run import never_stop, report_nothing, require_fit, run_sweep
from anchorjax.training import hosts
from anchorjax.training.devices import make_mesh, use_every_core

__all__ = ['Run', 'open', 'train']


def open(workdir: str | pathlib.Path) -> Run:
    """The sweep in a folder, finished or not, for reading.

    Raises:
      StoreError: there is none, or its manifest is damaged.
    """
    return open_run(workdir)


def train(
    experiment: Experiment,
    workdir: str | pathlib.Path,
    *,
    mesh: Mesh | None = None,
    shard: Shard = WHOLE,
    should_stop: Callable[[], bool] = never_stop,
    report: Callable[[Progress], None] = report_nothing,
    warn: Callable[[str], None] = print,
    draw: Draw = draw_nothing,
    allow_environment_change: bool = False,
    device_bytes: float | None = None,
) -> Run:
    """Trains every member that is not trained yet, and builds the tables of the sweep.

    Interrupted anywhere, the same call goes on where it stopped, with the same bits.

    Args:
      workdir: the folder of the sweep, new or begun.
      mesh: the devices; by default all of them (on a CPU one per core).
      shard: the part of the sweep that this call trains.
      should_stop: asked every few seconds; when it returns True, the state is saved.
      report: called with the progress every few seconds.
      warn: called with a line for every damaged state that is skipped.
      draw: writes figures when the tables are built, as `analysis.phase.save` does.
      allow_environment_change: go on although hardware, versions or layout changed, so
        that bits change; it is recorded.
      device_bytes: what a device may use; by default what it says it has.

    Returns:
      The run, to read. With several hosts the first builds the tables for all.

    Raises:
      ConfigError: the members do not fit the devices; nothing was written.
      StoreError: the folder holds another sweep, is damaged or cannot be written.
      Preempted: should_stop returned True; everything is saved.
    """
    workdir = pathlib.Path(workdir)
    if mesh is None:
        # Too late when this process has computed with JAX already: then one core is
        # used.
        with contextlib.suppress(RuntimeError):
            use_every_core()
        mesh = make_mesh(batch_devices=experiment.train.batch_devices)
    if device_bytes is None:
        device_bytes = min(hosts.gather(memory.device_bytes(mesh)))
    environment = describe_environment(experiment, mesh, device_bytes)
    if not (workdir / MANIFEST_FILE).exists():
        require_fit(experiment, mesh, environment, device_bytes=device_bytes)
    folder = create_folder(workdir, experiment, environment, allow_environment_change)

    with hold_shard(folder, shard) as tell_status:

        def report_to_both(progress: Progress) -> None:
            report(progress)
            tell_status(progress)

        run_sweep(
            folder,
            mesh,
            chunks=chunks_of_shard(folder, shard),
            should_stop=should_stop,
            report=report_to_both,
            warn=warn,
            allow_environment_change=allow_environment_change,
            device_bytes=device_bytes,
        )
    hosts.run_on_first(lambda: publish(folder, draw))
    return Run(folder)
