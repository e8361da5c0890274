"""What the transformer costs in operations and memory, by formula."""

from anchorjax.models.transformer_config import TransformerConfig


def forward_operations(
    config: TransformerConfig,
    seq_len: int,
    vocab: int,
    batch_size: int,
    last_only: bool,
) -> float:
    """Operations (multiplications and additions) of one sequence's matrix products.

    A full block computes Q, K, V, attention, W_O and the MLP at T positions. A block
    that computes one position takes one row of each, and T rows for the scores and for
    the weighted mean. With `last_only` this counts what we run (`shortcuts.py`);
    without it, every position and no shortcut.
    """
    c, T = config, seq_len
    inner = c.heads * c.head_dim
    per_row = 4 * c.width * inner + 2 * c.width * c.mlp_dim
    full_block = T * per_row + 2 * T * T * inner
    if not last_only:
        return 2 * (c.depth * full_block + T * c.width * vocab)
    last_block = per_row + 2 * T * c.heads * c.width
    blocks = (c.depth - 1) * full_block + last_block
    if c.depth > 1 and c.norm != 'pre':
        # 'pre_query' normalizes the input of Q, so only K and V come from tables.
        projections = 2 if c.norm == 'pre_query' else 3
        table_rows = (vocab + T) / batch_size
        blocks -= projections * c.width * inner * (T - table_rows)
    return 2 * (blocks + c.width * vocab)


def activation_bytes(
    config: TransformerConfig, seq_len: int, vocab: int, batch_size: int
) -> int:
    """Estimated bytes of one member's activations, kept for the backward pass."""
    c = config
    rows = batch_size * seq_len
    inner = c.heads * c.head_dim
    per_row = 8 * c.width + 4 * inner + 3 * c.mlp_dim + 3 * c.heads * seq_len
    return 4 * (c.depth * rows * per_row + 4 * batch_size * vocab)
