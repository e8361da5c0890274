"""What a task is: sizes, training batches, and probes with their answers."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp


class TaskConfig(Protocol):
    """What the config of every task offers: a frozen, hashable dataclass."""

    name: str  # its row in TASKS
    seq_len: int  # T
    vocab: int  # V


class Batch(NamedTuple):
    """Training sequences, and the token that should follow each position that is asked.

    Q is 1 in a task that asks the last position only, else T.
    """

    tokens_BT: jax.Array
    targets_BQ: jax.Array
    weights_BQ: jax.Array | None = (
        None  # in the loss, 0: not asked; None: all count alike
    )


class Probes(NamedTuple):
    """Sequences to ask while training goes on, with what every mapping would answer."""

    tokens_PBT: jax.Array
    targets_PRBQ: jax.Array
    weights_PBQ: jax.Array | None = None  # as in Batch; a row of zeros is padding


def no_roles(tokens_BT: jax.Array) -> jax.Array:
    """The roles of a task whose positions are all alike."""
    return jnp.zeros_like(tokens_BT)


class Task(NamedTuple):
    """A data set as pure functions; `data` (arrays, per member) is its only state.

    A probe is a set of sequences with a name: training sequences, held-out ones, ... A
    mapping is a rule that gives every sequence an answer. A member is scored by the
    share of sequences of each probe that it answers as each mapping does.
    """

    vocab: int
    seq_len: int
    num_train: int  # training examples, numbered from 0
    probe_names: tuple[str, ...]  # P
    # key -> data: whatever differs by seed (the split, the identity of examples).
    make_data: Callable[[jax.Array], Any]
    # (data, index_B) -> training examples by their number in range(num_train).
    batch: Callable[[Any, jax.Array], Batch]
    # data -> the sequences to ask.
    probes: Callable[[Any], Probes]
    last_only: bool = True  # only the last position is asked: cheaper to compute
    mapping_names: tuple[str, ...] = ('assigned',)  # R
    trained_mapping: str = (
        'assigned'  # training follows it; loss on probes is against it
    )
    # (probe, mapping) where prediction minus answer is a meaningful number, of which a
    # histogram is kept. None where tokens are not numbers.
    deviation: tuple[str, str] | None = None
    role_names: tuple[str, ...] = ('token',)  # what a position can be
    # tokens_BT -> [B, T], an index of role_names.
    roles: Callable[[jax.Array], jax.Array] = no_roles
