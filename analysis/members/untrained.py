"""The same network before training: the null of everything that training may do."""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from analysis.members.member import Member
from anchorjax import models
from anchorjax.grid import INIT, random_key
from anchorjax.model import ModelConfig


def make_untrained(member: Member, seed: int | None = None) -> Member | None:
    """The member at initialization, at the gamma of its point.

    None where gamma is not known: an official network has weights alone.

    Args:
      seed: of the initialization; the member's own by default. Another seed gives an
        independent network for the same task.
    """
    gamma = member.point.get('gamma', math.nan)
    if math.isnan(gamma):
        return None
    if seed is None:
        seed = member.point['seed']
    config = member.experiment
    init = _compile_init(config.model, config.task.vocab)
    params = init(gamma, seed)
    return member._replace(params=jax.tree.map(np.asarray, params), step=0)


@functools.lru_cache
def _compile_init(model: ModelConfig, vocab: int) -> Callable[[float, int], Any]:
    """(gamma, seed) -> the initial parameters, as training draws them."""

    def init(gamma: jax.Array, seed: jax.Array) -> Any:
        return models.init_params(model, vocab, gamma, random_key(seed, INIT))

    return jax.jit(init)
