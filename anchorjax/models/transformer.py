"""The decoder-only transformer of P1 (App A; PAPERS 1.2) and, by options, of P1 Fig 2(c) and P3.

The loss reads the last position only, so the last block answers that position alone: with one
query a linear map commutes with the weighted sum over positions, and keys and values need never
be formed (`_attend_last`). The first block reads a stream that is a sum of two table rows, so
its projections are tables too (`Embedded`). All paths give the same numbers up to rounding.
"""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models.base import Activations, BlockActivations, Edit
from anchorjax.models.initializers import Initializer
from anchorjax.models.transformer_config import TransformerConfig


class Embedded(NamedTuple):
    """A stream [B, T, D] that is a row of W_embed plus a row of W_pos."""

    tokens_BT: jax.Array
    W_embed: jax.Array  # [V, D]
    W_pos: jax.Array  # [T, D]

    def rows(self) -> jax.Array:
        return self.W_embed[self.tokens_BT] + self.W_pos

    def __matmul__(self, W: jax.Array) -> jax.Array:
        """rows() @ W with a product of V + T rows instead of B * T, and a gather."""
        return self._replace(W_embed=self.W_embed @ W, W_pos=self.W_pos @ W).rows()


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
    def __call__(
        self, tokens_BT: jax.Array, last_only: bool = True, edit: Edit | None = None
    ) -> Activations:
        """Every position answers where `last_only` is off, or where there is an intervention."""
        c, length = self.config, tokens_BT.shape[1]
        W_embed = self.param('W_embed', self.inits['embed'], (self.vocab, c.width))
        W_pos = self.param('W_pos', self.inits['embed'], (c.max_len, c.width))
        embedded = Embedded(tokens_BT, W_embed, W_pos[:length])
        x = X_em = embedded.rows()
        blocks = []
        for layer in range(c.depth):
            last = last_only and edit is None and layer == c.depth - 1
            first = embedded if layer == 0 else None
            change = lambda field, value, n=layer: (
                edit(field, n, value) if edit else value
            )
            blocks.append(
                Block(c, self.inits, last, name=f'block_{layer}')(x, first, change)
            )
            x = blocks[-1].X_do
        if c.norm != 'post':
            x = LayerNorm(c.eps, name='LN_final')(x)
        W_U = self.param('W_U', self.inits['unembed'], (c.width, self.vocab))
        b_U = self.param('b_U', self.inits['b_U'], (self.vocab,))
        return Activations(X_em, tuple(blocks), _matmul(x, W_U) + b_U)


