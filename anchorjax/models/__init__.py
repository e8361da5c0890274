"""The models by name. A new model is a new file and a row here."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models import transformer_cost
from anchorjax.models.base import ModelConfig
from anchorjax.models.transformer import Transformer
from anchorjax.models.transformer_config import TransformerConfig
from anchorjax.models.transformer_init import initializers


class Row(NamedTuple):
    """What MODELS holds for each model."""

    config: type  # a ModelConfig; its defaults are the model's defaults
    # (config, vocab, gamma) -> a module: tokens [B, T] -> Activations.
    make: Callable[..., nn.Module]
    # (config, seq_len, vocab, batch_size, last_only) -> operations of a forward pass of
    # one sequence.
    forward_operations: Callable[..., float]
    # (config, seq_len, vocab, batch_size) -> bytes of activations in a training step.
    activation_bytes: Callable[..., int]


def _make_transformer(
    config: TransformerConfig, vocab: int, gamma: float | jax.Array
) -> Transformer:
    return Transformer(config, vocab, initializers(config, gamma))


MODELS = {
    'transformer': Row(
        TransformerConfig,
        _make_transformer,
        transformer_cost.forward_operations,
        transformer_cost.activation_bytes,
    ),
}


def make(config: ModelConfig, vocab: int, gamma: float | jax.Array) -> nn.Module:
    """The module of a model config; gamma matters to `init` alone and may be traced."""
    return MODELS[config.name].make(config, vocab, gamma)


def init_params(
    config: ModelConfig, vocab: int, gamma: float | jax.Array, key: jax.Array
) -> Any:
    """New parameters. Gamma scales the noise, which depends on the key alone."""
    # Their shapes do not depend on the length of the sequences.
    tokens_BT = jnp.zeros((1, 1), jnp.int32)
    return make(config, vocab, gamma).init(key, tokens_BT)['params']


@functools.lru_cache  # called for every member that is read; tracing takes 0.1 s
def abstract_params(config: ModelConfig, vocab: int) -> Any:
    """The parameter tree, of ShapeDtypeStructs; nothing is computed."""

    def init() -> Any:
        return init_params(config, vocab, 0.0, jax.random.key(0))

    return jax.eval_shape(init)
