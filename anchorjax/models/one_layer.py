"""The one-layer transformer of P2's theory (PAPERS 2.2).

    X_ao = A X W_V W_O + X,   f = act(X_ao W_in) W_out + X_ao

There is no LayerNorm, no bias, no position and no output projection: the stream itself
holds the logits, so its width is the vocabulary.
"""

import dataclasses

import jax
from flax import linen as nn

from anchorjax.limits import check_fields
from anchorjax.models import Activations, Edit, ModelConfig, restrict_edit
from anchorjax.models.transformer import (
    Activation,
    Block,
    Size,
    TransformerConfig,
    initializers,
)


@dataclasses.dataclass(frozen=True)
class OneLayerConfig(ModelConfig):
    """P2's d_m = 200 is `task.vocab`; the other sizes are unknown (PAPERS 2.1)."""

    name: str = 'one_layer'
    head_dim: Size = 200  # d_k; there is one head
    mlp_dim: Size = 400  # d_f
    activation: Activation = 'tanh'  # fits the assumption of the theory

    def __post_init__(self) -> None:
        check_fields(self, 'model')

    def module(self, vocab: int, gamma: float | jax.Array) -> 'OneLayer':
        return OneLayer(self, vocab, gamma)

    def as_transformer(self, vocab: int) -> TransformerConfig:
        """A transformer with the same block; its width is the vocabulary."""
        return TransformerConfig(
            depth=1,
            width=vocab,
            heads=1,
            head_dim=self.head_dim,
            mlp_dim=self.mlp_dim,
            norm='none',
            activation=self.activation,
        )


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
        block_config = self.config.as_transformer(self.vocab)
        inits = initializers(block_config, self.gamma)
        W_embed = self.param('W_embed', inits['embed'], (self.vocab, self.vocab))
        edit_outside = restrict_edit(edit, None)
        X_em = edit_outside('X_em', W_embed[tokens_BT])
        computes_last = last_only and edit is None
        block = Block(block_config, inits, last_only=computes_last, name='block_0')
        activations = block(X_em, X_em, restrict_edit(edit, 0))
        logits = edit_outside('logits', activations.X_do)
        return Activations(X_em, (activations,), logits)
