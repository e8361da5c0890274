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

from anchorjax.config import Experiment
from anchorjax.config.grid import Cohort, HParams
from anchorjax.storage.manifest import refuse_environment
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.lanes import choose_lanes
from anchorjax.sweeps.signals import Preempted
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training import hosts
from anchorjax.training.members import cpu_fingerprint, padded_size

# Of XLA_FLAGS: how many fake devices there are is part of the layout already.
_NOT_NUMERIC = ('--xla_force_host_platform_device_count',)
_JAX_SETTINGS = (
    'jax_enable_x64',
    'jax_default_matmul_precision',
    'jax_threefry_partitionable',
)


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


def describe_environment(
    experiment: Experiment, mesh: jax.sharding.Mesh, device_bytes: float | None = None
) -> dict[str, Any]:
    """What a run's bits hang on, beside its experiment; plain JSON values.

    The number of hosts is not among it: the same devices on one or several give the same bits.
    """
    device = mesh.devices.flat[0]
    layout = {
        'lanes': choose_lanes(
            experiment, mesh, device_bytes or memory.device_bytes(mesh)
        ),
        'devices': mesh.shape['member'],
        'batch_devices': mesh.shape['batch'],
        'platform': device.platform,
    }
    libraries = {
        name: version(name) for name in ('jax', 'jaxlib', 'flax', 'optax', 'numpy')
    }
    hardware = {'device': device.device_kind, 'machine': platform.machine()}
    if device.platform == 'cpu':
        hardware['cpu'] = cpu_fingerprint()
    parts = {
        'layout': layout,
        'versions': libraries,
        'hardware': hardware,
        'flags': _flags(),
    }
    return parts | {'precision': experiment.train.precision}


def _flags() -> dict[str, Any]:
    """Flags that change what is computed, or in which order."""
    words = (word.partition('=') for word in os.environ.get('XLA_FLAGS', '').split())
    flags = {name: value for name, _, value in words if name not in _NOT_NUMERIC}
    return flags | {name: getattr(jax.config, name) for name in _JAX_SETTINGS}


def run_sweep(
    sweep: SweepFolder,
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
    steps = sweep.experiment.train.num_steps
    work = [
        sweep.chunks[i] for i in (range(len(sweep.chunks)) if part is None else part)
    ]
    hosts.run_on_first(lambda: [piece.chunk.tidy() for piece in work])
    done = hosts.broadcast([piece.chunk.done for piece in work])
    progress = Progress(total=sum(piece.real for piece in work) * steps)
    progress.done = sum(p.real for p, d in zip(work, done, strict=True) if d) * steps
    waiting = [piece for piece, d in zip(work, done, strict=True) if not d]
    if not allow:
        _require_same_numerics(sweep, waiting)
    statics = {piece.cohort.static for piece in waiting}
    require_fit(
        sweep.experiment, mesh, sweep.numerics, statics, sweep.chunk_size, device_bytes
    )
    for _, pieces in itertools.groupby(waiting, key=lambda piece: piece.cohort.name):
        _run_cohort(sweep, list(pieces), mesh, progress, asked, report, warn)
    return progress


def require_fit(
    experiment: Experiment,
    mesh: jax.sharding.Mesh,
    numerics: dict,
    statics=None,
    chunk_size: int = 1,
    device_bytes: float | None = None,
) -> None:
    """Compiles the largest cohort: what does not fit is said before anything is begun.

    Args:
      statics: the cohorts that matter, by their static overrides; all by default.

    Raises:
      ConfigError: it does not fit; the line names what to change.
    """
    if statics is None:
        statics = {cohort.static for cohort in experiment.cohorts()}
    if statics:
        largest = max(map(experiment.at, statics), key=cost.step_bytes)
        lanes = numerics['layout']['lanes']
        rows = padded_size(chunk_size, mesh, lanes)
        compiled = get_trainer(largest, mesh, lanes).compile(rows)
        available = device_bytes or memory.device_bytes(mesh)
        memory.require_fit(compiled, lanes, available, experiment.name)


def _run_cohort(sweep, pieces, mesh, progress, asked, report, warn) -> None:
    """Trains the waiting chunks of one cohort with one compiled program."""
    index, lanes = sweep.known.index(sweep.numerics), sweep.numerics['layout']['lanes']
    program = get_trainer(sweep.experiment.at(pieces[0].cohort.static), mesh, lanes)
    for piece in pieces:
        if hosts.any_host(asked()):
            raise Preempted
        progress.label = f'{piece.cohort.name} chunk {piece.index}'
        hparams = chunk_hparams(piece.cohort, piece.index, sweep.chunk_size)
        tick = _ticker(progress, piece.real, report, asked)
        progress.saving += program.run(piece.chunk, hparams, index, tick, warn)


def _require_same_numerics(sweep: SweepFolder, waiting) -> None:
    """Refuses to go on with members that were begun under other numerics."""
    for piece in waiting:
        history = piece.chunk.numerics()
        if history and (last := history[-1][1]) != sweep.known.index(sweep.numerics):
            there = sweep.known[last] if last < len(sweep.known) else {}
            refuse_environment(piece.chunk.folder, there, sweep.numerics)


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
