"""Grokking: the answer to (a, b, =) is (a + b) mod p (P4, E4; PAPERS 4.2).

A random share of the p^2 questions is trained; the others are held out.
"""

import dataclasses
import functools
from typing import Annotated

import jax
import jax.numpy as jnp

from anchorjax.errors import require
from anchorjax.limits import above, at_least, at_most, below, check_fields
from anchorjax.tasks import Batch, EvalSets, Task, index_train_and_rest


@dataclasses.dataclass(frozen=True)
class ModularAdditionConfig:
    """Defaults are P4's."""

    name: str = 'modular_addition'
    modulus: Annotated[int, at_least(2), at_most(1_000)] = 67  # p
    trained_share: Annotated[float, above(0), below(1)] = 0.4  # of the questions
    seq_len = 3  # a, b and the sign '='

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        num_all = self.modulus**2
        require(
            1 <= self.num_trained < num_all,
            'task.trained_share',
            self.trained_share,
            f'a share that trains 1 to {num_all - 1} of {num_all} questions',
        )

    def make(self) -> Task:
        """Its data are the questions in a random order [p^2]; the first are trained."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_trained,
            eval_set_names=('seen_train', 'seen_heldout'),
            make_data=lambda key: jax.random.permutation(key, self.modulus**2),
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            headings={
                'seen_train_assigned': 'trained',
                'seen_heldout_assigned': 'held out',
            },
        )

    @property
    def num_trained(self) -> int:
        """How many questions are trained."""
        return round(self.trained_share * self.modulus**2)

    @property
    def vocab(self) -> int:
        """The numbers, then '='."""
        return self.modulus + 1


def make_batch(
    config: ModularAdditionConfig, order: jax.Array, number_B: jax.Array
) -> Batch:
    """The training examples with these numbers; `order` [p^2], of all questions."""
    return ask(config, order[number_B])


def ask(config: ModularAdditionConfig, question_B: jax.Array) -> Batch:
    """The questions a * p + b with their answers."""
    a_B, b_B = jnp.divmod(question_B, config.modulus)
    sign_B = jnp.full_like(a_B, config.modulus)
    tokens_BT = jnp.stack([a_B, b_B, sign_B], axis=-1)
    return Batch(tokens_BT, ((a_B + b_B) % config.modulus)[..., None])


def make_eval_sets(config: ModularAdditionConfig, order: jax.Array) -> EvalSets:
    """All trained and held-out questions of order [p^2]; the shorter row is padded."""
    number_PB, weights_PB = index_train_and_rest(config.num_trained, config.modulus**2)
    asked = ask(config, order[number_PB])
    return EvalSets(asked.tokens_BT, asked.targets_BQ[:, None], weights_PB[..., None])
