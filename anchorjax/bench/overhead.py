"""What a run costs besides its steps: saving checkpoints, and compiling."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from anchorjax.api import train
from anchorjax.bench.harness import (
    Row,
    count_bytes,
    make_experiment,
    prepare_anchorjax,
    time_call,
)
from anchorjax.sweeps.progress import Progress
from anchorjax.training.devices import use_every_core


def measure_saving(num_steps: int = 4_000) -> Iterator[Row]:
    """Share of a whole sweep's time spent saving, at the default interval.

    Both times are of the same call: the seconds that the sweep counts as saving, over
    all of its seconds, with compilation and final tables.
    """
    experiment = make_experiment(
        64, 64, 192, train__num_steps=num_steps, train__eval_every=250
    )
    progress = None

    def keep_progress(latest: Progress) -> None:
        nonlocal progress
        progress = latest

    with tempfile.TemporaryDirectory() as name:
        workdir = pathlib.Path(name)
        start = time.perf_counter()
        train(experiment, workdir, report=keep_progress)
        seconds = time.perf_counter() - start
        stored = count_bytes(workdir)
    # The sweep counts on in the same object: the last save comes after the last report.
    share = progress.saving / seconds
    yield (
        'checkpoints',
        f'{share:.2%} of {seconds:.0f} s; {stored / 2**20:.1f} MiB left on disk',
    )


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
