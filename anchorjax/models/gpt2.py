"""GPT-2: pre-norm, tanh GELU, biases, learned positions, head tied to the embedding.

The names of parameters and activations are those of transformer.py. There is no
dropout, as in P1's experiments (PAPERS 1.6). Equal to Hugging Face's GPT2LMHeadModel on
the same weights (tests/models/test_gpt2_hugging_face.py).
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.models import shortcuts
from anchorjax.models.base import (
    Activations,
    BlockActivations,
    BlockEdit,
    Edit,
    restrict_edit,
)
from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.gpt2_layers import (
    Linear,
    attend_fused,
    multiply_rows,
    weigh_past,
)
from anchorjax.models.initializers import Initializer
from anchorjax.models.transformer import LayerNorm, mix_values, split_heads


class GPT2(nn.Module):
    """tokens [B, T] -> Activations.

    Attributes:
      config: sizes and options.
      vocab: number of tokens, V.
      inits: the initializer of every kind of parameter, from `gpt2_init.initializers`.
      logits_only: return no activations of blocks; with `remat` the blocks then run in
        one loop, which no compiler can unroll into more memory.
      gather: makes parameters whole, where devices share them; those of a block when
        it is computed, with `remat` again in the backward pass.
    """

    config: GPT2Config
    vocab: int
    inits: Mapping[str, Initializer]
    logits_only: bool = False
    gather: Callable[[Any], Any] | None = None

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
        if self.gather is not None:
            W_embed, W_pos = self.gather((W_embed, W_pos))
        X_em = W_embed[tokens_BT] + W_pos[:length]

        is_loop = c.remat and self.logits_only and edit is None
        if is_loop and not self.is_initializing():
            x, blocks = self._run_loop(X_em), ()
            x = x[:, -1:] if last_only else x
        else:
            blocks = self._run_blocks(X_em, last_only, edit)
            x = blocks[-1].X_do
        x = LayerNorm(c.eps, name='LN_final')(x)
        logits = multiply_rows(x, W_embed.T, c.dtype, jnp.float32)
        return Activations(X_em, blocks, logits)

    def _run_blocks(
        self, x_BTD: jax.Array, last_only: bool, edit: Edit | None
    ) -> tuple[BlockActivations, ...]:
        """The activations of all blocks."""
        c = self.config
        block_class = Block
        if self.gather is not None:
            block_class = nn.map_variables(Block, 'params', trans_in_fn=self.gather)
        if c.remat and not self.is_initializing():  # or it would change random keys
            block_class = nn.remat(block_class)
        blocks = []
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
            activations = block(x_BTD)
            blocks.append(activations)
            x_BTD = activations.X_do
        return tuple(blocks)

    def _run_loop(self, x_BTD: jax.Array) -> jax.Array:
        """The stream after the last block; the backward pass keeps that before each."""
        block = Block(self.config, self.inits, 0, False, None, parent=None)
        params = self.variables['params']

        @jax.checkpoint
        def run_block(x_BTD: jax.Array, params: Any) -> tuple[jax.Array, None]:
            if self.gather is not None:
                params = self.gather(params)
            return block.apply({'params': params}, x_BTD).X_do, None

        def stack(*leaves: jax.Array) -> jax.Array:
            return jnp.stack(leaves)

        layers = range(self.config.depth)
        of_blocks = [params[f'block_{layer}'] for layer in layers]
        x_BTD, _ = jax.lax.scan(run_block, x_BTD, jax.tree.map(stack, *of_blocks))
        return x_BTD


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
        edit = restrict_edit(self.edit, self.layer)
        x_BQD = x_BTD[:, -1:] if self.last_only else x_BTD
        attn_in = LayerNorm(c.eps, name='LN_attn')(x_BTD)
        Q, K, V, Attn, X_qkv = self._attention(attn_in, edit)
        attn_out = self._layer('O', 'residual', c.width, c.width)
        X_ao = x_BQD + attn_out.apply(X_qkv, c.dtype)
        X_ao = edit('X_ao', X_ao)

        mlp_in = LayerNorm(c.eps, name='LN_mlp')(X_ao)
        to_neurons = self._layer('in', 'mlp_in', c.width, c.mlp_dim)
        neurons = to_neurons.apply(mlp_in, c.dtype)
        hidden = nn.gelu(neurons, approximate=True)
        mlp_out = self._layer('out', 'residual', c.mlp_dim, c.width)
        X_do = X_ao + mlp_out.apply(hidden, c.dtype)
        X_do = edit('X_do', X_do)
        return BlockActivations(Q, K, V, Attn, X_qkv, X_ao, hidden, X_do)

    def _attention(
        self, source_BTD: jax.Array, edit: BlockEdit
    ) -> tuple[jax.Array, ...]:
        """Q, K, V, Attn and X_qkv of BlockActivations.

        With fused attention nothing depends on Attn, and the compiler drops it where
        nobody reads it.
        """
        c = self.config
        to_query = self._layer('Q', 'qkv', c.width, c.width)
        to_key = self._layer('K', 'qkv', c.width, c.width)
        to_value = self._layer('V', 'qkv', c.width, c.width)
        query_BQD = source_BTD[:, -1:] if self.last_only else source_BTD
        Q = split_heads(to_query.apply(query_BQD, c.dtype), c.heads)
        K = split_heads(to_key.apply(source_BTD, c.dtype), c.heads)
        V = split_heads(to_value.apply(source_BTD, c.dtype), c.heads)
        if self.last_only:  # one position: float32 at any dtype
            Attn, X_qkv = shortcuts.attend_last(
                Q.astype(jnp.float32), source_BTD, to_key.W, to_value.W
            )
            return Q, K, V, Attn, X_qkv + to_value.b
        Attn = weigh_past(Q, K)
        if c.attention != 'explicit' and self.edit is None:
            return Q, K, V, Attn, attend_fused(Q, K, V, c.attention)
        Attn = edit('Attn', Attn)
        return Q, K, V, Attn, mix_values(Attn.astype(c.dtype), V)

    def _layer(self, name: str, kind: str, d_in: int, d_out: int) -> Linear:
        """The linear map of the parameters W_name and b_name."""
        W = self.param(f'W_{name}', self.inits[kind], (d_in, d_out))
        b = self.param(f'b_{name}', self.inits['bias'], (d_out,))
        return Linear(W, b)
