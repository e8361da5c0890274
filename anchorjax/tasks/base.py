"""What a task is to the rest of the package: sizes, a batch by number, and probes with labels."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax


class Batch(NamedTuple):
    """Sequences and the token that should follow the last position."""

    tokens_BT: jax.Array
    labels_B: jax.Array


class Probes(NamedTuple):
    """Sequences to ask after training, with the answer of every mapping."""

    tokens_PBT: jax.Array
    labels_PRB: jax.Array


class Task(NamedTuple):
    """A data set as pure functions; `data` is its only state (arrays, one per member).

    make_data(key) -> data: whatever differs by seed (the split, the identity of examples).
    batch(data, index_B) -> Batch: training examples by their number in range(num_train).
    probes(data) -> Probes, along `probe_names` (P) and `mapping_names` (R).
    roles(tokens_BT) -> [B, T] what every position is for the task, an index of `role_names`.
    """

    vocab: int
    seq_len: int
    num_train: int
    probe_names: tuple[str, ...]
    mapping_names: tuple[str, ...]
    make_data: Callable[[jax.Array], Any]
    batch: Callable[[Any, jax.Array], Batch]
    probes: Callable[[Any], Probes]
    role_names: tuple[str, ...]
    roles: Callable[[jax.Array], jax.Array]
