"""Grokking: the answer to (a, b, =) is (a + b) mod p (P4, E4; PAPERS 4.2).

A random share of the p^2 questions is trained; the others are held out.
"""

import dataclasses
from typing import Annotated

import jax
import jax.numpy as jnp

from anchorjax.errors import require
from anchorjax.limits import above, at_least, at_most, below, check_fields
from anchorjax.tasks.base import Batch, Probes, Task


@dataclasses.dataclass(frozen=True)
class ModularAdditionConfig:
    """Defaults are P4's."""

    name: str = 'modular_addition'
    modulus: Annotated[int, at_least(2), at_most(1_000)] = 67  # p
    trained_share: Annotated[float, above(0), below(1)] = 0.4  # of the questions

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        num_all = self.modulus**2
        require(
            1 <= self.num_trained < num_all,
            'task.trained_share',
            self.trained_share,
            f'a share that trains 1 to {num_all - 1} of {num_all} questions',
        )

    @property
    def num_trained(self) -> int:
        """How many questions are trained."""
        return round(self.trained_share * self.modulus**2)

    @property
    def seq_len(self) -> int:
        """a, b and the sign '='."""
        return 3

    @property
    def vocab(self) -> int:
        """The numbers, then '='."""
        return self.modulus + 1


def ask(config: ModularAdditionConfig, question_B: jax.Array) -> Batch:
    """The questions a * p + b with their answers."""
    a_B, b_B = jnp.divmod(question_B, config.modulus)
    sign_B = jnp.full_like(a_B, config.modulus)
    tokens_BT = jnp.stack([a_B, b_B, sign_B], axis=-1)
    return Batch(tokens_BT, ((a_B + b_B) % config.modulus)[..., None])


def make_probes(config: ModularAdditionConfig, order: jax.Array) -> Probes:
    """All trained and all held-out questions; the shorter row is padded."""
    num_all = config.modulus**2
    size = max(config.num_trained, num_all - config.num_trained)
    number_PB = jnp.stack([jnp.arange(size), config.num_trained + jnp.arange(size)])
    end_P1 = jnp.array([[config.num_trained], [num_all]])
    weights_PB = (number_PB < end_P1).astype(jnp.float32)
    asked = ask(config, order[jnp.minimum(number_PB, end_P1 - 1)])
    return Probes(asked.tokens_BT, asked.targets_BQ[:, None], weights_PB[..., None])


def make(config: ModularAdditionConfig) -> Task:
    """The task as data: a random order of all questions, of which the first train."""

    def draw_order(key: jax.Array) -> jax.Array:
        return jax.random.permutation(key, config.modulus**2)

    def make_batch(order: jax.Array, number_B: jax.Array) -> Batch:
        return ask(config, order[number_B])

    def make_own_probes(order: jax.Array) -> Probes:
        return make_probes(config, order)

    return Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=config.num_trained,
        probe_names=('seen_train', 'seen_heldout'),
        make_data=draw_order,
        batch=make_batch,
        probes=make_own_probes,
        headings={
            'seen_train_assigned': 'trained',
            'seen_heldout_assigned': 'held out',
        },
    )
