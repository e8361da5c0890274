"""The models by name. A new model is a new file and a row here."""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models import (
    emb_mlp,
    gpt2_config,
    gpt2_cost,
    gpt2_files,
    gpt2_init,
    one_layer,
    transformer_config,
    transformer_cost,
)
from anchorjax.models.base import ModelConfig
from anchorjax.models.emb_mlp import EmbMLP, EmbMLPConfig
from anchorjax.models.gpt2 import GPT2
from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.one_layer import OneLayer, OneLayerConfig
from anchorjax.models.transformer import Transformer
from anchorjax.models.transformer_config import TransformerConfig
from anchorjax.models.transformer_init import initializers

# Makes parameters whole that several devices share: a tree -> the same tree.
Gather = Callable[[Any], Any]


def draw_every_start(config: ModelConfig, vocab: int) -> None:
    """The weights of a model that cannot start from a file."""


def decay_everything(config: ModelConfig, name: str) -> bool:
    """Weight decay as in P1: of every parameter (PAPERS 1.3)."""
    return True


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
    # (config, name) -> whether weight decay shrinks the parameters of this name.
    is_decayed: Callable[[ModelConfig, str], bool] = decay_everything
    # Configs with a name of their own, for config.default(model=..., size=...).
    sizes: Mapping[str, ModelConfig] = MappingProxyType({})
    # (config, vocab) -> parameters that were trained before; None: draw new ones.
    read_start: Callable[[ModelConfig, int], Any | None] = draw_every_start
    # (config, vocab, gather) -> a module for training, which returns logits alone and
    # gathers its parameters itself, a block at a time; None: `make` serves for this.
    make_for_logits: Callable[..., nn.Module] | None = None


def _make_transformer(
    config: TransformerConfig, vocab: int, gamma: float | jax.Array
) -> Transformer:
    return Transformer(config, vocab, initializers(config, gamma))


def _make_gpt2(config: GPT2Config, vocab: int, gamma: float | jax.Array) -> GPT2:
    return GPT2(config, vocab, gpt2_init.initializers(config, gamma))


def _make_gpt2_for_logits(config: GPT2Config, vocab: int, gather: Gather) -> GPT2:
    inits = gpt2_init.initializers(config, gamma=0.0)  # not used: nothing is drawn
    return GPT2(config, vocab, inits, logits_only=True, gather=gather)


MODELS = {
    'transformer': Row(
        TransformerConfig,
        _make_transformer,
        transformer_cost.forward_operations,
        transformer_cost.activation_bytes,
        transformer_config.is_decayed,
    ),
    'gpt2': Row(
        GPT2Config,
        _make_gpt2,
        gpt2_cost.forward_operations,
        gpt2_cost.activation_bytes,
        gpt2_config.is_decayed,
        gpt2_config.SIZES,
        gpt2_files.read_start,
        _make_gpt2_for_logits,
    ),
    'emb_mlp': Row(
        EmbMLPConfig, EmbMLP, emb_mlp.forward_operations, emb_mlp.activation_bytes
    ),
    'one_layer': Row(
        OneLayerConfig,
        OneLayer,
        one_layer.forward_operations,
        one_layer.activation_bytes,
    ),
}


def make(config: ModelConfig, vocab: int, gamma: float | jax.Array) -> nn.Module:
    """The module of a model config; gamma matters to `init` alone and may be traced."""
    return MODELS[config.name].make(config, vocab, gamma)


def init_params(
    config: ModelConfig, vocab: int, gamma: float | jax.Array, key: jax.Array
) -> Any:
    """The parameters a member starts with: drawn, or read from the config's file.

    Gamma scales the noise, which depends on the key alone.

    Raises:
      UserError: the file cannot be read, or is of another model.
    """
    params = MODELS[config.name].read_start(config, vocab)
    if params is None:
        params = draw_params(config, vocab, gamma, key)
    return params


def draw_params(
    config: ModelConfig, vocab: int, gamma: float | jax.Array, key: jax.Array
) -> Any:
    """New parameters, whatever file the config names."""
    # Their shapes do not depend on the length of the sequences.
    tokens_BT = jnp.zeros((1, 1), jnp.int32)
    return make(config, vocab, gamma).init(key, tokens_BT)['params']


@functools.lru_cache  # called for every member that is read; tracing takes 0.1 s
def abstract_params(config: ModelConfig, vocab: int) -> Any:
    """The parameter tree, of ShapeDtypeStructs; nothing is computed."""

    def init() -> Any:
        return draw_params(config, vocab, 0.0, jax.random.key(0))

    return jax.eval_shape(init)


def mask_decay(config: ModelConfig, params: Any) -> Any:
    """Which leaves weight decay shrinks: a tree of bools, like `params`."""
    is_decayed = MODELS[config.name].is_decayed

    def ask_model(path: Any, leaf: jax.Array) -> bool:
        return is_decayed(config, path[-1].key)

    return jax.tree_util.tree_map_with_path(ask_model, params)
