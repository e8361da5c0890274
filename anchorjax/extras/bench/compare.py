"""How fast training is, from things timed in turn in one process.

A machine's speed drifts by more than what is compared here, so only ratios of things
timed in the same process mean something. A comparison takes several rounds; in each
round every contender trains once for the same number of steps (`time_in_turn`).

member-steps/s          members times steps, divided by the median seconds: not a ratio,
                        so compare it only with other figures of the same run
operations per step     of the matrix products in its program; see sweeps/cost.py
share of matmul rate    these operations per second of our training, divided by those
                        of bare float32 matrix products in the same round; the median
                        over the rounds
relative to X           seconds of X for one step of one member, divided by ours, in
                        the same round; the median over the rounds. 'At most' is what it
                        would be if a step were its matrix products alone
"""

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import config
from anchorjax.experiment import Experiment
from anchorjax.sweeps import cost
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import Trainer
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import place_members

Row = tuple[str, str]  # a line of the table: what was measured, and the result
Contender = Callable[[int], Any]  # trains for a number of steps and waits for the end

_NUM_BATCHES = 8  # a baseline takes them in turn, again and again
_MATMUL_SIZE = 1024
NO_TORCH = "left out: not installed (pip install -e '.[bench]')"
ON_CPU = 'left out: these loops run on the CPU, and ours does not'


class Size(NamedTuple):
    """A size of P1's model and its batches, and how many steps to time in a round."""

    width: int
    head_dim: int
    mlp_dim: int
    num_steps: int
    seq_len: int = 9
    batch_size: int = 256


# The default's (configs/phase.py), and its width on P1's own sequences and batches.
DEFAULT = Size(
    width=32, head_dim=32, mlp_dim=96, num_steps=120, seq_len=4, batch_size=512
)
NARROW = Size(width=32, head_dim=32, mlp_dim=96, num_steps=15, batch_size=2048)
SMALL = Size(width=64, head_dim=64, mlp_dim=192, num_steps=60)
PAPER = Size(width=400, head_dim=200, mlp_dim=1200, num_steps=8)


class Texts(NamedTuple):
    """What GPT-2 trains on: batches of `batch_size` texts of `length` tokens."""

    batch_size: int = 32
    length: int = 64
    width: int = 128
    num_steps: int = 10  # in a round


def compare_p1(size: Size, rounds: int = 7) -> Iterator[Row]:
    """P1's model on the default task, beside PyTorch eager."""
    experiment = make_p1(size)
    rng = np.random.default_rng(0)
    shape = (_NUM_BATCHES, experiment.train.batch_size, experiment.task.seq_len)
    tokens_NBT = rng.integers(0, experiment.task.vocab, shape)
    labels_NB = tokens_NBT[..., 0]  # the time of a step does not depend on the values
    label = f'width {size.width}, {size.seq_len} tokens'
    baselines = {}
    torch_loops, reason = _import_torch_loops()
    if torch_loops is None:
        yield f'{label}: PyTorch eager', reason
    else:
        baselines = torch_loops.prepare_p1(experiment, tokens_NBT, labels_NB)
    yield from _compare(label, experiment, baselines, size.num_steps, rounds)


def compare_gpt2(texts: Texts = Texts(), rounds: int = 7) -> Iterator[Row]:  # noqa: B008
    """GPT-2 of size 'tiny', beside transformers and a GPT-2 in plain PyTorch."""
    experiment = make_gpt2(texts)
    rng = np.random.default_rng(0)
    shape = (_NUM_BATCHES, texts.batch_size, texts.length + 1)
    tokens_NBL = rng.integers(0, experiment.task.vocab, shape)
    label = 'GPT-2 tiny'
    baselines = {}
    torch_loops, reason = _import_torch_loops()
    if torch_loops is None:
        yield f'{label}: transformers', reason
    else:
        baselines = torch_loops.prepare_gpt2(
            experiment, tokens_NBL[..., :-1], tokens_NBL[..., 1:]
        )
    yield from _compare(label, experiment, baselines, texts.num_steps, rounds)


def _import_torch_loops() -> tuple[ModuleType | None, str]:
    """The baselines in PyTorch, or None and why they are left out."""
    if jax.default_backend() != 'cpu':
        return None, ON_CPU
    try:
        from anchorjax.extras.bench import torch_loops
    except ImportError:
        return None, NO_TORCH
    return torch_loops, ''


