"""The one-layer transformer of P2's theory (PAPERS 2.2).

    X_ao = A X W_V W_O + X,   f = act(X_ao W_in) W_out + X_ao

There is no LayerNorm, no bias, no position and no output projection: the stream itself
holds the logits, so its width is the vocabulary.
"""

import dataclasses
from typing import Annotated

import jax
from flax import linen as nn

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields
from anchorjax.models import transformer_cost
from anchorjax.models.activations import Activation
from anchorjax.models.base import Activations, Edit, restrict_edit
from anchorjax.models.transformer import Block
from anchorjax.models.transformer_config import TransformerConfig
from anchorjax.models.transformer_init import initializers

_WIDEST = 2**16
Size = Annotated[int, at_least(1), at_most(_WIDEST)]


@dataclasses.dataclass(frozen=True)
class OneLayerConfig:
    """P2's d_m = 200 is `task.vocab`; the other sizes are unknown (PAPERS 2.1)."""

    name: str = 'one_layer'
    head_dim: Size = 200  # d_k; there is one head
    mlp_dim: Size = 400  # d_f
    activation: Activation = 'tanh'  # fits the assumption of the theory

    def __post_init__(self) -> None:
        check_fields(self, 'model')

    def require_fit(self, seq_len: int, vocab: int) -> None:
        """Raises ConfigError if the vocabulary is too large to be a width."""
        allowed = f'at most {_WIDEST:,}: it is the width of this model'
        require(vocab <= _WIDEST, 'task.vocab', vocab, allowed)


class OneLayer(nn.Module):
    """tokens [B, T] -> Activations, with one block and logits X_do."""

    config: OneLayerConfig
    vocab: int
    gamma: float | jax.Array

    @nn.compact
    def __call__(
        self, tokens_BT: jax.Array, last_only: bool = True, edit: Edit | None = None
    ) -> Activations:
        """The forward pass, with logits at the last position [B, 1, V] or at all."""
        block_config = _configure_block(self.config, self.vocab)
        inits = initializers(block_config, self.gamma)
        W_embed = self.param('W_embed', inits['embed'], (self.vocab, self.vocab))
        X_em = W_embed[tokens_BT]
        computes_last = last_only and edit is None
        block = Block(block_config, inits, last_only=computes_last, name='block_0')
        activations = block(X_em, X_em, restrict_edit(edit, 0))
        return Activations(X_em, (activations,), activations.X_do)


def forward_operations(
    config: OneLayerConfig, seq_len: int, vocab: int, batch_size: int, last_only: bool
) -> float:
    """Operations of one sequence: those of a transformer without output projection."""
    block_config = _configure_block(config, vocab)
    rows = 1 if last_only else seq_len
    operations = transformer_cost.forward_operations(
        block_config, seq_len, vocab, batch_size, last_only
    )
    return operations - 2 * rows * vocab * vocab


def activation_bytes(
    config: OneLayerConfig, seq_len: int, vocab: int, batch_size: int
) -> int:
    """Estimated bytes of one member's activations, kept for the backward pass."""
    block_config = _configure_block(config, vocab)
    return transformer_cost.activation_bytes(block_config, seq_len, vocab, batch_size)


def _configure_block(config: OneLayerConfig, vocab: int) -> TransformerConfig:
    """The block as one of a transformer whose width is the vocabulary."""
    return TransformerConfig(
        depth=1,
        width=vocab,
        heads=1,
        head_dim=config.head_dim,
        mlp_dim=config.mlp_dim,
        norm='none',
        activation=config.activation,
    )
