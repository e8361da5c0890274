"""What a model returns: logits and intermediate values, under the paper's names."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import jax

# An intervention: (field, block, value) -> the value that replaces it. A model calls it
# with 'Attn', 'X_ao' and 'X_do' of every block, from 0, as soon as each is computed.
Edit = Callable[[str, int, jax.Array], jax.Array]


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
