"""Baseline: one member in Flax and optax, by a jitted step in a Python loop.

The way most notebooks do it: P1's model (PAPERS 1.2) from Flax's own layers, every
position computed, one member at a time, on batches made in advance.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from anchorjax.experiment import Experiment
from anchorjax.models import TransformerConfig

_Linear = functools.partial(nn.Dense, use_bias=False)
_HeadsLinear = functools.partial(nn.DenseGeneral, use_bias=False)


class PlainTransformer(nn.Module):
    """Tokens [B, T] -> logits [B, T, V]."""

    config: TransformerConfig
    vocab: int

    @nn.compact
    def __call__(self, tokens_BT: jax.Array) -> jax.Array:
        c = self.config
        length = tokens_BT.shape[1]
        x = nn.Embed(self.vocab, c.width)(tokens_BT)
        x = x + nn.Embed(c.max_len, c.width)(jnp.arange(length))
        mask = nn.make_causal_mask(tokens_BT)
        for _ in range(c.depth):
            x = self._add_attention(x, mask)
            x = self._add_mlp(x)
        return nn.Dense(self.vocab)(x)

    def _add_attention(self, x: jax.Array, mask: jax.Array) -> jax.Array:
        c = self.config
        features = (c.heads, c.head_dim)
        Q = _HeadsLinear(features)(x)
        K = _HeadsLinear(features)(x)
        V = _HeadsLinear(features)(x)
        mixed = nn.dot_product_attention(Q, K, V, mask=mask)
        batch, length, _ = x.shape
        mixed = mixed.reshape(batch, length, -1)
        attn_out = _Linear(c.width)(mixed)
        return nn.LayerNorm(epsilon=c.eps)(x + attn_out)

    def _add_mlp(self, x: jax.Array) -> jax.Array:
        c = self.config
        hidden = _Linear(c.mlp_dim)(x)
        hidden = nn.relu(hidden)
        mlp_out = _Linear(c.width)(hidden)
        return nn.LayerNorm(epsilon=c.eps)(x + mlp_out)


def prepare_flax(
    experiment: Experiment, tokens_NBT: np.ndarray, labels_NB: np.ndarray
) -> Callable[[int], None]:
    """A function that trains one member for a number of steps."""
    tokens = jnp.asarray(tokens_NBT, jnp.int32)
    labels = jnp.asarray(labels_NB, jnp.int32)
    model = PlainTransformer(experiment.model, experiment.task.vocab)
    clip = optax.clip_by_global_norm(experiment.optimizer.clip_norm)
    adamw = optax.adamw(1e-4, weight_decay=0.01)
    tx = optax.chain(clip, adamw)
    params = model.init(jax.random.key(0), tokens[0])
    opt_state = tx.init(params)

    def compute_loss(
        params: Any, tokens_BT: jax.Array, labels_B: jax.Array
    ) -> jax.Array:
        logits_BV = model.apply(params, tokens_BT)[:, -1]
        loss_B = optax.softmax_cross_entropy_with_integer_labels(logits_BV, labels_B)
        return loss_B.mean()

    @jax.jit
    def step(
        params: Any, opt_state: Any, tokens_BT: jax.Array, labels_B: jax.Array
    ) -> tuple[Any, Any]:
        grads = jax.grad(compute_loss)(params, tokens_BT, labels_B)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    def train(num_steps: int) -> None:
        nonlocal params, opt_state
        for i in range(num_steps):
            batch = i % len(tokens)
            params, opt_state = step(params, opt_state, tokens[batch], labels[batch])
        jax.block_until_ready((params, opt_state))

    return train
