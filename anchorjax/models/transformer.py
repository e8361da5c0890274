"""The decoder-only transformer of P1 (App A; PAPERS 1.2) and, by options, of P1 Fig 2(c) and P3.

The loss reads the last position only, so the last block answers that position alone: with one
query a linear map commutes with the weighted sum over positions, and keys and values need never
be formed (`_attend_last`). Both paths give the same numbers up to rounding.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.initializers import Initializer
from anchorjax.models.base import Activations, BlockActivations
from anchorjax.models.transformer_config import TransformerConfig


class Transformer(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: initializer of every kind of parameter, from `transformer_init.initializers`.
    """

    config: TransformerConfig
    vocab: int
    inits: Mapping[str, Initializer]

    @nn.compact
    def __call__(self, tokens_BT: jax.Array, last_only: bool = True) -> Activations:
        c, length = self.config, tokens_BT.shape[1]
        W_embed = self.param('W_embed', self.inits['embed'], (self.vocab, c.width))
        W_pos = self.param('W_pos', self.inits['embed'], (c.max_len, c.width))
        x = X_em = W_embed[tokens_BT] + W_pos[:length]
        blocks = []
        for layer in range(c.depth):
            last = last_only and layer == c.depth - 1
            blocks.append(Block(c, self.inits, last, name=f'block_{layer}')(x))
            x = blocks[-1].X_do
        if c.norm != 'post':
            x = LayerNorm(c.eps, name='LN_final')(x)
        W_U = self.param('W_U', self.inits['unembed'], (c.width, self.vocab))
        b_U = self.param('b_U', self.inits['b_D'], (self.vocab,))
        return Activations(X_em, tuple(blocks), x @ W_U + b_U)


class Block(nn.Module):
    """Attention, then the MLP, each with a residual and a LayerNorm. [B, T, D] -> [B, Q, D]."""

    config: TransformerConfig
    inits: Mapping[str, Initializer]
    last: bool  # answer the last position only (Q = 1)

    @nn.compact
    def __call__(self, x_BTD: jax.Array) -> BlockActivations:
        c, norm = self.config, self.config.norm
        ln_attn, ln_mlp = LayerNorm(c.eps, name='LN_attn'), LayerNorm(c.eps, name='LN_mlp')
        x_BQD = x_BTD[:, -1:] if self.last else x_BTD
        query = x_BQD if norm == 'post' else ln_attn(x_BQD)
        source = ln_attn(x_BTD) if norm == 'pre' else x_BTD
        Q, K, V, Attn, X_qkv = self._attention(query, source)
        X_ao = x_BQD + self._linear('W_O', 'attn_out', c.heads * c.head_dim, c.width, X_qkv)
        X_ao = ln_attn(X_ao) if norm == 'post' else X_ao
        X_do = X_ao + self._mlp(X_ao if norm == 'post' else ln_mlp(X_ao))
        X_do = ln_mlp(X_do) if norm == 'post' else X_do
        return BlockActivations(Q, K, V, Attn, X_qkv, X_ao, X_do)

    def _attention(self, query: jax.Array, source: jax.Array):
        c, shape = self.config, (self.config.heads, self.config.head_dim)
        W_Q, b_Q = self._weights('W_Q', 'qk', c.width, shape)
        W_K, b_K = self._weights('W_K', 'qk', c.width, shape)
        W_V, b_V = self._weights('W_V', 'v', c.width, shape)
        project = lambda x, W, b: jnp.einsum('btd,dhk->bthk', x, W) + b
        Q = project(query, W_Q, b_Q)
        K, V = project(source, W_K, b_K), project(source, W_V, b_V)
        if self.last:
            Attn, mixed = _attend_last(Q, source, W_K, W_V, b_V)
        else:
            Attn, mixed = _attend_all(Q, K, V)
        return Q, K, V, Attn, mixed.reshape(*mixed.shape[:2], -1)

    def _mlp(self, x: jax.Array) -> jax.Array:
        c = self.config
        act = nn.relu if c.activation == 'relu' else lambda h: nn.gelu(h, approximate=False)
        hidden = act(self._linear('W_in', 'mlp_in', c.width, c.mlp_dim, x))
        return self._linear('W_out', 'mlp_out', c.mlp_dim, c.width, hidden)

    def _weights(self, name: str, kind: str, d_in: int, shape: tuple):
        """Matrix [d_in, *shape] and bias [*shape] (0 without biases), stored flat: [d_in, d_out]."""
        d_out = 1
        for size in shape:
            d_out *= size
        W = self.param(name, self.inits[kind], (d_in, d_out)).reshape(d_in, *shape)
        if not self.config.biases:
            return W, 0.0
        bias = 'b_D' if d_in == self.config.width else f'b_{kind}'
        return W, self.param(f'b{name[1:]}', self.inits[bias], (d_out,)).reshape(shape)

    def _linear(self, name: str, kind: str, d_in: int, d_out: int, x: jax.Array) -> jax.Array:
        W, b = self._weights(name, kind, d_in, (d_out,))
        return x @ W + b


def _attend_all(Q, K, V):
    """Causal softmax attention, every position asking: [B, T, H, K] -> ([B, H, T, T], [B, T, H, K])."""
    length = Q.shape[1]
    scores = jnp.einsum('bqhk,bthk->bhqt', Q, K) / jnp.sqrt(Q.shape[-1])
    causal = jnp.tril(jnp.ones((length, length), bool))
    Attn = nn.softmax(jnp.where(causal, scores, -1e9))
    return Attn, jnp.einsum('bhqt,bthk->bqhk', Attn, V)


def _attend_last(Q, source, W_K, W_V, b_V):
    """The same for one query that sees every position: q.(x W_K) = (q W_K^T).x, twice T times less.

    A key bias adds the same to every score of the one query, so the softmax does not see it.
    """
    q_BHD = jnp.einsum('bhk,dhk->bhd', Q[:, 0], W_K) / jnp.sqrt(Q.shape[-1])
    Attn = nn.softmax(jnp.einsum('bhd,btd->bht', q_BHD, source))
    mean_BHD = jnp.einsum('bht,btd->bhd', Attn, source)
    return Attn[:, :, None], (jnp.einsum('bhd,dhk->bhk', mean_BHD, W_V) + b_V)[:, None]


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) * scale + bias over the last axis, as torch.nn.LayerNorm."""

    eps: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
        bias = self.param('bias', nn.initializers.zeros, (x.shape[-1],))
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + self.eps) * scale + bias
