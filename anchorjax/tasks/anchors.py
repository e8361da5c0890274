"""The composite anchor-function task (P1 Sec 3.1-3.2, 4; PAPERS 1.1).

A sequence holds a key item x, then a pair of anchors (a1, a2); the rest is noise. The label is
f = g(g(x; a1); a2), where g(x; a) = x + shift[a], except for non-inferential pairs, which are
trained on another shift, and unseen pairs, which are never trained: they are the question.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks.anchors_config import AnchorsConfig
from anchorjax.tasks.base import Batch, Probes, Task

MAPPINGS = ('inferential', 'symmetric', 'assigned')
ROLES = ('key', 'anchor_1', 'anchor_2', 'last', 'noise')


class Data(NamedTuple):
    """Which keys train where: order lists every key, the `count` training keys first."""

    key: jax.Array
    order: jax.Array  # [pair, position, key] items
    count: jax.Array  # [pair, position]


def pairs(config: AnchorsConfig) -> np.ndarray:
    """All ordered pairs of anchors, [A * A, 2]."""
    return np.array([(a, b) for a in config.anchors for b in config.anchors], np.int32)


def mapping_shifts(config: AnchorsConfig) -> np.ndarray:
    """Answer minus key of every mapping for every pair, [pair, R] (P1 Sec 4).

    inferential: the composition. assigned: what training says, or would say. symmetric: what is
    assigned to the reversed pair, the memorizer's answer to an unseen pair.
    """
    shift = dict(zip(config.anchors, config.shifts, strict=True))
    inferential = {(a, b): shift[a] + shift[b] for a, b in pairs(config).tolist()}
    assigned = inferential | {(a, b): s for a, b, s in config.noninferential}
    rows = [(inferential[a, b], assigned[b, a], assigned[a, b]) for a, b in inferential]
    return np.array(rows, np.int32)


def training_keys(config: AnchorsConfig, key: jax.Array) -> jax.Array:
    """Which keys are trained on, bool [pair, position, key] (P1 App C; code; PAPERS 1.1).

    'code': x mod seq_len != position; 'paper': x mod (seq_len - 2) != position; 'random': the
    share `holdout` of each pair's keys is held out, the same at every position;
    'random_position': other keys at every position, as officially but without the modulus (in
    a short sequence x mod seq_len would tell where the key is).
    """
    num_pairs, low, high = len(config.anchors) ** 2, *config.keys
    shape = (num_pairs, config.seq_len - 2, high - low)
    if config.split in ('random', 'random_position'):
        drawn = (
            shape if config.split == 'random_position' else (num_pairs, 1, high - low)
        )
        rank = jnp.argsort(jax.random.uniform(key, drawn), axis=-1)
        return jnp.broadcast_to(rank >= config.num_heldout, shape)
    items, positions = np.arange(low, high), np.arange(config.seq_len - 2)[:, None]
    return jnp.broadcast_to(items % config.modulus != positions, shape)


def make_data(config: AnchorsConfig, key: jax.Array) -> Data:
    """The data set of one seed; its examples are a function of `key` and their number."""
    split_key, example_key = jax.random.split(key)
    trained = training_keys(config, split_key)
    order = config.keys[0] + jnp.argsort(~trained, axis=-1, stable=True)
    return Data(example_key, order.astype(jnp.int32), trained.sum(-1, dtype=jnp.int32))


def sequences(config: AnchorsConfig, data: Data, key, pair_B, number_B, heldout: bool):
    """(tokens [B, T], key items [B]): key and pair at a uniform position, uniform noise around.

    The example with a given number is always the same: its draws hang on (key, number) alone.
    """
    low, high = config.keys
    draws = lambda i: jax.random.bits(jax.random.fold_in(key, i), (config.seq_len + 2,))
    bits_BT = jax.vmap(draws)(number_B)
    position_B = (bits_BT[:, 0] % (config.seq_len - 2)).astype(jnp.int32)
    count_B = data.count[pair_B, position_B]
    first_B, size_B = (count_B, high - low - count_B) if heldout else (0, count_B)
    rank_B = first_B + (bits_BT[:, 1] % size_B.astype(jnp.uint32)).astype(jnp.int32)
    x_B = data.order[pair_B, position_B, rank_B]
    noise_BT = (low + bits_BT[:, 2:] % (high - low)).astype(jnp.int32)
    anchors_B2 = jnp.asarray(pairs(config))[pair_B]
    return place(noise_BT, position_B, x_B, anchors_B2), x_B


def place(tokens_BT, position_B, x_B, anchors_B2) -> jax.Array:
    """Writes x, a1, a2 at position, position + 1, position + 2, without a scatter."""
    offset_BT = jnp.arange(tokens_BT.shape[1]) - position_B[:, None]
    tokens_BT = jnp.where(offset_BT == 0, x_B[:, None], tokens_BT)
    tokens_BT = jnp.where(offset_BT == 1, anchors_B2[:, :1], tokens_BT)
    return jnp.where(offset_BT == 2, anchors_B2[:, 1:], tokens_BT)


def roles(config: AnchorsConfig, tokens_BT) -> jax.Array:
    """Index into ROLES of every position [B, T]; 'last' is absent where an anchor stands last."""
    anchor_BT = (tokens_BT[..., None] == jnp.asarray(config.anchors)).any(-1)
    offset_BT = jnp.arange(tokens_BT.shape[1]) - (anchor_BT.argmax(-1)[:, None] - 1)
    last_T = jnp.arange(tokens_BT.shape[1]) == tokens_BT.shape[1] - 1
    other_BT = jnp.where(last_T, ROLES.index('last'), ROLES.index('noise'))
    return jnp.where((offset_BT >= 0) & (offset_BT <= 2), offset_BT, other_BT)


def make(config: AnchorsConfig) -> Task:
    """The task of a config, as pure functions that can be jitted and vmapped over seeds."""
    shifts = mapping_shifts(config)  # NumPy: making a task must not touch a device
    numbered = {tuple(p): i for i, p in enumerate(pairs(config).tolist())}
    unseen = [numbered[p] for p in config.unseen]
    seen = np.array(
        [i for p, i in numbered.items() if p not in config.unseen], np.int32
    )
    names = ['unseen'] + [f'unseen_{a}{b}' for a, b in config.unseen[1:]]
    probed = [(seen, False), (seen, True)] + [(np.array([u]), False) for u in unseen]

    def batch(data: Data, index_B) -> Batch:
        pair_B = jnp.asarray(seen)[index_B % len(seen)]
        tokens_BT, x_B = sequences(
            config, data, data.key, pair_B, index_B, heldout=False
        )
        return Batch(
            tokens_BT, x_B + jnp.asarray(shifts)[pair_B, MAPPINGS.index('assigned')]
        )

    def probes(data: Data) -> Probes:
        number_B = jnp.arange(config.probe_examples)
        rows = []
        for i, (chosen, heldout) in enumerate(probed):
            key = jax.random.fold_in(
                jax.random.fold_in(data.key, config.num_examples), i
            )
            pair_B = jnp.asarray(chosen)[number_B % len(chosen)]
            tokens_BT, x_B = sequences(config, data, key, pair_B, number_B, heldout)
            rows.append((tokens_BT, x_B + jnp.asarray(shifts)[pair_B].T))
        return Probes(*(jnp.stack(column) for column in zip(*rows, strict=True)))

    return Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=config.num_train_per_pair * len(seen),
        probe_names=('seen_train', 'seen_heldout', *names[: len(unseen)]),
        mapping_names=MAPPINGS,
        make_data=lambda key: make_data(config, key),
        batch=batch,
        probes=probes,
        role_names=ROLES,
        roles=lambda tokens_BT: roles(config, tokens_BT),
    )
