"""Networks of a run, before training and without it: the nulls of a measurement."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from anchorjax import models, numerics, tasks
from anchorjax.caching import cache
from anchorjax.errors import UserError
from anchorjax.grid import DATA, INIT, random_key
from anchorjax.models import ModelConfig
from anchorjax.network import Network

_PART = 2**15  # training examples that are drawn at once


def find_untrained(member: Network) -> Network | None:
    """`make_untrained`; None: of an official network, weights alone, γ is not known."""
    is_unknown = math.isnan(member.point.get('gamma', math.nan))
    return None if is_unknown else make_untrained(member)


def make_untrained(member: Network) -> Network:
    """The member before training, at the gamma of its point: the null of training.

    It is the snapshot of step 0 if the run has it. If not, its weights are drawn again,
    or read from the file that it started from.

    Raises:
      UserError: that file is not the one that it started from, or cannot be read.
    """
    run, config = member.run, member.experiment
    if run is not None and 0 in run.steps(**member.point):
        return run.network(0, **member.point)
    if config.model.is_drawn:
        return _draw(member, member.point['seed'])
    if run is not None:
        run.require_same_files(config.model.digest_start())
    return member._replace(params=config.model.read_start(config.task.vocab), step=0)


def draw_independent(member: Network, seed: int) -> Network | None:
    """An untrained network of another seed, for the member's task and gamma.

    None where the weights of members are not drawn but read: all start from the same.
    """
    return _draw(member, seed) if member.experiment.model.is_drawn else None


def _draw(member: Network, seed: int) -> Network:
    """The member with newly drawn weights."""
    config = member.experiment
    draw_params = _compile_draw(config.model, config.task.vocab)
    params = draw_params(member.point['gamma'], seed)
    return member._replace(params=jax.tree.map(np.asarray, params), step=0)


def require_attention(member: Network) -> None:
    """UserError unless the member's model has a block, and so attention."""
    if not member.depth:
        name = member.experiment.model.name
        raise UserError(f'model {name!r}: it has no attention')


def draw_training(config: tasks.TaskConfig, seed: int) -> Iterator[tasks.Batch]:
    """All training examples of a seed, as numpy arrays, in parts."""
    total, draw_batch = config.make().num_train, _compile_batch(config)
    for first in range(0, total, _PART):
        index_B = np.arange(first, min(first + _PART, total))
        yield jax.tree.map(np.asarray, draw_batch(seed, index_B))


@cache()
def _compile_batch(config: tasks.TaskConfig) -> Callable[..., tasks.Batch]:
    """(seed, index_B) -> the training examples with these numbers."""

    def draw(seed: jax.Array, index_B: jax.Array) -> tasks.Batch:
        task = config.make()
        return task.batch(task.make_data(random_key(seed, DATA)), index_B)

    return numerics.pin()(jax.jit(draw))


@cache()
def _compile_draw(model: ModelConfig, vocab: int) -> Callable[..., Any]:
    """(gamma, seed) -> new parameters."""

    def draw(gamma: jax.Array, seed: jax.Array) -> Any:
        return models.draw_params(model, vocab, gamma, random_key(seed, INIT))

    return numerics.pin()(jax.jit(draw))
