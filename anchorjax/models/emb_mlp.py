"""P2's Emb-MLP: the sum of embeddings, then two matrices (PAPERS 2.2).

    G(X) = act(sum_s W_embed[s] W_1) W_2

There is no bias, no LayerNorm and no position: the order of the tokens does not count.
"""

import dataclasses

import jax
import jax.numpy as jnp
from flax import linen as nn

from anchorjax.limits import check_fields
from anchorjax.models import Activations, Edit, ModelConfig, restrict_edit
from anchorjax.models.initializers import gamma_normal
from anchorjax.models.shortcuts import project
from anchorjax.models.transformer import Activation, Size, activate


@dataclasses.dataclass(frozen=True)
class EmbMLPConfig(ModelConfig):
    """P2 gives d_m = 200; d_f and the activation are unknown (PAPERS 2.1, 2.2)."""

    name: str = 'emb_mlp'
    width: Size = 200  # d_m
    mlp_dim: Size = 400  # d_f
    activation: Activation = 'tanh'  # fits the assumption of the theory

    def __post_init__(self) -> None:
        check_fields(self, 'model')

    def module(self, vocab: int, gamma: float | jax.Array) -> 'EmbMLP':
        return EmbMLP(self, vocab, gamma)


class EmbMLP(nn.Module):
    """tokens [B, T] -> Activations; a position reads the tokens up to it.

    Every parameter starts with std = d_in ** -gamma. For the embedding, d_in is its
    width, as in all models here (PAPERS 1.2). P2's rule, read literally, would take the
    number of tokens (PAPERS 2.1).
    """

    config: EmbMLPConfig
    vocab: int
    gamma: float | jax.Array

    @nn.compact
    def __call__(
        self, tokens_BT: jax.Array, last_only: bool = True, edit: Edit | None = None
    ) -> Activations:
        """The forward pass, with logits at the last position [B, 1, V] or at all."""
        c = self.config
        init = gamma_normal(self.gamma)
        embed_init = gamma_normal(self.gamma, d=c.width)
        W_embed = self.param('W_embed', embed_init, (self.vocab, c.width))
        W_1 = self.param('W_1', init, (c.width, c.mlp_dim))
        W_2 = self.param('W_2', init, (c.mlp_dim, self.vocab))
        edit_outside = restrict_edit(edit, None)
        X_em = edit_outside('X_em', W_embed[tokens_BT])
        X_sum = jnp.cumsum(X_em, axis=1)
        if last_only and edit is None:
            X_sum = X_sum[:, -1:]
        X_sum = edit_outside('X_sum', X_sum)
        hidden_in = edit_outside('hidden_in', project(X_sum, W_1))
        hidden = edit_outside('hidden', activate(c.activation, hidden_in))
        logits = edit_outside('logits', project(hidden, W_2))
        own = {'X_sum': X_sum, 'hidden_in': hidden_in, 'hidden': hidden}
        return Activations(X_em, (), logits, own)
