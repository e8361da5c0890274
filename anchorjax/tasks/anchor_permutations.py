"""Anchors that are random permutations of the keys (P4; PAPERS 4.1).

A sequence is (k, a_i, a_j), and its answer pi_j(pi_i(k)). A share of the ordered pairs
of anchors is trained, with every key; the others are unseen, and answered rightly only
by a network that composes. There is no noise, and no number line behind the keys.
"""

import dataclasses
import functools
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.errors import require
from anchorjax.limits import above, at_least, at_most, below, check_fields
from anchorjax.tasks import Batch, EvalSets, Task, index_train_and_rest

ROLES = ('key', 'anchor_1', 'anchor_2')
HEADINGS = {
    'seen_train_assigned': 'trained pairs',
    'unseen_assigned': 'unseen pairs',
    'unseen_symmetric': 'as reversed',
}
Size = Annotated[int, at_least(2), at_most(1_000)]


@dataclasses.dataclass(frozen=True)
class AnchorPermutationsConfig:
    """Defaults are P4's: 45 trained pairs with 720 examples, 19 unseen with 304."""

    name: str = 'anchor_permutations'
    num_keys: Size = 16  # K; tokens 0 to K - 1
    num_anchors: Size = 8  # M; tokens K to K + M - 1
    trained_share: Annotated[float, above(0), below(1)] = 0.7  # of the ordered pairs
    seq_len = 3  # key, first anchor, second anchor

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        num_pairs = self.num_anchors**2
        require(
            1 <= self.num_trained < num_pairs,
            'task.trained_share',
            self.trained_share,
            f'a share that trains 1 to {num_pairs - 1} of {num_pairs} pairs',
        )

    def make(self) -> Task:
        """Its data are the permutations, and which pairs are trained."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_trained * self.num_keys,
            eval_set_names=('seen_train', 'unseen'),
            make_data=functools.partial(make_data, self),
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            mapping_names=('assigned', 'symmetric'),
            headings=HEADINGS,
            role_names=ROLES,
            roles=find_roles,
        )

    @property
    def num_trained(self) -> int:
        """How many ordered pairs are trained."""
        return round(self.trained_share * self.num_anchors**2)

    @property
    def vocab(self) -> int:
        """The keys, then the anchors."""
        return self.num_keys + self.num_anchors


class Data(NamedTuple):
    """What differs by seed."""

    permutations: jax.Array  # [anchor, key]: pi_a(k)
    pairs: jax.Array  # [pair] i * M + j; the first num_trained are trained


def make_data(config: AnchorPermutationsConfig, key: jax.Array) -> Data:
    """The anchors' permutations, and the order of the pairs."""
    anchor_key, pair_key = jax.random.split(key)
    keys = jnp.tile(jnp.arange(config.num_keys), (config.num_anchors, 1))
    permutations = jax.random.permutation(anchor_key, keys, axis=1, independent=True)
    pairs = jax.random.permutation(pair_key, config.num_anchors**2)
    return Data(permutations, pairs)


def compose(permutations: jax.Array, key: jax.Array, pair: jax.Array) -> jax.Array:
    """pi_j(pi_i(k)) [B] of keys [B] and pairs [B], i * M + j."""
    first, second = jnp.divmod(pair, len(permutations))
    return permutations[second, permutations[first, key]]


def ask(
    config: AnchorPermutationsConfig, data: Data, number_B: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(tokens [B, 3], key [B], pair [B]) of examples by number, trained ones first.

    All keys of a pair follow one another.
    """
    place_B, key_B = jnp.divmod(number_B, config.num_keys)
    pair_B = data.pairs[place_B]
    first_B, second_B = jnp.divmod(pair_B, config.num_anchors)
    first_token = config.num_keys
    tokens = [key_B, first_token + first_B, first_token + second_B]
    return jnp.stack(tokens, axis=-1), key_B, pair_B


def make_batch(
    config: AnchorPermutationsConfig, data: Data, number_B: jax.Array
) -> Batch:
    """Training examples by number."""
    tokens_BT, key_B, pair_B = ask(config, data, number_B)
    return Batch(tokens_BT, compose(data.permutations, key_B, pair_B)[:, None])


def make_eval_sets(config: AnchorPermutationsConfig, data: Data) -> EvalSets:
    """All examples of the trained and of the unseen pairs; the shorter row is padded.

    'assigned' is the composition, 'symmetric' that of the reversed pair.
    """
    num_seen = config.num_trained * config.num_keys
    num_all = config.num_anchors**2 * config.num_keys
    number_PB, weights_PB = index_train_and_rest(num_seen, num_all)
    tokens_PBT, key_PB, pair_PB = ask(config, data, number_PB)
    first_PB, second_PB = jnp.divmod(pair_PB, config.num_anchors)
    reversed_PB = second_PB * config.num_anchors + first_PB
    assigned_PB = compose(data.permutations, key_PB, pair_PB)
    symmetric_PB = compose(data.permutations, key_PB, reversed_PB)
    targets_PRB = jnp.stack([assigned_PB, symmetric_PB], axis=1)
    return EvalSets(tokens_PBT, targets_PRB[..., None], weights_PB[..., None])


def find_roles(tokens_BT: jax.Array) -> jax.Array:
    """Every position has a role of its own, [B, T]."""
    return jnp.broadcast_to(jnp.arange(len(ROLES)), tokens_BT.shape)
