"""Hand-made networks, to test that an analysis finds what was put in, and no more."""

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import models
from anchorjax.models import Activations, BlockActivations
from anchorjax.network import Network
from tests.support import cases

_draw_params = jax.jit(models.draw_params, static_argnums=(0, 1))
_MODULES = []  # a config is hashable and a module need not be, so it holds a number


class _Trainable:
    """A module with the `init` of a network, which gives these parameters."""

    def __init__(self, module: Any, params: Any):
        self.module = module
        self.params = params

    def init(self, key: jax.Array, tokens_BT: jax.Array) -> dict[str, Any]:
        return {'params': self.params}

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        return self.module.apply(*args, **kwargs)


@dataclasses.dataclass(frozen=True)
class PlantedConfig(models.ModelConfig):
    """The config of a model that is any Python object with the `apply` of a module."""

    name: str
    number: int  # of the object in _MODULES
    max_len: int = 1_000

    def module(self, vocab: int, gamma: float) -> Any:
        return _MODULES[self.number]


models.MODELS['planted'] = PlantedConfig


def make_member(module: Any, params: Any = None, **fields: Any) -> Network:
    """A network whose forward pass is module.apply(variables, tokens_BT, ...).

    Args:
      params: after training, and before it.
      fields: of the experiment, as in cases.tiny.
    """
    if params is None:
        params = {}
    number = len(_MODULES)
    _MODULES.append(_Trainable(module, params))
    config = PlantedConfig('planted', number)
    experiment = dataclasses.replace(cases.tiny(**fields), model=config)
    return Network(experiment, params, {'gamma': 0.5, 'seed': 0}, step=0)


def make_function_member(
    activate: Callable[[jax.Array], Activations], **fields: Any
) -> Network:
    """A network that is a function of the tokens; edits change nothing."""

    def apply(variables: Any, tokens_BT: jax.Array, **options: Any) -> Activations:
        return activate(tokens_BT)

    return make_member(types.SimpleNamespace(apply=apply), **fields)


def plant_answers(
    monkeypatch: pytest.MonkeyPatch, rule: Callable[[int, int, int], int]
) -> Network:
    """A member that answers rule(first anchor, second anchor, key), and can no more."""

    def answer(self: Network, tokens_BT: np.ndarray) -> np.ndarray:
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        asked = zip(pairs_B2.tolist(), keys_B.tolist(), strict=True)
        return np.array([rule(*pair, key) for pair, key in asked])

    monkeypatch.setattr(Network, 'answer', answer)
    return make_member(None)


def make_untrained_member(gamma: float = 0.5, seed: int = 0, **fields: Any) -> Network:
    """A transformer at initialization, of the experiment cases.tiny(**fields)."""
    experiment = cases.tiny(**fields)
    vocab = experiment.task.vocab
    params = _draw_params(experiment.model, vocab, gamma, jax.random.key(seed))
    params = jax.tree.map(np.asarray, params)
    return Network(experiment, params, {'gamma': gamma, 'seed': seed}, step=0)


def make_block(tokens_BT: jax.Array, **activations: jax.Array) -> BlockActivations:
    """A block with the given activations, and zeros for the others."""
    zero = jnp.zeros((*tokens_BT.shape, 1))
    block = BlockActivations(*[zero] * len(BlockActivations._fields))
    return block._replace(**activations)
