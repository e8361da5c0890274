"""The composite anchor-function task (P1 Sec 3.1-3.2, 4; PAPERS 1.1).

A sequence holds a key item x and a pair of anchors (a1, a2); the rest is noise. The
answer is f = g(g(x; a1); a2), where g(x; a) = x + shift[a], except for non-inferential
pairs, which are trained on another shift. Unseen pairs are never trained: how they are
answered is the question. The number of pairs that are wrong in both orders is the
inferential complexity of a task (P1 v1 Sec 6; PAPERS 1.5).
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks.anchors_config import AnchorsConfig
from anchorjax.tasks.base import Batch, Probes, Task
from anchorjax.tasks.examples import draw_bits

MAPPINGS = ('inferential', 'symmetric', 'assigned')
ROLES = ('key', 'anchor_1', 'anchor_2', 'last', 'noise')
HEADINGS = {
    'seen_heldout_assigned': 'held-out',
    'unseen_inferential': 'inferential',
    'unseen_symmetric': 'symmetric',
}
# Roles of the three tokens that are not noise, from left to right.
_ORDERS = {
    'key_first': ('key', 'anchor_1', 'anchor_2'),
    'anchors_first': ('anchor_1', 'anchor_2', 'key'),
}


class Data(NamedTuple):
    """Which key items are trained, and which are held out.

    `position` is an index into `config.positions`, `pair` one into the rows of
    `list_pairs`.
    """

    key: jax.Array  # random key of the examples
    key_items: jax.Array  # [pair, position, key], the trained ones first
    num_trained: jax.Array  # [pair, position]


class Sequences(NamedTuple):
    """Sequences of the task, and what they ask."""

    tokens_BT: jax.Array
    x_B: jax.Array  # key items
    column_B: jax.Array  # indices into `config.positions`


def list_pairs(config: AnchorsConfig) -> np.ndarray:
    """All ordered pairs of anchors, [pair, 2]."""
    rows = [(a, b) for a in config.shift_of for b in config.shift_of]
    return np.array(rows, np.int32)


def find_row(config: AnchorsConfig, pair: tuple[int, int]) -> int:
    """The row of a pair in `list_pairs`."""
    return list_pairs(config).tolist().index(list(pair))


def name_pair(a: int, b: int) -> str:
    """'34', or '3_11': without the line (1, 11) and (11, 1) would both be '111'."""
    return f'{a}{b}' if max(a, b) < 10 else f'{a}_{b}'


def list_shifts(config: AnchorsConfig) -> np.ndarray:
    """Answer minus key item of every mapping for every pair, [pair, R] (P1 Sec 4).

    inferential: the composition. assigned: the training label, or for an unseen pair
    what it would be. symmetric: what is assigned to the reversed pair, which is how a
    memorizer answers an unseen pair.
    """
    shift = config.shift_of
    inferential = {}
    for a, b in list_pairs(config).tolist():
        inferential[a, b] = shift[a] + shift[b]
    assigned = inferential | config.exceptions
    rows = [(inferential[a, b], assigned[b, a], assigned[a, b]) for a, b in inferential]
    return np.array(rows, np.int32)


def draw_training_keys(config: AnchorsConfig, key: jax.Array) -> jax.Array:
    """Which key items are trained, bool [pair, position, key] (PAPERS 1.1).

    'code': those with x mod seq_len != position, as in the official code. 'paper':
    those with x mod (seq_len - 2) != position (P1 App C; quirk 1). In both, a key item
    that is held out at one position is trained at the others. 'random': a random share
    `holdout` is held out at every position. 'random_position': a share is drawn for
    every position. In a short sequence the official splits give away the position: x
    mod seq_len excludes one of few.

    The random splits hold out the same key items for a pair and its reverse. Else most
    held-out questions could be answered from the reversed pair.
    """
    low, high = config.keys
    shape = (config.num_pairs, len(config.positions), high - low)
    if config.split in ('code', 'paper'):
        items = np.arange(low, high)
        positions = np.array(config.positions)[:, None]
        return jnp.broadcast_to(items % config.modulus != positions, shape)
    same_everywhere = config.split == 'random'
    drawn = (config.num_pairs, 1, high - low) if same_everywhere else shape
    rank = jnp.argsort(jax.random.uniform(key, drawn), axis=-1)
    unordered = _unordered_rows(config)
    return jnp.broadcast_to(rank[unordered] >= config.num_heldout, shape)


def _unordered_rows(config: AnchorsConfig) -> np.ndarray:
    """For every pair the row of the one that stands for it and its reverse, [pair]."""
    rows = list_pairs(config).tolist()
    return np.array([rows.index(min([a, b], [b, a])) for a, b in rows])


def make_data(config: AnchorsConfig, key: jax.Array) -> Data:
    """The data set of one seed; it and a number determine an example."""
    split_key, example_key = jax.random.split(key)
    trained = draw_training_keys(config, split_key)
    key_items = config.keys[0] + jnp.argsort(~trained, axis=-1, stable=True)
    num_trained = trained.sum(-1, dtype=jnp.int32)
    return Data(example_key, key_items.astype(jnp.int32), num_trained)


def draw_sequences(
    config: AnchorsConfig,
    data: Data,
    key: jax.Array,
    pair_B: jax.Array,
    number_B: jax.Array,
    heldout: bool,
) -> Sequences:
    """Sequences with uniform position, key item and noise.

    The example with a given number is always the same: its random bits depend on
    (key, number) alone.

    Args:
      key: a random key.
      pair_B: rows of `list_pairs`.
      number_B: numbers of the examples.
      heldout: draw held-out key items, not trained ones.
    """
    low, high = config.keys
    bits_BT = draw_bits(key, number_B, config.seq_len + 2)
    column_B = (bits_BT[:, 0] % len(config.positions)).astype(jnp.int32)
    position_B = config.positions.start + column_B
    num_trained_B = data.num_trained[pair_B, column_B]
    if heldout:
        first_B, size_B = num_trained_B, high - low - num_trained_B
    else:
        first_B, size_B = 0, num_trained_B
    rank_B = first_B + (bits_BT[:, 1] % size_B.astype(jnp.uint32)).astype(jnp.int32)
    x_B = data.key_items[pair_B, column_B, rank_B]
    noise_BT = (low + bits_BT[:, 2:] % (high - low)).astype(jnp.int32)
    anchors_B2 = jnp.asarray(list_pairs(config))[pair_B]
    tokens_BT = place(noise_BT, position_B, x_B, anchors_B2, config.order)
    return Sequences(tokens_BT, x_B, column_B)


def place(
    tokens_BT: jax.Array,
    position_B: jax.Array,
    x_B: jax.Array,
    anchors_B2: jax.Array,
    order: str = 'key_first',
) -> jax.Array:
    """The tokens [B, T] with key item and anchors written from `position_B` on."""
    items = {'key': x_B, 'anchor_1': anchors_B2[:, 0], 'anchor_2': anchors_B2[:, 1]}
    offset_BT = jnp.arange(tokens_BT.shape[1]) - position_B[:, None]
    for offset, role in enumerate(_ORDERS[order]):
        tokens_BT = jnp.where(offset_BT == offset, items[role][:, None], tokens_BT)
    return tokens_BT


def find_roles(config: AnchorsConfig, tokens_BT: jax.Array) -> jax.Array:
    """Index into ROLES for every position, [B, T].

    The last position is 'last' unless one of the three tokens stands there.
    """
    length = tokens_BT.shape[1]
    order = _ORDERS[config.order]
    anchors = jnp.asarray(list(config.shift_of))
    is_anchor_BT = (tokens_BT[..., None] == anchors).any(-1)
    first_B1 = is_anchor_BT.argmax(-1)[:, None] - order.index('anchor_1')
    offset_BT = jnp.arange(length) - first_B1
    is_last_T = jnp.arange(length) == length - 1
    role_BT = jnp.where(is_last_T, ROLES.index('last'), ROLES.index('noise'))
    for offset, role in enumerate(order):
        role_BT = jnp.where(offset_BT == offset, ROLES.index(role), role_BT)
    return role_BT


def list_probed_pairs(config: AnchorsConfig) -> dict[str, tuple[np.ndarray, bool]]:
    """{probe: (rows of `list_pairs`, whether its key items are held out)}.

    The first unseen pair is `unseen`; others have names such as `unseen_34`. Their key
    items are those that the split trains with other pairs of the kind.
    """
    seen = []
    for row, (a, b) in enumerate(list_pairs(config).tolist()):
        if (a, b) not in config.unseen_pairs:
            seen.append(row)
    seen_rows = np.array(seen, np.int32)
    probed = {'seen_train': (seen_rows, False), 'seen_heldout': (seen_rows, True)}
    for i, pair in enumerate(config.unseen_pairs):
        name = 'unseen' if i == 0 else f'unseen_{name_pair(*pair)}'
        row = find_row(config, pair)
        probed[name] = (np.array([row]), False)
    return probed


def _name_offsets(config: AnchorsConfig) -> dict[int, str]:
    """Which rule an answer to the first unseen pair follows, by its deviation.

    The deviation is the answer minus the inferential one. A network that answers like
    another pair of anchors was trained has that pair's shift.
    """
    rows = list_pairs(config).tolist()
    unseen = find_row(config, config.unseen_pairs[0])
    shifts = list_shifts(config)
    inferential, symmetric, _ = shifts[unseen]
    names: dict[int, str] = {}
    for row, (_, _, assigned) in enumerate(shifts):
        is_trained = tuple(rows[row]) not in config.unseen_pairs
        if is_trained:
            a, b = rows[row]
            offset = int(assigned - inferential)
            names[offset] = names.get(offset, '') + f'({a}, {b})'
    names = {offset: name.replace(')(', ') or (') for offset, name in names.items()}
    names[int(symmetric - inferential)] = 'symmetric'
    names[0] = 'inferential'
    return names


def _name_groups(config: AnchorsConfig) -> tuple[str, ...]:
    """'at_0', ... by position of the first of the three tokens; '12' by pair."""
    if config.groups == 'pair':
        return tuple(name_pair(a, b) for a, b in list_pairs(config).tolist())
    return tuple(f'at_{i}' for i in config.positions)


def make(config: AnchorsConfig) -> Task:
    """The task of a config: pure functions, to be jitted and vmapped over seeds."""
    shifts = list_shifts(config)  # NumPy: making a task must not touch a device
    probed = list_probed_pairs(config)
    seen, _ = probed['seen_train']

    def batch(data: Data, index_B: jax.Array) -> Batch:
        pair_B = jnp.asarray(seen)[index_B % len(seen)]
        drawn = draw_sequences(config, data, data.key, pair_B, index_B, heldout=False)
        shift_B = jnp.asarray(shifts)[pair_B, MAPPINGS.index('assigned')]
        return Batch(drawn.tokens_BT, (drawn.x_B + shift_B)[:, None])

    def probes(data: Data) -> Probes:
        number_B = jnp.arange(config.probe_examples)
        base_key = jax.random.fold_in(data.key, config.num_examples)
        tokens, targets, groups = [], [], []
        for i, (rows, heldout) in enumerate(probed.values()):
            key = jax.random.fold_in(base_key, i)
            pair_B = jnp.asarray(rows)[number_B % len(rows)]
            drawn = draw_sequences(config, data, key, pair_B, number_B, heldout)
            answers_RB = drawn.x_B + jnp.asarray(shifts)[pair_B].T
            tokens.append(drawn.tokens_BT)
            targets.append(answers_RB[..., None])
            groups.append(pair_B if config.groups == 'pair' else drawn.column_B)
        return Probes(
            jnp.stack(tokens), jnp.stack(targets), groups_PB=jnp.stack(groups)
        )

    return Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=config.num_train_per_pair * len(seen),
        last_only=True,
        probe_names=tuple(probed),
        mapping_names=MAPPINGS,
        trained_mapping='assigned',
        deviation=('unseen', 'inferential') if config.unseen_pairs else None,
        offset_names=_name_offsets(config) if config.unseen_pairs else {},
        headings=HEADINGS,
        group_names=_name_groups(config),
        role_names=ROLES,
        make_data=functools.partial(make_data, config),
        batch=batch,
        probes=probes,
        roles=functools.partial(find_roles, config),
    )
