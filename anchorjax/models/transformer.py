"""The transformer of P1 (App A; PAPERS 1.2) and, by options, of P1 Fig 2 (c) and P3.

This file is the model as the papers write it. `shortcuts.py` has two ways to compute
the same numbers, up to rounding, with less work: in the first block, and in the last
one where only the last position is scored.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models import shortcuts
from anchorjax.models.activations import activate
from anchorjax.models.base import (
    Activations,
    BlockActivations,
    BlockEdit,
    Edit,
    restrict_edit,
)
from anchorjax.models.initializers import Initializer
from anchorjax.models.shortcuts import Embedded, project
from anchorjax.models.transformer_config import TransformerConfig


class Transformer(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: the initializer of every kind of parameter, from
        `transformer_init.initializers`.
    """

    config: TransformerConfig
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
        embedded = Embedded(tokens_BT, W_embed, W_pos[:length])
        X_em = embedded.rows()

        x, stream, blocks = X_em, embedded, []
        for layer in range(c.depth):
            is_last = layer == c.depth - 1
            block = Block(
                c,
                self.inits,
                last_only=is_last and last_only and edit is None,
                name=f'block_{layer}',
            )
            activations = block(x, stream, restrict_edit(edit, layer))
            blocks.append(activations)
            x = stream = activations.X_do

        if c.is_pre_norm:
            x = LayerNorm(c.eps, name='LN_final')(x)
        W_U = self.param('W_U', self.inits['unembed'], (c.width, self.vocab))
        b_U = self.param('b_U', self.inits['b_U'], (self.vocab,))
        return Activations(X_em, tuple(blocks), project(x, W_U) + b_U)


class Block(nn.Module):
    """Attention, then an MLP, each with a residual: [B, T, D] -> [B, Q, D].

    `config.norm` says where the LayerNorm is:
      post       LN(x + f(x)), as in P1
      pre        x + f(LN(x)), as in GPT-2
      pre_query  as pre, but keys and values read the stream without LayerNorm (P3)
      none       x + f(x): there is none (P2's theory and ablation, PAPERS 2.1, 2.2)
    """

    config: TransformerConfig
    inits: Mapping[str, Initializer]
    last_only: bool  # compute the last position only (Q = 1)

    @nn.compact
    def __call__(
        self, x_BTD: jax.Array, stream: jax.Array | Embedded, edit: BlockEdit
    ) -> BlockActivations:
        """`stream` is x_BTD once more; the first block gets it as tables."""
        c = self.config
        ln_attn = LayerNorm(c.eps, name='LN_attn')
        ln_mlp = LayerNorm(c.eps, name='LN_mlp')
        x_BQD = x_BTD[:, -1:] if self.last_only else x_BTD

        query = x_BQD if self.last_only else stream
        source = stream
        if c.is_pre_norm:
            query = ln_attn(x_BQD)
        if c.norm == 'pre':
            source = ln_attn(x_BTD)
        Q, K, V, Attn, X_qkv = self._attention(query, source, edit)
        X_ao = x_BQD + self._linear('W_O', 'attn_out', c.width, X_qkv)
        if c.norm == 'post':
            X_ao = ln_attn(X_ao)
        X_ao = edit('X_ao', X_ao)

        mlp_in = ln_mlp(X_ao) if c.is_pre_norm else X_ao
        hidden_in = self._linear('W_in', 'mlp_in', c.mlp_dim, mlp_in)
        hidden = activate(c.activation, hidden_in)
        X_do = X_ao + self._linear('W_out', 'mlp_out', c.width, hidden)
        if c.norm == 'post':
            X_do = ln_mlp(X_do)
        X_do = edit('X_do', X_do)
        return BlockActivations(Q, K, V, Attn, X_qkv, X_ao, hidden, X_do)

    def _attention(
        self,
        query: jax.Array | Embedded,
        source: jax.Array | Embedded,
        edit: BlockEdit,
    ) -> tuple[jax.Array, ...]:
        """Q, K, V, Attn and X_qkv of BlockActivations."""
        c = self.config
        W_Q, b_Q = self._weights('W_Q', 'qk', c.width, c.heads * c.head_dim)
        W_K, b_K = self._weights('W_K', 'qk', c.width, c.heads * c.head_dim)
        W_V, b_V = self._weights('W_V', 'v', c.width, c.heads * c.head_dim)
        Q = split_heads(project(query, W_Q) + b_Q, c.heads)
        K = split_heads(project(source, W_K) + b_K, c.heads)
        V = split_heads(project(source, W_V) + b_V, c.heads)
        if self.last_only:
            Attn, X_qkv = shortcuts.attend_last(Q, source, W_K, W_V)
            return Q, K, V, Attn, X_qkv + b_V
        Attn = edit('Attn', attention_weights(Q, K))
        return Q, K, V, Attn, mix_values(Attn, V)

    def _linear(self, name: str, kind: str, d_out: int, x: jax.Array) -> jax.Array:
        W, b = self._weights(name, kind, x.shape[-1], d_out)
        return project(x, W) + b

    def _weights(
        self, name: str, kind: str, d_in: int, d_out: int
    ) -> tuple[jax.Array, jax.Array | float]:
        """Matrix [d_in, d_out] and bias [d_out], or 0 in a model without biases."""
        W = self.param(name, self.inits[kind], (d_in, d_out))
        if not self.config.biases:
            return W, 0.0
        b = self.param(f'b{name[1:]}', self.inits[f'b_{kind}'], (d_out,))
        return W, b


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) * scale + bias, over the last axis."""

    eps: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
        bias = self.param('bias', nn.initializers.zeros, (x.shape[-1],))
        x = x - x.mean(-1, keepdims=True)
        variance = (x * x).mean(-1, keepdims=True)
        return x * jax.lax.rsqrt(variance + self.eps) * scale + bias


def attention_weights(Q_BTHK: jax.Array, K_BTHK: jax.Array) -> jax.Array:
    """softmax(mask(Q K^T / sqrt(d_k))) with a causal mask, [B, H, T, T] (P1 App A)."""
    batch, length, heads, head_dim = Q_BTHK.shape
    Q, K = _heads_first(Q_BTHK), _heads_first(K_BTHK)
    scores = jnp.einsum('nqk,ntk->nqt', Q, K) / head_dim**0.5
    is_past = jnp.tril(jnp.ones((length, length), bool))
    Attn = nn.softmax(jnp.where(is_past, scores, -1e9))
    return Attn.reshape(batch, heads, length, length)


def mix_values(Attn_BHTT: jax.Array, V_BTHK: jax.Array) -> jax.Array:
    """Attn V, heads concatenated, [B, T, H * K] (P1 App A)."""
    batch, length, heads, head_dim = V_BTHK.shape
    Attn = Attn_BHTT.reshape(batch * heads, length, length)
    mixed = jnp.einsum('nqt,ntk->nqk', Attn, _heads_first(V_BTHK))
    mixed_BHTK = mixed.reshape(batch, heads, length, head_dim)
    return mixed_BHTK.swapaxes(1, 2).reshape(batch, length, heads * head_dim)


def split_heads(x: jax.Array, heads: int) -> jax.Array:
    """[B, T, H * K] -> [B, T, H, K]."""
    return x.reshape(*x.shape[:2], heads, -1)


def _heads_first(x_BTHK: jax.Array) -> jax.Array:
    """[B, T, H, K] -> [B * H, T, K]: XLA's CPU code is faster with one batch axis."""
    batch, length, heads, head_dim = x_BTHK.shape
    return x_BTHK.swapaxes(1, 2).reshape(batch * heads, length, head_dim)