def make_p1(size: Size) -> Experiment:
    """P1's task, one gamma, and a seed for each device."""
    c = config.default()
    c.model.width = size.width
    c.model.head_dim = size.head_dim
    c.model.mlp_dim = size.mlp_dim
    c.task.seq_len = size.seq_len
    c.train.batch_size = size.batch_size
    c.grid.gamma = (0.8,)
    c.grid.seed = tuple(range(len(jax.devices())))
    # Every timed segment ends with an evaluation; real runs evaluate far less often.
    c.task.eval_examples = 16
    return config.resolve(c)


def make_gpt2(texts: Texts) -> Experiment:
    """GPT-2 'tiny' on the bundled text, one gamma, and a seed for each device."""
    c = config.default(task='corpus', model='gpt2', size='tiny')
    c.task.vocab = 257  # bytes and END
    c.task.seq_len = texts.length
    c.task.eval_examples = 1
    c.model.width = texts.width
    c.train.batch_size = texts.batch_size
    c.grid.gamma = (0.5,)
    c.grid.seed = tuple(range(len(jax.devices())))
    return config.resolve(c)


def _compare(
    label: str,
    experiment: Experiment,
    baselines: dict[str, Contender],
    num_steps: int,
    rounds: int,
) -> Iterator[Row]:
    """Times everything in turn, then yields the rows."""
    contenders = {
        'ours': _prepare_ours(experiment),
        'matmul': _prepare_matmul(experiment.train.precision),
    }
    seconds = time_in_turn(contenders | baselines, num_steps, rounds)
    ours = seconds['ours'] / (num_steps * len(jax.devices()))
    yield f'{label}: anchorjax', f'{1 / np.median(ours):,.1f} member-steps/s'

    operations = cost.count_step(experiment).operations
    yield f'{label}: operations per step', f'{operations:.3g}'

    products = num_steps * len(jax.devices())
    rates = 2 * _MATMUL_SIZE**3 * products / seconds['matmul']
    floor = operations / rates
    share = f'{np.median(floor / ours):.0%} of {np.median(rates) / 1e9:.0f} GFLOP/s'
    yield f'{label}: share of matmul rate', share

    for name in baselines:
        theirs = seconds[name] / num_steps
        ratio = f'{np.median(theirs / ours):.2f}x its speed'
        limit = f'at most {np.median(theirs / floor):.2f}x'
        yield f'{label}: relative to {name}', f'{ratio}; {limit}'


def _prepare_ours(experiment: Experiment) -> Contender:
    """A contender that trains one member on each device, side by side."""
    mesh = make_mesh()
    trainer = Trainer(experiment, mesh, lanes=1)
    hparams = chunk_hparams(experiment.cohorts()[0], 0, mesh.size)
    hparams = place_members(hparams, mesh, 1)
    state = trainer.init(hparams)

    def train(num_steps: int) -> None:
        nonlocal state
        state, record = trainer.segment(state, hparams, num_steps)
        jax.block_until_ready(record)

    return train


def _prepare_matmul(precision: str) -> Contender:
    """A contender that multiplies float32 matrices on every device."""
    matrices = []
    for device in jax.devices():
        ones = jnp.ones((_MATMUL_SIZE, _MATMUL_SIZE))
        matrices.append(jax.device_put(ones, device))
    multiply = jax.jit(jnp.matmul)

    def multiply_all(times: int) -> None:
        products = []
        with jax.default_matmul_precision(precision):
            for matrix in matrices:
                products += [multiply(matrix, matrix) for _ in range(times)]
        jax.block_until_ready(products)

    return multiply_all


def time_in_turn(
    contenders: dict[str, Contender], num_steps: int, rounds: int
) -> dict[str, np.ndarray]:
    """Seconds [rounds] that every contender takes for `num_steps` steps.

    In every round each contender runs once, so that the drift of the machine's speed
    meets all of them alike and ratios within a round are fair. One step of each, which
    compiles, comes first and is not timed.
    """
    for train in contenders.values():
        train(1)
    seconds = {name: np.zeros(rounds) for name in contenders}
    for i in range(rounds):
        for name, train in contenders.items():
            start = time.perf_counter()
            train(num_steps)
            seconds[name][i] = time.perf_counter() - start
    return seconds
