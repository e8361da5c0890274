"""The two functions that a notebook needs: train a sweep, and open a trained one.

from anchorjax import api, config

experiment = config.resolve(config.load('configs/phase.py'))
run = api.train(experiment, 'runs/phase')   # trains, resumes, or reads what is there
run.results.agreement.sel(probe='unseen', mapping='inferential')
"""

import contextlib
import dataclasses
import pathlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import jax
from jax.sharding import Mesh

from anchorjax.errors import ConfigError, StoreUnavailable
from anchorjax.experiment import Experiment
from anchorjax.storage import locks
from anchorjax.storage.environment import changed_code
from anchorjax.storage.manifest import MANIFEST_FILE, describe_files
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import (
    SweepFolder,
    as_folder,
    create_folder,
    read_folder,
)
from anchorjax.sweeps import memory
from anchorjax.sweeps.code import digest_code
from anchorjax.sweeps.environment import add_data, describe_environment
from anchorjax.sweeps.plan import require_disk
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.publish import Draw, publish
from anchorjax.sweeps.run import (
    Report,
    ShouldStop,
    Warn,
    remove_leftovers,
    run_sweep,
    select_chunks,
)
from anchorjax.sweeps.shards import WHOLE, Shard, chunks_of_shard
from anchorjax.training import hosts
from anchorjax.training.devices import make_mesh, use_every_core

__all__ = ['Run', 'open', 'train']


def open(workdir: str | pathlib.Path) -> Run:
    """The sweep in a folder, finished or not, for reading.

    Raises:
      StoreError: there is none, or its manifest is damaged.
    """
    return open_run(workdir)


@contextlib.contextmanager
def lock_chunks(folder: SweepFolder, shard: Shard) -> Iterator[None]:
    """Locks the chunks of a shard, so that no other process trains them.

    Raises:
      StoreUnavailable: another process trains some of them.
    """
    lock = locks.hold_chunks(folder.workdir, chunks_of_shard(folder, shard))
    with contextlib.ExitStack() as stack:
        try:
            hosts.run_on_first(lambda: stack.enter_context(lock))
        except StoreUnavailable as e:
            raise StoreUnavailable(f'{folder.workdir}: {e} by another process') from e
        yield


# Holds the chunks of a shard while they train; may yield a function for the progress.
Hold = Callable[[SweepFolder, Shard], AbstractContextManager[Report | None]]


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
    hold: Hold = lock_chunks,
    allow_environment_change: bool = False,
    device_bytes: float | None = None,
) -> Run:
    """Trains every member that is not trained yet, and writes the tables of the sweep.

    After an interruption the same call resumes from the last save, and the result has
    the same bits as without the interruption.

    Args:
      workdir: the folder of the sweep, new or begun.
      mesh: from `training.devices.make_mesh`; by default all devices (on a CPU, one per
        core).
      shard: the part of the sweep that this call trains.
      should_stop: called every few seconds; when it returns True, training saves and
        stops.
      report: called with the progress every few seconds.
      warn: called with a line for every damaged state that is skipped, if the CPU is
        not one device per core, if the code was edited since all was trained, and if
        the tables of before hold more members, which they then keep.
      draw: writes figures once the tables are written, as `analysis.first_look` does.
      hold: how the chunks are held while they train; a job of a cluster also says
        what it is doing (`cluster.job_files.hold_shard`).
      allow_environment_change: continue although hardware, versions, layout or code
        changed; bits may then differ, and the manifest records the change.
      device_bytes: bytes that a device may use; by default `memory.device_bytes`.

    Returns:
      The sweep, for reading. With several hosts, the first writes the tables.

    Raises:
      ConfigError: the members do not fit the devices, or `experiment` was not made by
        `config.resolve`; nothing was trained.
      StoreError: the folder holds another sweep, was trained in another environment,
        is in use, is damaged or cannot be written.
      UserError: the data of a task cannot be read, workdir is '', or what will be
        written does not fit its disk.
      Preempted: should_stop returned True; everything is saved.
    """
    if not isinstance(experiment, Experiment):
        kind = type(experiment).__name__
        raise ConfigError(f'experiment: is a {kind}; give config.resolve(config)')
    workdir = as_folder(workdir)
    # Before anything else uses JAX.
    is_too_late = mesh is None and not _try_every_core()
    finished = _find_finished(experiment, workdir, shard)
    if finished is not None:
        _warn_of_code(finished, warn)
        with hold(finished, shard):
            chunks = select_chunks(finished, chunks_of_shard(finished, shard))
            hosts.run_on_first(lambda: remove_leftovers(chunks))
        hosts.run_on_first(lambda: publish(finished, draw))
        return Run(finished)
    hosts.run_on_first(lambda: require_disk(experiment, workdir))
    if is_too_late:
        warn(
            'this process has used JAX before api.train, so it trains on '
            f'{jax.device_count()} device(s) instead of one per core'
        )
    if mesh is None:
        mesh = make_mesh(batch_devices=experiment.train.batch_devices)
    if device_bytes is None:
        device_bytes = min(hosts.gather(memory.device_bytes(mesh)))
    environment = describe_environment(experiment, mesh, device_bytes, workdir)
    environment = add_data(environment, experiment)
    if not (workdir / MANIFEST_FILE).exists():
        memory.require_fit(experiment, mesh, environment.lanes, device_bytes)
    folder = create_folder(workdir, experiment, environment, allow_environment_change)

    with hold(folder, shard) as tell_status:

        def report_to_both(progress: Progress) -> None:
            for tell in (report, tell_status):
                if tell is not None:
                    tell(progress)

        run_sweep(
            folder,
            mesh,
            chunks=chunks_of_shard(folder, shard),
            should_stop=should_stop,
            report=report_to_both,
            warn=warn,
            allow_environment_change=allow_environment_change,
        )
    hosts.run_on_first(lambda: publish(folder, draw))
    return Run(folder)


def _warn_of_code(finished: SweepFolder, warn: Warn) -> None:
    """Warns if the code was edited since: the members stay as they were trained."""
    last = finished.environments[-1]
    ours = dataclasses.replace(last, code=digest_code(finished.experiment))
    changed = changed_code(last, ours)
    if changed:
        warn(
            f'{finished.workdir} was trained with other code: '
            f'{describe_files(changed)}; its members stay as they are; use another '
            '--workdir to train them with this code'
        )


def _find_finished(
    experiment: Experiment, workdir: pathlib.Path, shard: Shard
) -> SweepFolder | None:
    """The folder of this sweep, if every member of the shard is trained.

    To read it, it does not matter where it was trained.
    """
    if not hosts.broadcast((workdir / MANIFEST_FILE).exists()):
        return None
    folder = read_folder(workdir)
    if folder.experiment != experiment:
        return None
    chunks = select_chunks(folder, chunks_of_shard(folder, shard))
    is_done = hosts.broadcast(all(chunk.folder.done for chunk in chunks))
    return folder if is_done else None


def _try_every_core() -> bool:
    """Asks JAX for one device per core of a CPU; False if JAX is in use already."""
    try:
        use_every_core()
    except RuntimeError:
        return False
    return True
