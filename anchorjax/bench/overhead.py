"""What a run costs besides its steps: saving, compiling, the loop of a sweep."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import jax

from anchorjax.api import train
from anchorjax.bench.harness import (
    Row,
    count_bytes,
    make_experiment,
    prepare_anchorjax,
    prepare_chunk,
    time_call,
)
from anchorjax.bench.speed import PAPER, Size
from anchorjax.experiment import Experiment
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.trainer import Trainer
from anchorjax.training.devices import make_mesh, use_every_core

_BARE_STEPS = 10


def measure_saving(num_steps: int = 4_000) -> Iterator[Row]:
    """Share of a whole sweep's time spent saving, at the default interval.

    Both times are of the same call: the seconds that the sweep counts as saving, over
    all of its seconds, with compilation and final tables.
    """
    experiment = make_experiment(
        64, 64, 192, train__num_steps=num_steps, train__eval_every=250
    )
    with tempfile.TemporaryDirectory() as name:
        workdir = pathlib.Path(name)
        start = time.perf_counter()
        progress = _train_sweep(experiment, workdir)
        seconds = time.perf_counter() - start
        stored = count_bytes(workdir)
    share = progress.saving / seconds
    yield (
        'checkpoints',
        f'{share:.2%} of {seconds:.0f} s; {stored / 2**20:.1f} MiB left on disk',
    )


def measure_sweep(size: Size = PAPER, num_steps: int = 40) -> Iterator[Row]:
    """What a step costs within a sweep with one evaluation, beside a step alone.

    At the largest shape, where a single step or evaluation takes seconds: there the
    loop of a sweep, which works in short pieces, can cost the most.
    """
    experiment = make_experiment(
        size.width,
        size.head_dim,
        size.mlp_dim,
        train__batch_size=2048,
        train__num_steps=num_steps,
        train__eval_every=num_steps,
        optimizer__warmup_steps=1,
        task__probe_examples=8192,
    )
    with tempfile.TemporaryDirectory() as name:
        progress = _train_sweep(experiment, pathlib.Path(name))
    in_sweep = len(jax.devices()) / progress.rate  # without the piece that compiles
    ratio = in_sweep / _time_bare_step(experiment)
    yield (
        f'width {size.width}, batch 2048: a step within a sweep',
        f'{in_sweep:.2f} s, {ratio:.2f}x a step alone; '
        f'one evaluation in {num_steps} steps is in it',
    )


def _train_sweep(experiment: Experiment, workdir: pathlib.Path) -> Progress:
    """Trains a whole sweep; returns its progress at the end."""
    progress = None

    def keep_progress(latest: Progress) -> None:
        nonlocal progress
        progress = latest

    # The sweep counts on in the same object: the last save comes after the last report.
    train(experiment, workdir, report=keep_progress)
    return progress


def _time_bare_step(experiment: Experiment) -> float:
    """Seconds of a step of one member a device, without evaluations."""
    trainer = Trainer(experiment, make_mesh(), lanes=1)
    train_steps = prepare_chunk(trainer, is_end=False)
    train_steps(1)  # compiles
    return time_call(train_steps, _BARE_STEPS) / _BARE_STEPS


def measure_compilation() -> Iterator[Row]:
    """Seconds to compile and run a first step at width 64, each in a new process.

    The first process finds an empty compilation cache, the second a filled one.
    """
    code = f'from {__name__} import print_first_step; print_first_step()'
    command = [sys.executable, '-c', code]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {'JAX_COMPILATION_CACHE_DIR': folder}
        for start in ('empty cache', 'second start'):
            process = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            yield f'compile, {start}', f'{float(process.stdout):.1f} s'


def print_first_step() -> None:
    """Prints the seconds of a first step; run by `measure_compilation`."""
    use_every_core()
    train_steps = prepare_anchorjax(make_experiment(64, 64, 192))
    print(time_call(train_steps, 1))
