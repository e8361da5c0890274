"""A sweep before it is trained: what its folder holds, and what is left to train."""

import dataclasses
import math
import pathlib
import shutil
from typing import NamedTuple

import jax
from jax.sharding import Mesh

from anchorjax import config
from anchorjax.caching import forget_changed_files
from anchorjax.errors import ConfigError, StoreUnavailable, UserError
from anchorjax.experiment import AUTO, Experiment
from anchorjax.storage import checkpoint
from anchorjax.storage.manifest import find_sweep
from anchorjax.storage.sweep_folder import (
    SweepFolder,
    as_folder,
    create_folder,
    open_folder,
)
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.checks import require_model, require_trainable
from anchorjax.sweeps.environment import add_data, describe_environment
from anchorjax.sweeps.memory import MOST_LANES, format_bytes
from anchorjax.sweeps.shards import WHOLE, Shard, chunks_of_shard
from anchorjax.training import hosts
from anchorjax.training.curves import record_shapes


class Work(NamedTuple):
    """Members of one cohort that are not trained yet."""

    experiment: Experiment  # of the cohort
    members: int
    rows: int  # of their chunks, which are saved with their padding
    chunk_size: int
    steps: int  # left of each
    snapshots: int  # left of each
    in_shard: float  # the share of the members that this shard trains


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A sweep that may be trained: what is known of it from its folder."""

    experiment: Experiment
    workdir: pathlib.Path
    shard: Shard
    folder: SweepFolder | None  # None: it has not begun
    work: list[Work]  # of all shards
    is_finished: bool  # whether all members of this shard are trained

    @property
    def disk_bytes(self) -> float:
        """Bytes to come: snapshots, curves (twice: chunks, results.nc) and states."""
        kept = newest_states = 0.0
        for left in self.work:
            numbers = left.snapshots * cost.num_parameters(left.experiment)
            shapes = record_shapes(left.experiment.task.make())
            of_record = sum(math.prod(shape) for shape in shapes)
            numbers += 2 * of_record * len(left.experiment.record_steps)
            kept += 4.0 * numbers * left.rows
            # Two are kept while the next one is written.
            states = 3.0 * left.chunk_size * cost.state_bytes(left.experiment)
            newest_states = max(newest_states, states)
        return kept + newest_states

    @property
    def free_bytes(self) -> float:
        """The free bytes of the file system of its folder, which need not be there."""
        existing = self.workdir
        while not existing.exists():
            existing = existing.parent
        return shutil.disk_usage(existing).free


def prepare(
    experiment: Experiment, workdir: str | pathlib.Path, shard: Shard = WHOLE
) -> Sweep:
    """A sweep, new or begun; every process must call it.

    Raises:
      ConfigError: `experiment` was not made by `config.resolve`, or a model of a new
        sweep breaks its contract.
      StoreError: the folder holds another sweep, is damaged, or is not shared by all
        hosts.
      UserError: workdir is none, or there is no such shard.
    """
    _require_resolved(experiment)
    if not (isinstance(shard, Shard) and 0 <= shard.index < shard.count):
        allowed = 'Shard(index, count) with 0 <= index < count'
        raise UserError(f'shard = {shard!r}: must be {allowed}')
    forget_changed_files()
    # New objects of its task and model: what this process has compiled of a task whose
    # functions were edited since, in a notebook, is not found again.
    experiment = config.from_dict(config.to_dict(experiment))
    workdir = as_folder(workdir)
    manifest = hosts.run_together(lambda: find_sweep(workdir, experiment))
    is_new = hosts.gather(manifest is None)
    if any(is_new) and not all(is_new):
        raise StoreUnavailable(f'{workdir}: not every host sees the sweep in it')
    if manifest is None:
        require_model(experiment)  # which the plan looks into
        work = _list_new_work(experiment, shard)
        return Sweep(experiment, workdir, shard, None, work, is_finished=False)
    folder = open_folder(workdir, manifest)
    in_shard = chunks_of_shard(folder, shard)
    chunks = [folder.chunks[i] for i in in_shard]
    is_finished = hosts.broadcast(all(chunk.folder.done for chunk in chunks))
    work = _list_work(folder, in_shard)
    return Sweep(experiment, workdir, shard, folder, work, is_finished)


def _require_resolved(experiment: Experiment) -> None:
    if not isinstance(experiment, Experiment):
        kind = type(experiment).__name__
        raise ConfigError(f'experiment: is a {kind}; give config.resolve(config)')
    if not experiment.is_resolved:
        raise ConfigError(
            'experiment: was changed after config.resolve, as by dataclasses.replace, '
            'and what depends on the changed values was not; change the config, and '
            'resolve it again'
        )


def require_beginning(sweep: Sweep) -> None:
    """Raises what `api.train` would before it compiles anything, and nothing later.

    The errors are those of `sweeps.checks.require_trainable`, of a sweep that has not
    begun. UserError if what it will write does not fit the disk; of one that has begun
    StoreUnavailable: it did fit, and may again.
    """
    if sweep.folder is None:
        require_trainable(sweep.experiment)
    needed, free = hosts.broadcast([sweep.disk_bytes, sweep.free_bytes])
    if needed > free:
        error = StoreUnavailable if sweep.folder else UserError
        raise error(
            f'{sweep.workdir}: the sweep writes {format_bytes(needed)}, but only '
            f'{format_bytes(free)} are free there; use a --workdir on a larger disk, '
            'fewer train.snapshot_steps or fewer members'
        )


def begin(
    sweep: Sweep, mesh: Mesh, device_bytes: float | None, allow_change: bool
) -> SweepFolder:
    """The folder in which this process trains, with its environment in the manifest.

    Args:
      device_bytes, allow_change: as of `api.train`.

    Raises:
      ConfigError: the members of a new sweep do not fit the devices.
      StoreError: as of `create_folder`.
    """
    experiment = sweep.experiment
    if device_bytes is None:
        device_bytes = float(min(hosts.gather(memory.device_bytes(mesh))))
    before = sweep.folder.environments if sweep.folder else ()
    environment = describe_environment(experiment, mesh, device_bytes, before)
    environment = add_data(environment, experiment)
    if sweep.folder is None:
        memory.require_fit(experiment, mesh, environment.lanes, device_bytes)
    return create_folder(sweep.workdir, experiment, environment, allow_change)


def _list_new_work(experiment: Experiment, shard: Shard) -> list[Work]:
    """By cohort: what chunks there will be is not known yet."""
    train = experiment.train
    work = []
    for cohort in experiment.cohorts():
        size = _guess_chunk_size(experiment, cohort.size)
        left = Work(
            experiment.of_cohorts[cohort.name],
            members=cohort.size,
            rows=math.ceil(cohort.size / size) * size,
            chunk_size=size,
            steps=train.num_steps,
            snapshots=len({*train.snapshot_steps, train.num_steps}),
            in_shard=1 / shard.count,
        )
        work.append(left)
    return work


def _list_work(folder: SweepFolder, in_shard: range) -> list[Work]:
    """By chunk."""
    train = folder.experiment.train
    wanted = {*train.snapshot_steps, train.num_steps}
    work = []
    for index, chunk in enumerate(folder.chunks):
        if chunk.folder.done:
            continue
        saved = checkpoint.list_steps(chunk.folder.path / 'resume')
        left = Work(
            folder.experiment.of_cohorts[chunk.cohort.name],
            members=chunk.num_members,
            rows=folder.chunk_size,
            chunk_size=folder.chunk_size,
            steps=train.num_steps - max(saved, default=0),
            snapshots=len(wanted.difference(chunk.folder.snapshot_steps())),
            in_shard=float(index in in_shard),
        )
        work.append(left)
    return work


def _guess_chunk_size(experiment: Experiment, num_members: int) -> int:
    """The most members that train at the same time; see `choose_lanes`."""
    devices = max(1, jax.device_count() // experiment.train.batch_devices)
    lanes = experiment.train.lanes
    if lanes == AUTO:
        most_lanes = 1 if jax.default_backend() == 'cpu' else MOST_LANES
        lanes = min(most_lanes, math.ceil(num_members / devices))
    return lanes * devices
