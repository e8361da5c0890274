"""A whole sweep on the host: every chunk of every cohort that is not done yet."""

import contextlib
import dataclasses
import itertools
import platform
import signal
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from anchorjax import cost, sweepdir
from anchorjax.config import AUTO, Experiment
from anchorjax.grid import Cohort, HParams
from anchorjax.trainer import Preempted, Trainer


@dataclasses.dataclass
class Progress:
    """Member-steps of the sweep, for a progress line."""

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


def numerics(experiment: Experiment, mesh: jax.sharding.Mesh) -> dict[str, Any]:
    """What a run's bits hang on, beside its experiment."""
    device = mesh.devices.flat[0]
    lanes = experiment.train.lanes
    if lanes == AUTO:
        lanes = cost.auto_lanes(experiment, device, mesh.size)
    libraries = {name: version(name) for name in ('jax', 'jaxlib', 'flax', 'optax', 'numpy')}
    layout = {'lanes': lanes, 'devices': mesh.size, 'platform': device.platform}
    hardware = {'device': device.device_kind, 'machine': platform.machine()}
    return {'layout': layout, 'versions': libraries, 'hardware': hardware}


def run(sweep: sweepdir.SweepDir, mesh, report: Callable[[Progress], None], warn=print) -> Progress:
    """Trains what is not trained yet; may be interrupted anywhere and called again.

    Raises:
      Preempted: SIGTERM arrived; the state is saved.
      StoreError: the disk failed; what was saved before is whole.
    """
    experiment, steps = sweep.experiment, sweep.experiment.train.num_steps
    work = list(sweep.chunks())
    progress = Progress(total=sum(real for *_, real in work) * steps)
    progress.done = sum(real for *_, chunk, real in work if chunk.done) * steps
    waiting = [item for item in work if not item[2].done]
    with _sigterm() as asked, jax.default_matmul_precision(experiment.train.precision):
        for _, items in itertools.groupby(waiting, key=lambda item: item[0].name):
            _run_cohort(sweep, list(items), mesh, progress, report, warn, asked)
    return progress


def _run_cohort(
    sweep: sweepdir.SweepDir, items, mesh, progress: Progress, report, warn, asked
) -> None:
    """Trains the waiting chunks of one cohort with one compiled program."""
    trainer = Trainer(sweep.experiment.at(items[0][0].static), mesh, sweep.layout['lanes'])
    for cohort, index, chunk, real in items:
        if asked():
            raise Preempted
        progress.label = f'{cohort.name} chunk {index}'
        hparams = chunk_hparams(cohort, index, sweep.chunk_size)
        trainer.run(chunk, hparams, _ticker(progress, real, report, asked), warn)
    progress.saving += trainer.saving


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


@contextlib.contextmanager
def _sigterm() -> Iterator[Callable[[], bool]]:
    """Within it SIGTERM only raises a flag; the handler that was there comes back after."""
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append(True))
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, before)
