"""What a step costs is counted in its program, for any model, and by hand here."""

import dataclasses

import jax
import pytest
from flax import linen as nn

from anchorjax import config, models
from anchorjax.models import Activations, ModelConfig
from anchorjax.sweeps.cost import count_step, num_parameters
from tests.support.sweeps import experiment

B, D, HEADS, K, F, DEPTH = 6, 8, 2, 4, 16, 3


def count_block(T: int) -> int:
    """Products of numbers in a block at T positions: projections, attention, MLP."""
    return 4 * T * D * HEADS * K + 2 * T * T * HEADS * K + 2 * T * D * F


def test_a_transformer_costs_the_products_of_its_matrices():
    c = config.default(task='scan')
    c.train.batch_size, c.optimizer.warmup_steps = B, 0
    c.model.norm, c.model.depth, c.model.width = 'pre', DEPTH, D
    c.model.heads, c.model.head_dim, c.model.mlp_dim = HEADS, K, F
    c.model.max_len = 128
    resolved = config.resolve(c)
    T, V = resolved.task.seq_len, resolved.task.vocab
    forward = DEPTH * count_block(T) + T * D * V
    # A product is a multiplication and an addition; its gradients are two products.
    assert count_step(resolved).operations == 3 * 2 * B * forward


def test_where_one_position_is_scored_a_block_between_costs_the_same():
    """The first block multiplies tables, and the last one computes one position."""
    sizes = {'model__width': D, 'model__heads': HEADS, 'model__head_dim': K}
    sizes |= {'model__mlp_dim': F, 'train__batch_size': B}
    of_two, of_three = (
        experiment(model__depth=2, **sizes),
        experiment(model__depth=3, **sizes),
    )
    more = count_step(of_three).operations - count_step(of_two).operations
    assert more == 3 * 2 * B * count_block(of_two.task.seq_len)


@pytest.mark.slow
def test_what_remat_computes_again_costs_time_and_saves_memory():
    costs = {}
    for remat in (False, True):
        c = config.default(model='gpt2', size='tiny')
        c.model.remat, c.optimizer.warmup_steps = remat, 0
        costs[remat] = count_step(config.resolve(c))
    assert costs[True].operations > costs[False].operations
    assert costs[True].kept_bytes < costs[False].kept_bytes


@dataclasses.dataclass(frozen=True)
class OwnConfig(ModelConfig):
    """A model that says nothing of its cost."""

    name: str = 'own'
    rounds: int = 0

    def module(self, vocab, gamma):
        return Own(self.rounds, vocab)


class Own(nn.Module):
    """Logits are rows of a matrix, multiplied by it some times."""

    rounds: int
    vocab: int

    @nn.compact
    def __call__(self, tokens_BT, last_only=True, edit=None):
        W = self.param('W', nn.initializers.normal(), (self.vocab, self.vocab))
        rows_BV = W[tokens_BT[:, -1]]
        rows_BV, _ = jax.lax.scan(
            lambda x, _: (x @ W, None), rows_BV, length=self.rounds
        )
        return Activations(rows_BV, (), rows_BV[:, None])


@pytest.mark.parametrize('rounds', [0, 5])
def test_a_model_of_ones_own_needs_no_formula(monkeypatch, rounds):
    monkeypatch.setitem(models.MODELS, 'own', OwnConfig)
    c = config.default(model='own')
    c.model.rounds, c.train.batch_size, c.optimizer.warmup_steps = rounds, B, 0
    resolved = config.resolve(c)
    size = resolved.task.vocab
    assert num_parameters(resolved) == size**2
    by_hand = 3 * 2 * rounds * B * size**2
    assert count_step(resolved).operations == max(by_hand, 1)
