"""What a model returns: logits and intermediate values, under the paper's names."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import jax

from anchorjax.errors import require

# An intervention: (field, block, value) -> the value that replaces it. A model calls it
# with 'Attn', 'X_ao' and 'X_do' of every block, from 0, as soon as each is computed.
Edit = Callable[[str, int, jax.Array], jax.Array]
# (field, value) -> the value that replaces it: an Edit of one block.
BlockEdit = Callable[[str, jax.Array], jax.Array]


class ModelConfig(Protocol):
    """What the config of every model has; it is a frozen, hashable dataclass."""

    name: str  # its row in MODELS

    def require_fit(self, seq_len: int, vocab: int) -> None:
        """Raises ConfigError if the model cannot read this task's sequences."""


class BlockActivations(NamedTuple):
    """One block (P1 App A). Q is T, or 1 in a last block that computes one position."""

    Q: jax.Array  # [B, Q, H, K]
    K: jax.Array  # [B, T, H, K]
    V: jax.Array  # [B, T, H, K]
    Attn: jax.Array  # [B, H, Q, T]; rows sum to 1
    X_qkv: jax.Array  # [B, Q, H * K]: Attn V, heads concatenated
    X_ao: jax.Array  # [B, Q, D]: the stream after attention
    hidden: jax.Array  # [B, Q, F]: the neurons of the MLP, after the activation
    X_do: jax.Array  # [B, Q, D]: the stream after the block


class Activations(NamedTuple):
    """Everything a forward pass computes; the compiler drops what is not used."""

    X_em: jax.Array  # [B, T, D]: token plus position embedding
    blocks: tuple[BlockActivations, ...]
    logits: jax.Array  # [B, Q, V]


def restrict_edit(edit: Edit | None, layer: int) -> BlockEdit:
    """The intervention in one block; without one, values stay as they are."""

    def edit_block(field: str, value: jax.Array) -> jax.Array:
        return value if edit is None else edit(field, layer, value)

    return edit_block


def require_positions(seq_len: int, max_len: int) -> None:
    """Raises ConfigError if the position table is shorter than a sequence."""
    allowed = f'at most model.max_len, {max_len}'
    require(seq_len <= max_len, 'task.seq_len', seq_len, allowed)
