"""What GPT-2 costs in operations and memory, by formula."""

import jax.numpy as jnp

from anchorjax.models import transformer_cost
from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.transformer_config import TransformerConfig


def forward_operations(
    config: GPT2Config, seq_len: int, vocab: int, batch_size: int, last_only: bool
) -> float:
    """Operations (multiplications and additions) of one sequence's matrix products.

    Those of a pre-norm transformer of the same sizes. As usual, what `remat` computes
    again does not count, nor that a fused kernel may skip the future.
    """
    same_sizes = TransformerConfig(
        depth=config.depth,
        width=config.width,
        heads=config.heads,
        head_dim=config.head_dim,
        mlp_dim=config.mlp_dim,
        norm='pre',
    )
    return transformer_cost.forward_operations(
        same_sizes, seq_len, vocab, batch_size, last_only
    )


def activation_bytes(
    config: GPT2Config, seq_len: int, vocab: int, batch_size: int
) -> int:
    """Estimated bytes of one member's activations, kept for the backward pass.

    Logits count at every position; a task that scores the last one needs less.
    """
    blocks_kept = config.depth
    if config.remat:
        blocks_kept = 1
    in_blocks = blocks_kept * _row_bytes(config, seq_len)
    streams = 4 * config.depth * config.width
    logits = 4 * 3 * vocab
    return batch_size * seq_len * (in_blocks + streams + logits)


def _row_bytes(config: GPT2Config, seq_len: int) -> int:
    """Bytes of one position in one block.

    In float32 two LayerNorms and the stream between them; in `dtype` Q, K, V, their
    mixture, three versions of the MLP's neurons, and two of the attention.
    """
    item = jnp.dtype(config.dtype).itemsize
    in_float32 = 4 * 5 * config.width
    neurons = 3 * config.mlp_dim
    attention = 4 * config.width + 2 * config.heads * seq_len
    return in_float32 + item * (neurons + attention)
