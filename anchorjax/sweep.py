"""A whole sweep on the host, or one shard of it: every chunk that is not done yet."""

import dataclasses
import itertools
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from anchorjax import cost, hosts, lanes, manifest, memory, sharding, sweepdir
from anchorjax.config import Experiment
from anchorjax.grid import Cohort, HParams
from anchorjax.signals import Preempted
from anchorjax.trainer import Trainer

# Of XLA_FLAGS: how many fake devices there are is part of the layout already.
_NOT_NUMERIC = ('--xla_force_host_platform_device_count',)
_JAX_SETTINGS = ('jax_enable_x64', 'jax_default_matmul_precision', 'jax_threefry_partitionable')


@dataclasses.dataclass
class Progress:
    """Member-steps of the work at hand, for a progress line."""

    total: int
    done: int = 0  # including what earlier runs did
    trained: int = 0  # by this run
    seconds: float = 0.0  # of this run, in segments
    saving: float = 0.0  # of this run, in checkpoints
    label: str = ''

    @property
    def rate(self) -> float:
        """Member-steps per second of this run; 0 before the first segment."""
        return self.trained / self.seconds if self.seconds else 0.0


def numerics(
    experiment: Experiment, mesh: jax.sharding.Mesh, device_bytes: float | None = None
) -> dict[str, Any]:
    """What a run's bits hang on, beside its experiment; plain JSON values.

    The number of hosts is not among it: the same devices on one or several give the same bits.
    """
    device = mesh.devices.flat[0]
    layout = {
        'lanes': lanes.chosen(experiment, mesh, device_bytes or memory.device_bytes(mesh)),
        'devices': mesh.shape['member'],
        'batch_devices': mesh.shape['batch'],
        'platform': device.platform,
    }
    libraries = {name: version(name) for name in ('jax', 'jaxlib', 'flax', 'optax', 'numpy')}
    hardware = {'device': device.device_kind, 'machine': platform.machine()}
    if device.platform == 'cpu':
        hardware['cpu'] = sharding.cpu()
    parts = {'layout': layout, 'versions': libraries, 'hardware': hardware, 'flags': _flags()}
    return parts | {'precision': experiment.train.precision}


def _flags() -> dict[str, Any]:
    """Flags that change what is computed, or in which order."""
    given = os.environ.get('XLA_FLAGS', '').split()
    flags = sorted(f for f in given if f.partition('=')[0] not in _NOT_NUMERIC)
    return {'XLA_FLAGS': flags} | {name: getattr(jax.config, name) for name in _JAX_SETTINGS}


def run(
    sweep: sweepdir.SweepDir,
    mesh: jax.sharding.Mesh,
    asked: Callable[[], bool],
    report: Callable[[Progress], None],
    warn: Callable[[str], None] = print,
    part: range | None = None,
    allow: bool = False,
    device_bytes: float | None = None,
) -> Progress:
    """Trains what is not trained yet; may be interrupted anywhere and called again.

    Args:
      asked: says whether to stop (`signals.flag`).
      part: the chunks to train; all of them by default.
      allow: go on with chunks that were begun under other numerics.
      device_bytes: what a device may use; by default what it says it has.

    Raises:
      ConfigError: the largest program does not fit; nothing was started.
      Preempted: a stop was asked for; the state is saved.
      StoreError: the disk failed; what was saved before is whole.
    """
    steps, precision = sweep.experiment.train.num_steps, sweep.experiment.train.precision
    work = [sweep.chunks[i] for i in (range(len(sweep.chunks)) if part is None else part)]
    done = hosts.agreed([piece.chunk.done for piece in work])
    progress = Progress(total=sum(piece.real for piece in work) * steps)
    progress.done = sum(p.real for p, d in zip(work, done, strict=True) if d) * steps
    waiting = [piece for piece, d in zip(work, done, strict=True) if not d]
    if not allow:
        _require_same_numerics(sweep, waiting)
    with jax.default_matmul_precision(precision):
        trainers = _trainers(sweep, waiting, mesh)
        _require_fit(trainers, sweep, device_bytes or memory.device_bytes(mesh))
        for name, pieces in itertools.groupby(waiting, key=lambda piece: piece.cohort.name):
            _run_cohort(sweep, trainers[name], pieces, progress, asked, report, warn)
    return progress


def _trainers(sweep: sweepdir.SweepDir, waiting, mesh) -> dict[str, Trainer]:
    """One for each cohort that has work left."""
    static = {piece.cohort.name: piece.cohort.static for piece in waiting}
    width = sweep.numerics['layout']['lanes']
    return {n: Trainer(sweep.experiment.at(s), mesh, width) for n, s in static.items()}


def _require_fit(trainers: dict[str, Trainer], sweep: sweepdir.SweepDir, available: float) -> None:
    """Compiles the largest program first: what does not fit is said before anything starts."""
    if not trainers:
        return
    name = max(trainers, key=lambda name: cost.step_bytes(trainers[name].experiment))
    rows = sharding.padded_size(sweep.chunk_size, trainers[name].mesh, trainers[name].lanes)
    memory.require_fit(trainers[name].compile(rows), trainers[name].lanes, available, name)


def _run_cohort(sweep, trainer: Trainer, pieces, progress, asked, report, warn) -> None:
    """Trains the waiting chunks of one cohort with one compiled program."""
    index = sweep.known.index(sweep.numerics)
    for piece in pieces:
        if hosts.anyone(asked()):
            raise Preempted
        progress.label = f'{piece.cohort.name} chunk {piece.index}'
        hparams = chunk_hparams(piece.cohort, piece.index, sweep.chunk_size)
        tick = _ticker(progress, piece.real, report, asked)
        trainer.run(piece.chunk, hparams, index, tick, warn)
    progress.saving += trainer.saving


def _require_same_numerics(sweep: sweepdir.SweepDir, waiting) -> None:
    """Refuses to go on with members that were begun under other numerics."""
    for piece in waiting:
        history = piece.chunk.numerics()
        if history and (last := history[-1][1]) != sweep.known.index(sweep.numerics):
            there = sweep.known[last] if last < len(sweep.known) else {}
            manifest.refuse(piece.chunk.folder, there, sweep.numerics)


def chunk_hparams(cohort: Cohort, index: int, size: int) -> HParams:
    """HParams [size] of a chunk; beyond the last member of the cohort it repeats that member."""
    rows = np.minimum(np.arange(index * size, (index + 1) * size), cohort.size - 1)
    return jax.tree.map(lambda x: x[rows], cohort.hparams)


def _ticker(progress: Progress, real: int, report, asked) -> Callable:
    """The callback of one chunk: keeps the counts, reports, and passes on a wish to stop."""
    before = progress.done

    def tick(step: int, new_steps: int, seconds: float) -> bool:
        progress.done = before + step * real
        progress.trained += new_steps * real
        progress.seconds += seconds
        report(progress)
        return asked()

    return tick
