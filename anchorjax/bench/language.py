"""How fast a grid of tiny GPT-2s trains, beside GPT-2 in PyTorch.

As in speed.py, everything is timed in turn in one process, and only ratios within a
round mean something. The floor is what no implementation can beat: the matrix products
of a step, at the rate that bare products reach in the same round.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np

from anchorjax import config
from anchorjax.bench.harness import Contender, Row, prepare_anchorjax, time_in_turn
from anchorjax.bench.next_token import add_next_token_task
from anchorjax.sweeps import cost
from anchorjax.sweeps.plan import measure_matmul_rate


class Workload(NamedTuple):
    """What to time: batches of `batch_size` texts of `length` tokens."""

    batch_size: int = 32
    length: int = 64
    width: int = 128
    num_steps: int = 10  # in a round
    rounds: int = 7


def compare_gpt2(workload: Workload = Workload()) -> Iterator[Row]:  # noqa: B008
    """Tokens a second, relative to PyTorch, and how far from the floor."""
    with add_next_token_task():
        yield from _compare_gpt2(workload)


def make_experiment(workload: Workload) -> config.Experiment:
    """GPT-2 of size 'tiny', one gamma, and as many seeds as there are devices."""
    c = config.default(task='next_token', model='gpt2', size='tiny')
    c.task.seq_len = workload.length
    c.model.width = workload.width
    c.train.batch_size = workload.batch_size
    c.grid.gamma = (0.5,)
    c.grid.seed = tuple(range(len(jax.devices())))
    return config.resolve(c)


def _compare_gpt2(workload: Workload) -> Iterator[Row]:
    label = 'GPT-2 tiny'
    experiment = make_experiment(workload)
    matmul_rates = []

    def multiply(num_steps: int) -> None:
        rate = measure_matmul_rate(experiment.train.precision, num_steps)
        matmul_rates.append(rate)

    contenders = {'ours': prepare_anchorjax(experiment), 'matmul': multiply}
    baselines = {}
    for name, prepare in (
        ('transformers', _prepare_hugging_face),
        ('plain PyTorch', _prepare_plain),
    ):
        try:
            baselines[name] = prepare(experiment)
        except ImportError:
            missing = "skipped, not installed: pip install -e '.[bench]'"
            yield f'{label}: relative to {name}', missing
    seconds = time_in_turn(contenders | baselines, workload.num_steps, workload.rounds)

    member_steps = workload.num_steps * len(jax.devices())
    ours = seconds['ours'] / member_steps
    tokens = workload.batch_size * workload.length
    yield f'{label}: anchorjax', f'{tokens / np.median(ours):,.0f} tokens/s'
    rates = np.array(matmul_rates[1:])  # the first is the warm-up's
    floor = cost.operations_per_step(experiment) / rates
    yield (
        f'{label}: share of matmul rate',
        f'{np.median(floor / ours):.0%} of {np.median(rates) / 1e9:.0f} GFLOP/s',
    )
    for name in baselines:
        theirs = seconds[name] / workload.num_steps
        yield (
            f'{label}: relative to {name}',
            f'{np.median(theirs / ours):.2f}x its speed; '
            f'the floor is {np.median(theirs / floor):.2f}x',
        )


def _prepare_plain(experiment: config.Experiment) -> Contender:
    """Raises ImportError without PyTorch."""
    from anchorjax.bench.torch_gpt2 import prepare_plain

    return prepare_plain(experiment)


def _prepare_hugging_face(experiment: config.Experiment) -> Contender:
    """Raises ImportError without PyTorch or transformers."""
    from anchorjax.bench.torch_gpt2 import prepare_hugging_face

    return prepare_hugging_face(experiment)
