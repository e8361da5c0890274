"""Networks made by hand, to see that an analysis finds what was put there, and nothing else."""

import dataclasses

import jax
import numpy as np

from analysis.members.member import Member
from anchorjax import models
from tests.support import cases

_MODULES = {}


@dataclasses.dataclass(frozen=True)
class PlantedConfig:
    """The config of a model that is a Python object: anything with the `apply` of a module."""

    name: str
    number: int
    max_len: int = 1_000


models.MODELS['planted'] = (
    PlantedConfig,
    lambda config, vocab, gamma: _MODULES[config.number],
)


def member(module, params=None, **fields) -> Member:
    """A Member whose forward pass is module.apply(variables, tokens_BT, last_only, edit)."""
    experiment = cases.tiny(**fields)
    _MODULES[number := len(_MODULES)] = module
    experiment = dataclasses.replace(experiment, model=PlantedConfig('planted', number))
    return Member(
        experiment, {} if params is None else params, {'gamma': 0.5, 'seed': 0}, 0
    )


def untrained(gamma=0.5, seed=0, **fields) -> Member:
    """A transformer as it was drawn, of the experiment cases.tiny(**fields)."""
    experiment = cases.tiny(**fields)
    module = models.make(experiment.model, experiment.task.vocab, gamma)
    tokens_BT = np.zeros((1, experiment.task.seq_len), int)
    params = jax.tree.map(
        jax.device_get, jax.jit(module.init)(jax.random.key(seed), tokens_BT)['params']
    )
    return Member(experiment, params, {'gamma': gamma, 'seed': seed}, 0)
