"""How fast training is, from things timed in turn in one process.

A machine's speed drifts by more than what is compared here, so only ratios of things
timed in the same process mean something. A comparison takes several rounds; in each
round every contender trains once for the same number of steps (`time_in_turn`).

relative to X           seconds of X for one step of one member, divided by ours, in
                        the same round; the median over the rounds
share of matmul rate    operations per second of our training (the formula over the
                        seconds), divided by those of bare float32 matrix products in
                        the same round; the median over the rounds
operations per step     by the formula of sweeps/cost.py, without a clock; and how many
                        times more it would take to compute every position
cost per member         median seconds per member, divided by those of the smallest
                        number of members
cost at depth D         median seconds, divided by those at depth 2
member-steps/s          members times steps, divided by the median seconds: not a ratio,
                        so compare it only with other figures of the same run
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np

from anchorjax import config
from anchorjax.bench.flax_loop import prepare_flax
from anchorjax.bench.harness import (
    Contender,
    Row,
    make_experiment,
    prepare_anchorjax,
    time_in_turn,
)
from anchorjax.sweeps import cost
from anchorjax.sweeps.plan import measure_matmul_rate


class Size(NamedTuple):
    """A size of the model, and how many steps of it to time in a round."""

    width: int
    head_dim: int
    mlp_dim: int
    num_steps: int


SMALL = Size(width=64, head_dim=64, mlp_dim=192, num_steps=60)
PAPER = Size(width=400, head_dim=200, mlp_dim=1200, num_steps=8)


def compare_with_baselines() -> Iterator[Row]:
    """Our speed at two sizes, beside what people use today and bare matrix products."""
    for size in (SMALL, PAPER):
        yield from _compare_at_size(size)


def _compare_at_size(size: Size) -> Iterator[Row]:
    label = f'width {size.width}'
    experiment = make_experiment(size.width, size.head_dim, size.mlp_dim)
    matmul_rates = []

    def multiply(num_steps: int) -> None:
        rate = measure_matmul_rate(experiment.train.precision, num_steps)
        matmul_rates.append(rate)

    contenders = {'ours': prepare_anchorjax(experiment), 'matmul': multiply}
    baselines = {'plain Flax': prepare_flax(experiment)}
    try:
        baselines['PyTorch eager'] = _prepare_torch(experiment)
    except ImportError:
        missing = "skipped, PyTorch is not installed: pip install -e '.[bench]'"
        yield f'{label}: PyTorch eager', missing
    seconds = time_in_turn(contenders | baselines, size.num_steps)

    num_members = len(jax.devices())
    ours = seconds['ours'] / (size.num_steps * num_members)
    yield f'{label}: anchorjax', f'{1 / np.median(ours):,.1f} member-steps/s'
    yield from _compare_with_matmul(label, experiment, ours, np.array(matmul_rates))
    for name in baselines:
        theirs = seconds[name] / size.num_steps
        ratio = np.median(theirs / ours)
        yield f'{label}: relative to {name}', f'{ratio:.2f}x its speed'


def _prepare_torch(experiment: config.Experiment) -> Contender:
    """The eager PyTorch baseline; raises ImportError without PyTorch."""
    from anchorjax.bench.torch_eager import prepare_torch

    return prepare_torch(experiment)


def _compare_with_matmul(
    label: str,
    experiment: config.Experiment,
    ours: np.ndarray,
    matmul_rates: np.ndarray,
) -> Iterator[Row]:
    """Rows on operations, from seconds per member-step and products timed in turn."""
    operations = cost.operations_per_step(experiment)
    in_full = cost.operations_per_step(experiment, shortcuts=False)
    saved = in_full / operations
    yield (
        f'{label}: operations per step',
        f'{operations:.3g}, {saved:.2f}x fewer than for all positions',
    )
    rates = matmul_rates[1:]  # the first is the warm-up's
    share = np.median(operations / ours / rates)
    yield (
        f'{label}: share of matmul rate',
        f'{share:.0%} of {np.median(rates) / 1e9:.0f} GFLOP/s',
    )


def compare_numbers_of_members() -> Iterator[Row]:
    """Cost of a step per member, as more chunks train one after the other."""
    experiment = make_experiment(SMALL.width, SMALL.head_dim, SMALL.mlp_dim)
    contenders = {}
    for num_chunks in (1, 2, 4):
        num_members = num_chunks * len(jax.devices())
        contenders[num_members] = _prepare_chunks(experiment, num_chunks)
    seconds = time_in_turn(contenders, num_steps=20, rounds=5)
    smallest = min(contenders)
    reference = np.median(seconds[smallest]) / smallest
    for num_members in contenders:
        per_member = np.median(seconds[num_members]) / num_members
        yield (
            f'cost per member, {num_members} members',
            f'{per_member / reference:.2f}x that of {smallest} members',
        )


def _prepare_chunks(experiment: config.Experiment, num_chunks: int) -> Contender:
    chunks = []
    for _ in range(num_chunks):
        chunks.append(prepare_anchorjax(experiment))

    def train(num_steps: int) -> None:
        for train_chunk in chunks:
            train_chunk(num_steps)

    return train


def compare_depths() -> Iterator[Row]:
    """Cost of a step as the model gets deeper."""
    contenders = {}
    for depth in (2, 3, 4):
        experiment = make_experiment(
            SMALL.width, SMALL.head_dim, SMALL.mlp_dim, model__depth=depth
        )
        contenders[depth] = prepare_anchorjax(experiment)
    seconds = time_in_turn(contenders, num_steps=20, rounds=5)
    reference = np.median(seconds[2])
    for depth in contenders:
        ratio = np.median(seconds[depth]) / reference
        yield f'cost at depth {depth}', f'{ratio:.2f}x that of depth 2'