class Block(nn.Module):
    """Attention, then the MLP, each with a residual and a LayerNorm. [B, T, D] -> [B, Q, D]."""

    config: TransformerConfig
    inits: Mapping[str, Initializer]
    last: bool  # answer the last position only (Q = 1)

    @nn.compact
    def __call__(
        self, x_BTD: jax.Array, embedded: Embedded | None, change
    ) -> BlockActivations:
        c, norm = self.config, self.config.norm
        ln_attn, ln_mlp = (
            LayerNorm(c.eps, name='LN_attn'),
            LayerNorm(c.eps, name='LN_mlp'),
        )
        x_BQD = x_BTD[:, -1:] if self.last else x_BTD
        stream = x_BTD if embedded is None else embedded
        asking = x_BQD if self.last else stream
        query = asking if norm == 'post' else ln_attn(x_BQD)
        source = ln_attn(x_BTD) if norm == 'pre' else stream
        Q, K, V, Attn, X_qkv = self._attention(
            query, source, functools.partial(change, 'Attn')
        )
        X_ao = x_BQD + self._linear('W_O', 'attn_out', c.width, X_qkv)
        X_ao = change('X_ao', ln_attn(X_ao) if norm == 'post' else X_ao)
        hidden, mlp_out = self._mlp(X_ao if norm == 'post' else ln_mlp(X_ao))
        X_do = X_ao + mlp_out
        X_do = change('X_do', ln_mlp(X_do) if norm == 'post' else X_do)
        return BlockActivations(Q, K, V, Attn, X_qkv, X_ao, hidden, X_do)

    def _attention(self, query, source, change):
        """Q, K, V [B, T, H, K], Attn [B, H, Q, T] and X_qkv [B, Q, H * K]."""
        c = self.config
        heads = lambda x: x.reshape(*x.shape[:2], c.heads, c.head_dim)
        (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = (
            self._weights(name, kind, c.width, c.heads * c.head_dim)
            for name, kind in (('W_Q', 'qk'), ('W_K', 'qk'), ('W_V', 'v'))
        )
        Q = heads(_matmul(query, W_Q) + b_Q)
        K = heads(_matmul(source, W_K) + b_K)
        V = heads(_matmul(source, W_V) + b_V)
        if not self.last:
            return Q, K, V, *_attend_all(Q, K, V, change)
        source_BTD = source.rows() if isinstance(source, Embedded) else source
        Attn, X_qkv = _attend_last(Q, source_BTD, W_K, W_V)
        return Q, K, V, Attn, X_qkv + b_V

    def _mlp(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(hidden neurons [B, Q, F], output [B, Q, D])."""
        c = self.config
        act = (
            nn.relu
            if c.activation == 'relu'
            else lambda h: nn.gelu(h, approximate=False)
        )
        hidden = act(self._linear('W_in', 'mlp_in', c.mlp_dim, x))
        return hidden, self._linear('W_out', 'mlp_out', c.width, hidden)

    def _linear(self, name: str, kind: str, d_out: int, x: jax.Array) -> jax.Array:
        W, b = self._weights(name, kind, x.shape[-1], d_out)
        return _matmul(x, W) + b

    def _weights(self, name: str, kind: str, d_in: int, d_out: int):
        """Matrix [d_in, d_out] and bias [d_out], or 0 without biases."""
        W = self.param(name, self.inits[kind], (d_in, d_out))
        if not self.config.biases:
            return W, 0.0
        return W, self.param(f'b{name[1:]}', self.inits[f'b_{kind}'], (d_out,))


def _matmul(x, W: jax.Array) -> jax.Array:
    """x [..., D] @ W on a matrix of rows: XLA's CPU code copies and transposes 3-D operands."""
    if isinstance(x, Embedded):
        return x @ W
    return (x.reshape(-1, x.shape[-1]) @ W).reshape(*x.shape[:-1], -1)


def _attend_all(Q, K, V, change):
    """Causal softmax attention, every position asking: (Attn [B, H, T, T], X_qkv [B, T, H * K])."""
    batch, length, heads, dim = Q.shape
    flat = lambda x: x.swapaxes(1, 2).reshape(batch * heads, length, dim)
    Q, K, V = flat(Q), flat(K), flat(V)
    scores = jnp.einsum('nqk,ntk->nqt', Q, K) / dim**0.5
    causal = jnp.tril(jnp.ones((length, length), bool))
    Attn = nn.softmax(jnp.where(causal, scores, -1e9))
    Attn = change(Attn.reshape(batch, heads, length, length))
    flat_Attn = Attn.reshape(batch * heads, length, length)
    mixed = jnp.einsum('nqt,ntk->nqk', flat_Attn, V).reshape(batch, heads, length, dim)
    return Attn, mixed.swapaxes(1, 2).reshape(batch, length, heads * dim)


def _attend_last(Q, source_BTD, W_K, W_V):
    """The same for one query that sees every position: q.(x W_K) = (q W_K^T).x, in 1/T of the work.

    A key bias adds the same to every score of the one query, so the softmax does not see it.
    """
    batch, _, heads, dim = Q.shape
    W_K, W_V = (W.reshape(-1, heads, dim) for W in (W_K, W_V))
    q_BHD = jnp.einsum('bhk,dhk->bhd', Q[:, 0], W_K) / dim**0.5
    Attn = nn.softmax(jnp.einsum('bhd,btd->bht', q_BHD, source_BTD))
    mean_BHD = jnp.einsum('bht,btd->bhd', Attn, source_BTD)
    mixed = jnp.einsum('bhd,dhk->bhk', mean_BHD, W_V)
    return Attn[:, :, None], mixed.reshape(batch, 1, heads * dim)


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) * scale + bias over the last axis, as torch.nn.LayerNorm."""

    eps: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
        bias = self.param('bias', nn.initializers.zeros, (x.shape[-1],))
        x = x - x.mean(-1, keepdims=True)
        return (
            x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + self.eps) * scale + bias
        )
