"""The models by name. A new model is a new file and a row here."""

import functools

import jax
import jax.numpy as jnp

from anchorjax.models.transformer import Transformer
from anchorjax.models.transformer_config import TransformerConfig
from anchorjax.models.transformer_init import initializers


def _transformer(config: TransformerConfig, vocab: int, gamma) -> Transformer:
    return Transformer(config, vocab, initializers(config, gamma))


# name: (its config, (config, vocab, gamma) -> a module: tokens [B, T] -> Activations)
MODELS = {'transformer': (TransformerConfig, _transformer)}


def make(config, vocab: int, gamma):
    """The module of a model config; gamma may be traced and matters to `init` alone."""
    return MODELS[config.name][1](config, vocab, gamma)


@functools.lru_cache  # asked for whenever a member is read; tracing takes a tenth of a second
def abstract_params(config, vocab: int):
    """Shapes and dtypes of the parameters; nothing is computed."""
    module = make(config, vocab, gamma=0.0)
    key, tokens_BT = jax.random.key, jax.ShapeDtypeStruct((1, 1), jnp.int32)
    return jax.eval_shape(lambda t: module.init(key(0), t)['params'], tokens_BT)
