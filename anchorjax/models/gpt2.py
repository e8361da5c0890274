"""GPT-2: pre-norm, tanh GELU, biases, learned positions, head tied to the embedding.

The names of parameters and activations are those of transformer.py. There is no
dropout, as in P1's experiments (PAPERS 1.6). Equal to Hugging Face's GPT2LMHeadModel on
the same weights (tests/models/test_gpt2_hugging_face.py).
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models import shortcuts
from anchorjax.models.base import Activations, BlockActivations, Edit
from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.initializers import Initializer
from anchorjax.models.transformer import (
    LayerNorm,
    attention_weights,
    mix_values,
    split_heads,
)


class GPT2(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: the initializer of every kind of parameter, from `gpt2_init.initializers`.
    """

    config: GPT2Config
    vocab: int
    inits: Mapping[str, Initializer]

    @nn.compact
    def __call__(
        self, tokens_BT: jax.Array, last_only: bool = True, edit: Edit | None = None
    ) -> Activations:
        """The forward pass, with logits at the last position [B, 1, V] or at all.

        Args:
          last_only: compute the last position only; an intervention turns this off.
          edit: an intervention; see `base.Edit`.
        """
        c = self.config
        length = tokens_BT.shape[1]
        W_embed = self.param('W_embed', self.inits['embed'], (self.vocab, c.width))
        W_pos = self.param('W_pos', self.inits['embed'], (c.max_len, c.width))
        X_em = W_embed[tokens_BT] + W_pos[:length]

        block_class = Block
        if c.remat and not self.is_initializing():  # or it would change random keys
            block_class = nn.remat(Block)
        x, blocks = X_em, []
        for layer in range(c.depth):
            is_last = layer == c.depth - 1
            block = block_class(
                c,
                self.inits,
                layer,
                last_only=is_last and last_only and edit is None,
                edit=edit,
                name=f'block_{layer}',
            )
            activations = block(x)
            blocks.append(activations)
            x = activations.X_do

        x = LayerNorm(c.eps, name='LN_final')(x)
        logits = multiply_rows(x, W_embed.T, c.dtype, jnp.float32)
        return Activations(X_em, tuple(blocks), logits)


class Block(nn.Module):
    """x + attention(LN(x)), then x + MLP(LN(x)): [B, T, D] -> [B, Q, D]."""

    config: GPT2Config
    inits: Mapping[str, Initializer]
    layer: int  # from 0
    last_only: bool  # compute the last position only (Q = 1)
    edit: Edit | None

    @nn.compact
    def __call__(self, x_BTD: jax.Array) -> BlockActivations:
        c = self.config
        x_BQD = x_BTD[:, -1:] if self.last_only else x_BTD
        source_BTD = LayerNorm(c.eps, name='LN_attn')(x_BTD)
        Q, K, V, Attn, X_qkv = self._attention(source_BTD)
        X_ao = x_BQD + self._linear('W_O', 'residual', c.width, X_qkv)
        X_ao = self._offer('X_ao', X_ao)

        mlp_in = LayerNorm(c.eps, name='LN_mlp')(X_ao)
        neurons = self._linear('W_in', 'mlp_in', c.mlp_dim, mlp_in)
        hidden = nn.gelu(neurons, approximate=True)
        X_do = X_ao + self._linear('W_out', 'residual', c.width, hidden)
        X_do = self._offer('X_do', X_do)
        return BlockActivations(Q, K, V, Attn, X_qkv, X_ao, hidden, X_do)

    def _attention(self, source_BTD: jax.Array) -> tuple[jax.Array, ...]:
        """Q, K, V, Attn and X_qkv of BlockActivations.

        Without an intervention nothing depends on Attn unless attention is explicit;
        the compiler drops it where nobody reads it.
        """
        c = self.config
        query_BQD = source_BTD[:, -1:] if self.last_only else source_BTD
        W_Q, b_Q = self._weights('W_Q', 'qkv', c.width, c.width)
        W_K, b_K = self._weights('W_K', 'qkv', c.width, c.width)
        W_V, b_V = self._weights('W_V', 'qkv', c.width, c.width)
        Q = split_heads(add_linear(query_BQD, W_Q, b_Q, c.dtype), c.heads)
        K = split_heads(add_linear(source_BTD, W_K, b_K, c.dtype), c.heads)
        V = split_heads(add_linear(source_BTD, W_V, b_V, c.dtype), c.heads)
        if self.last_only:  # one position: float32 at any dtype
            Q_float32 = Q.astype(jnp.float32)
            Attn, X_qkv = shortcuts.attend_last(Q_float32, source_BTD, W_K, W_V)
            return Q, K, V, Attn, X_qkv + b_V
        Attn = attention_weights(Q.astype(jnp.float32), K.astype(jnp.float32))
        if c.attention == 'explicit' or self.edit is not None:
            Attn = self._offer('Attn', Attn)
            return Q, K, V, Attn, mix_values(Attn.astype(V.dtype), V)
        return Q, K, V, Attn, attend_fused(Q, K, V, c.attention)

    def _offer(self, field: str, value: jax.Array) -> jax.Array:
        """The value that an intervention puts in this one's place."""
        if self.edit is None:
            return value
        return self.edit(field, self.layer, value)

    def _linear(self, name: str, kind: str, d_out: int, x: jax.Array) -> jax.Array:
        W, b = self._weights(name, kind, x.shape[-1], d_out)
        return add_linear(x, W, b, self.config.dtype)

    def _weights(
        self, name: str, kind: str, d_in: int, d_out: int
    ) -> tuple[jax.Array, jax.Array]:
        """Matrix [d_in, d_out] and bias [d_out], in float32."""
        W = self.param(name, self.inits[kind], (d_in, d_out))
        b = self.param(f'b{name[1:]}', self.inits['bias'], (d_out,))
        return W, b


def attend_fused(
    Q_BTHK: jax.Array, K_BTHK: jax.Array, V_BTHK: jax.Array, attention: str
) -> jax.Array:
    """Causal attention by jax.nn.dot_product_attention, heads concatenated."""
    is_flash = attention == 'cudnn' and jax.default_backend() == 'gpu'
    implementation = 'cudnn' if is_flash else None
    mixed_BTHK = jax.nn.dot_product_attention(
        Q_BTHK, K_BTHK, V_BTHK, is_causal=True, implementation=implementation
    )
    return mixed_BTHK.reshape(*mixed_BTHK.shape[:2], -1)


def add_linear(x: jax.Array, W: jax.Array, b: jax.Array, dtype: str) -> jax.Array:
    """x W + b in `dtype`."""
    return multiply_rows(x, W, dtype, dtype) + b.astype(dtype)


def multiply_rows(
    x: jax.Array, W: jax.Array, dtype: str, result: jax.typing.DTypeLike
) -> jax.Array:
    """x [B, T, D] @ W [D, d_out] of factors in `dtype`; see `shortcuts.project`."""
    rows = x.astype(dtype).reshape(-1, x.shape[-1])
    products = jnp.matmul(rows, W.astype(dtype), preferred_element_type=result)
    return products.reshape(*x.shape[:-1], -1)
