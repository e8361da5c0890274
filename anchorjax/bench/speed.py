"""Measurements for RESULTS.md: every figure a ratio of things timed in turn, in one process."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import jax
import numpy as np

from anchorjax import config
from anchorjax.bench import baselines
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps import cost
from anchorjax.sweeps.progress import measure_matmul_rate
from anchorjax.sweeps.run import chunk_hparams, describe_environment, run_sweep
from anchorjax.sweeps.trainer import Trainer
from anchorjax.training.members import make_mesh, place_members

Row = tuple[str, str]
SIZES = (
    (64, 64, 192, 60),
    (400, 200, 1200, 8),
)  # width, head_dim, mlp_dim, steps a round


def experiment(width: int, head_dim: int, mlp_dim: int, **changes) -> config.Experiment:
    """The default task (9 tokens) at a size, batch 256, one gamma, as many seeds as devices."""
    c = config.default()
    c.model.width, c.model.head_dim, c.model.mlp_dim = width, head_dim, mlp_dim
    c.train.batch_size, c.grid.gamma = 256, (0.8,)
    c.task.probe_examples = (
        16  # a round ends with an evaluation that real runs do far less often
    )
    c.grid.seed = tuple(range(len(jax.devices())))
    for path, value in changes.items():
        config.override(c, path.replace('__', '.'), str(value))
    return config.resolve(c)


def ours(e: config.Experiment, lanes: int = 1) -> Callable[[int], None]:
    """A function that trains one chunk (lanes * devices members) for a number of steps."""
    mesh = make_mesh()
    trainer = Trainer(e, mesh, lanes)
    hparams = chunk_hparams(e.cohorts()[0], 0, lanes * mesh.size)
    hparams = place_members(hparams, mesh, lanes)
    carry = [trainer.init(hparams)]

    def run(num_steps: int) -> None:
        carry[0], record = trainer.segment(carry[0], hparams, num_steps)
        jax.block_until_ready(record)

    return run


def rounds(contenders: dict[str, Callable[[int], None]], steps: int, repeats: int = 7):
    """Seconds per call of every contender, [repeats] each, taken in turn after a warm-up."""
    for run in contenders.values():
        run(1)
    seconds = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            begun = time.perf_counter()
            run(steps)
            seconds[name].append(time.perf_counter() - begun)
    return {name: np.array(s) for name, s in seconds.items()}


def against_today() -> Iterator[Row]:
    """Member-steps a second beside PyTorch eager, a plain Flax loop and bare products."""
    for width, head_dim, mlp_dim, steps in SIZES:
        e, members = experiment(width, head_dim, mlp_dim), len(jax.devices())
        rates = []
        bare = lambda steps, rates=rates: rates.append(measure_matmul_rate(steps))
        contenders = {
            'ours': ours(e),
            'bare': bare,
            'plain Flax': baselines.plain_flax(e),
        }
        try:
            contenders['PyTorch eager'] = baselines.torch_eager(e)
        except ImportError:
            yield (
                f'width {width}: PyTorch eager',
                'skipped: torch is not installed (extra bench)',
            )
        seconds = rounds(contenders, steps)
        mine = seconds.pop('ours') / (steps * members)
        seconds.pop('bare')
        rates = np.array(rates[1:])  # the first was the warm-up
        operations = cost.operations_per_step(e)
        saved = cost.operations_per_step(e, last_only=False) / operations
        share = np.median(operations / mine / rates)
        yield f'width {width}: ours', f'{1 / np.median(mine):,.1f} member-steps/s'
        yield (
            f'width {width}: operations a step',
            f'{operations:.3g}, {saved:.2f}x fewer than in full',
        )
        yield (
            f'width {width}: of a bare matmul',
            f'{share:.0%} of {np.median(rates) / 1e9:.0f} GFLOP/s',
        )
        for name, taken in seconds.items():
            ratio = np.median(taken / steps / mine)
            yield f'width {width}: against {name}', f'{ratio:.2f} times its speed'


def against_members_and_depth() -> Iterator[Row]:
    """Cost of a member-step as members and layers grow, beside the smallest of each."""
    devices = len(jax.devices())
    base = experiment(64, 64, 192)
    counts = {
        f'{devices * n} members': [ours(base) for _ in range(n)] for n in (1, 2, 4)
    }
    runs = {
        name: lambda s, c=chunks: [run(s) for run in c]
        for name, chunks in counts.items()
    }
    seconds = rounds(runs, 20, repeats=5)
    per_member = {n: np.median(s) / int(n.split()[0]) for n, s in seconds.items()}
    first = next(iter(per_member.values()))
    for name, value in per_member.items():
        yield (
            f'cost per member, {name}',
            f'{value / first:.2f} of {next(iter(per_member))}',
        )
    depths = {d: ours(experiment(64, 64, 192, model__depth=d)) for d in (2, 3, 4)}
    medians = {d: np.median(s) for d, s in rounds(depths, 20, repeats=5).items()}
    for depth, value in medians.items():
        yield f'cost at depth {depth}', f'{value / medians[2]:.2f} of depth 2'


def lanes_and_precision() -> Iterator[Row]:
    """On an accelerator: the paper's size for 1, 4, 16 lanes and three matmul precisions."""
    for precision, lanes in itertools.product(config.PRECISIONS, (1, 4, 16)):
        e = experiment(
            400, 200, 1200, train__batch_size=2048, train__precision=precision
        )
        seconds = rounds({'run': ours(e, lanes)}, 10, repeats=3)['run']
        rate = 10 * lanes * len(jax.devices()) / np.median(seconds)
        used = rate * cost.operations_per_step(e) / 1e12
        yield (
            f'{precision}, {lanes} lanes',
            f'{rate:,.0f} member-steps/s, {used:.1f} TFLOP/s',
        )


def checkpoints(num_steps: int = 4000) -> Iterator[Row]:
    """Share of a real sweep's time that checkpoints take, at the default interval."""
    e = experiment(64, 64, 192, train__num_steps=num_steps, train__eval_every=250)
    with tempfile.TemporaryDirectory() as folder:
        mesh = make_mesh()
        held = create_folder(pathlib.Path(folder), e, describe_environment(e, mesh))
        begun = time.perf_counter()
        progress = run_sweep(held, mesh, lambda: False, lambda _: None)
        seconds = time.perf_counter() - begun
        stored = sum(
            f.stat().st_size for f in pathlib.Path(folder).rglob('*') if f.is_file()
        )
    share = progress.saving / seconds
    yield (
        'checkpoints',
        f'{share:.2%} of {seconds:.0f} s; {stored / 2**20:.1f} MiB left on disk',
    )


def compilation() -> Iterator[Row]:
    """Seconds to compile a width-64 segment in a new process: empty cache, then a full one."""
    code = (
        'import time; from anchorjax import sharding; sharding.use_every_core();'
        'from anchorjax import benchmark as b; r = b.ours(b.experiment(64, 64, 192));'
        't = time.perf_counter(); r(1); print(time.perf_counter() - t)'
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {'JAX_COMPILATION_CACHE_DIR': folder}
        for name in ('empty cache', 'second start'):
            command = [sys.executable, '-c', code]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            yield f'compile, {name}', f'{float(done.stdout):.1f} s'
