"""Two ways to compute less; a test compares them with the plain transformer.

1. The first block reads sums of two table rows, W_embed[token] + W_pos[t]. So the
   tables are projected instead, V + T rows instead of B * T, and then gathered.
2. Where only the last position is scored, the last block computes that position alone.
   With one query, keys and values need never be formed: q . (x W_K) = (q W_K^T) . x,
   and the weighted sum over positions commutes with W_V.

Together they save a factor of 2.2 to 2.6 in operations at depth 2
(analysis/gallery/log/costs.md, "Speed").
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.typing import DTypeLike

from anchorjax.models.edges import CUT
from anchorjax.models.gradients import look_up, mix_rows, multiply, score_keys


class Embedded(NamedTuple):
    """A stream [B, T, D] that is a row of W_embed plus a row of W_pos."""

    tokens_BT: jax.Array
    W_embed: jax.Array  # [V, D]
    W_pos: jax.Array  # [T, D]
    dtype: DTypeLike = jnp.float32  # of the stream; the tables are float32

    def rows(self) -> jax.Array:
        """The stream itself, [B, T, D]."""
        rows_BTD = look_up(self.W_embed, self.tokens_BT) + self.W_pos
        return rows_BTD.astype(self.dtype)

    def project(self, W: jax.Array) -> jax.Array:
        """rows() @ W by multiplying the tables, then gathering, [B, T, d_out]."""
        tables = []
        for table in (self.W_embed, self.W_pos):
            tables.append(multiply(table.astype(self.dtype), W, jnp.float32))
        return self._replace(W_embed=tables[0], W_pos=tables[1]).rows()


def project(
    x: jax.Array | Embedded, W: jax.Array, dtype: DTypeLike | None = None
) -> jax.Array:
    """x [B, T, D] @ W [D, d_out] -> [B, T, d_out], by default in the dtype of x.

    It multiplies one matrix of B * T rows, because XLA's CPU code copies and transposes
    three-dimensional operands.
    """
    if isinstance(x, Embedded):
        return x.project(W)
    rows = x.reshape(-1, x.shape[-1])
    return multiply(rows, W, dtype or x.dtype).reshape(*x.shape[:-1], -1)


def attend_last(
    Q_B1HK: jax.Array,
    source: jax.Array | Embedded,
    W_K: jax.Array,
    W_V: jax.Array,
    readable_BTT: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Attention of the last position alone, in about 1/T of the work.

    A key bias would add the same to every score, which the softmax ignores. The caller
    adds the value bias.

    Args:
      Q_B1HK: the query of the last position, which sees all T positions.
      source: what keys and values are made from, [B, T, D].
      W_K, W_V: [D, H * K].
      readable_BTT: which positions each may read; None: all before it.

    Returns:
      Scores and Attn [B, H, 1, T], and Attn V [B, 1, H * K], heads concatenated.
    """
    source_BTD = source.rows() if isinstance(source, Embedded) else source
    batch, _, heads, head_dim = Q_B1HK.shape
    W_K = W_K.reshape(-1, heads, head_dim)
    W_V = W_V.reshape(-1, heads, head_dim)
    dtype = source_BTD.dtype
    multiply_heads = jax.vmap(multiply, in_axes=(1, 1, None), out_axes=1)
    query_BHD = multiply_heads(Q_B1HK[:, 0], W_K.transpose(2, 1, 0), dtype)
    scores_BHT = score_keys(query_BHD, source_BTD) / head_dim**0.5
    kept_BHT = scores_BHT
    if readable_BTT is not None:
        kept_BHT = jnp.where(readable_BTT[:, -1:], scores_BHT, CUT)
    Attn_BHT = nn.softmax(kept_BHT)
    mean_BHD = mix_rows(Attn_BHT, source_BTD)
    mixed = multiply_heads(mean_BHD, W_V, dtype)
    mixed = mixed.reshape(batch, 1, heads * head_dim)
    return scores_BHT[:, :, None], Attn_BHT[:, :, None], mixed
