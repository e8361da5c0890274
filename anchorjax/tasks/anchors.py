"""The composite anchor-function task (P1 Sec 3.1-3.2, 4; PAPERS 1.1).

A sequence holds a key item x and a pair of anchors (a1, a2); the rest is noise. The
answer is f = g(g(x; a1); a2), where g(x; a) = x + shift[a], except for non-inferential
pairs, which are trained on another shift. Unseen pairs are never trained: how they are
answered is the question. The number of pairs that are wrong in both orders is the
inferential complexity of a task (P1 v1 Sec 6; PAPERS 1.5).
"""

import dataclasses
import functools
import itertools
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from anchorjax.errors import require
from anchorjax.limits import above, at_least, at_most, check_fields, require_default
from anchorjax.permutation import draw_bits
from anchorjax.tasks import Array, Batch, EvalSets, Task, place_items, weigh_real
from anchorjax.tasks.answers import describe_answers
from anchorjax.tasks.solution import name_ends

MAPPINGS = ('composed', 'symmetric', 'assigned')
ROLES = ('key', 'anchor_1', 'anchor_2', 'last', 'noise')
HEADINGS = {
    'seen_heldout_assigned': 'held-out',
    'unseen_composed': 'composed',
    'unseen_symmetric': 'symmetric',
}
# (a1, a2, shift) of P1 v1 Sec 6 in its order, for (a1, a2) and (a2, a1) (PAPERS 1.5).
WRONG_PAIRS = (
    (1, 2, 4),
    (1, 3, 1),
    (1, 4, -5),
    (2, 3, 5),
    (2, 4, -9),
    (3, 4, -6),
)
# The anchors for which these shifts are wrong.
_OFFICIAL_SHIFTS = {1: 5, 2: 1, 3: -2, 4: -8}
# Roles of the three tokens that are not noise, from left to right.
_ORDERS = {
    'key_first': ('key', 'anchor_1', 'anchor_2'),
    'anchors_first': ('anchor_1', 'anchor_2', 'key'),
}


@dataclasses.dataclass(frozen=True)
class AnchorsConfig:
    """Defaults are the paper's: 900,000 nominal examples of 9 tokens, (4, 3) unseen."""

    name: str = 'anchors'
    seq_len: Annotated[int, at_least(3), at_most(2**16)] = 9  # a key and two anchors
    keys: tuple[int, int] = (20, 100)  # key items and noise; upper end excluded
    anchors: tuple[int, ...] = (1, 2, 3, 4)  # their tokens
    # What each anchor adds to the key.
    shifts: tuple[int, ...] = (5, 1, -2, -8)
    # Only the first `num_anchors` are in use; 0: all. One number, so it can be an axis.
    num_anchors: Annotated[int, at_least(0)] = 0
    # (a1, a2, shift): pairs trained on this shift instead of their composition.
    noninferential: tuple[tuple[int, int, int], ...] = ((3, 4, -6),)
    # Whether these pairs are trained, or are as unseen as those of `unseen`: then no
    # table of the training data answers (4, 3), and only composition does.
    exception: Literal['trained', 'unseen'] = 'trained'
    # Pairs that are never trained; figures show the first. () trains all pairs.
    unseen: tuple[tuple[int, int], ...] = ((4, 3),)
    # (x, a1, a2), or (a1, a2, x) as in arXiv 2401.08309 and the slides.
    order: Literal['key_first', 'anchors_first'] = 'key_first'
    # What comes last in every sequence: noise, the pair (so that all noise comes before
    # the key), or either of them, as in the paper.
    last_token: Literal['any', 'noise', 'pair'] = 'any'
    # Nominal: counts all pairs, with training and test examples. Numbered in int32.
    num_examples: Annotated[int, at_most(2**31 - 1)] = 900_000
    # Share of each pair's examples that is trained; 9:1 in the paper.
    train_share: Annotated[float, above(0), at_most(1)] = 0.9
    # Which key items are held out; see `draw_training_keys`.
    split: Literal['code', 'paper', 'random', 'random_position'] = 'code'
    # Share of each unordered pair's key items that the random splits hold out.
    holdout: Annotated[float, at_least(0), at_most(1)] = 0.1
    vocab: Annotated[int, at_most(2**20)] = 201  # tokens; more than the largest label
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 8192  # per eval set
    # Inferential complexity: this many of WRONG_PAIRS are trained on their wrong shift,
    # in both orders. Needs noninferential=() and the anchors and shifts of the paper.
    complexity: Annotated[int, at_least(0), at_most(len(WRONG_PAIRS))] = 0
    # By what agreement is recorded besides the eval set: the position of the first of
    # the three tokens, or the pair.
    groups: Literal['position', 'pair'] = 'position'

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        allowed = "at least 4 if task.last_token is 'noise': a key, two anchors, noise"
        require(len(self.positions) >= 1, 'task.seq_len', self.seq_len, allowed)
        allowed = "'any' or 'noise' where the key comes after the pair"
        has_key_last = self.order == 'anchors_first' and self.last_token == 'pair'
        require(not has_key_last, 'task.last_token', self.last_token, allowed)
        _check_anchors(self)
        _check_pairs(self)
        _check_labels(self)
        _check_split(self)

    def make(self) -> Task:
        """Pure functions, to be jitted and vmapped over seeds."""
        asked = list_asked_pairs(self)
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_train,
            eval_set_names=tuple(asked),
            make_data=functools.partial(make_data, self),
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            mapping_names=MAPPINGS,
            deviation=('unseen', 'composed') if self.unseen_pairs else None,
            describe_members=functools.partial(describe_members, self),
            headings=HEADINGS,
            group_names=_name_groups(self),
            role_names=ROLES,
            roles=functools.partial(find_roles, self),
        )

    @property
    def num_train_per_pair(self) -> int:
        """Training examples of a pair: by default 900,000 / 16 pairs * 0.9 = 50,625."""
        return round(self.num_examples // self.num_pairs * self.train_share)

    @property
    def num_train(self) -> int:
        """Training examples of all seen pairs: 759,375."""
        return self.num_train_per_pair * (self.num_pairs - len(self.unseen_pairs))

    @property
    def shift_of(self) -> dict[int, int]:
        """{anchor: shift} of the anchors in use."""
        number = self.num_anchors or len(self.anchors)
        return dict(zip(self.anchors[:number], self.shifts, strict=False))

    @property
    def exceptions(self) -> dict[tuple[int, int], int]:
        """{pair: shift} of the pairs whose shift is not their composition."""
        shifts = {(a, b): shift for a, b, shift in self.noninferential}
        for a, b, shift in WRONG_PAIRS[: self.complexity]:
            shifts[a, b] = shift
            shifts[b, a] = shift
        return shifts

    @property
    def num_pairs(self) -> int:
        """Ordered pairs of anchors."""
        return len(self.shift_of) ** 2

    @property
    def unseen_pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs that are never trained; figures show the first."""
        untrained = list(self.unseen)
        if self.exception == 'unseen':
            untrained += [(a, b) for a, b, _ in self.noninferential]
        return tuple(dict.fromkeys(untrained))

    @property
    def positions(self) -> range:
        """Where the first of the three tokens may stand."""
        last = self.seq_len - 3
        if self.last_token == 'pair':
            return range(last, last + 1)
        return range(last) if self.last_token == 'noise' else range(last + 1)

    @property
    def num_heldout(self) -> int:
        """Key items of a pair (at each position) that the random splits hold out."""
        return round(self.holdout * (self.keys[1] - self.keys[0]))

    @property
    def modulus(self) -> int:
        """The modulus of the official splits; see `draw_training_keys`."""
        return self.seq_len if self.split == 'code' else self.seq_len - 2


def _check_anchors(c: AnchorsConfig) -> None:
    number = len(c.anchors)
    is_increasing = 0 <= c.keys[0] < c.keys[1]
    require(is_increasing, 'task.keys', c.keys, 'an increasing pair of tokens')
    are_distinct = number > 0 and len(set(c.anchors)) == number
    are_tokens = are_distinct and min(c.anchors) >= 0
    allowed = 'distinct tokens, at least one'
    require(are_tokens, 'task.anchors', c.anchors, allowed)
    are_outside = not any(c.keys[0] <= anchor < c.keys[1] for anchor in c.anchors)
    allowed = f'outside the key range {c.keys}'
    require(are_outside, 'task.anchors', c.anchors, allowed)
    allowed = f'{number} shifts, one per anchor'
    require(len(c.shifts) == number, 'task.shifts', c.shifts, allowed)
    allowed = f'at most {number}, the anchors that there are'
    require(c.num_anchors <= number, 'task.num_anchors', c.num_anchors, allowed)


def _check_pairs(c: AnchorsConfig) -> None:
    for field, entries in (('noninferential', c.noninferential), ('unseen', c.unseen)):
        pairs = [entry[:2] for entry in entries]
        are_known = all(set(pair) <= set(c.shift_of) for pair in pairs)
        allowed = f'pairs made of the anchors {tuple(c.shift_of)}'
        require(are_known, f'task.{field}', entries, allowed)
        are_distinct = len(set(pairs)) == len(pairs)
        require(are_distinct, f'task.{field}', entries, 'distinct pairs')
    some_are_trained = len(c.unseen_pairs) < c.num_pairs
    require(some_are_trained, 'task.unseen', c.unseen, 'fewer than all the pairs')
    has_effect = c.noninferential != () or c.exception == 'trained'
    allowed = "'trained' where task.noninferential is ()"
    require(has_effect, 'task.exception', c.exception, allowed)
    if c.complexity:
        allowed = '(), with task.complexity above 0'
        has_none = c.noninferential == ()
        require(has_none, 'task.noninferential', c.noninferential, allowed)
        is_official = _OFFICIAL_SHIFTS.items() <= c.shift_of.items()
        allowed = f'0 unless the anchors have the shifts {_OFFICIAL_SHIFTS}'
        require(is_official, 'task.complexity', c.complexity, allowed)


def _check_labels(c: AnchorsConfig) -> None:
    used = c.shift_of.values()
    lowest_shift = min(2 * min(used), *c.exceptions.values(), 0)
    highest_shift = max(2 * max(used), *c.exceptions.values(), 0)
    largest_token = max(c.keys[1] - 1 + highest_shift, *c.anchors)
    allowed = f'at least {-lowest_shift}: every label must be at least 0'
    require(c.keys[0] + lowest_shift >= 0, 'task.keys[0]', c.keys[0], allowed)
    allowed = f'above {largest_token}, the largest token or label'
    require(largest_token < c.vocab, 'task.vocab', c.vocab, allowed)


def _check_split(c: AnchorsConfig) -> None:
    num_keys = c.keys[1] - c.keys[0]
    if c.split in ('code', 'paper'):
        require_default(c, 'task', 'holdout', f'task.split is {c.split!r}')
        remainders = np.arange(*c.keys) % c.modulus
        num_heldout = np.bincount(remainders, minlength=c.modulus)
        num_heldout = num_heldout[c.positions.start : c.positions.stop]
        leaves_both = num_heldout.min() > 0 and num_heldout.max() < num_keys
        require(
            leaves_both,
            'task.split',
            c.split,
            "one that leaves every position training and held-out keys (try 'random'); "
            f'keys {c.keys}, seq_len {c.seq_len}',
        )
    else:
        leaves_both = 0 < c.num_heldout < num_keys
        allowed = 'a share that leaves training and held-out keys'
        require(leaves_both, 'task.holdout', c.holdout, allowed)
    allowed = 'enough for one example of every pair'
    has_one = c.num_train_per_pair >= 1
    require(has_one, 'task.num_examples', c.num_examples, allowed)


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
    rows = list(itertools.product(config.shift_of, repeat=2))
    return np.array(rows, np.int32)


def find_row(config: AnchorsConfig, pair: tuple[int, int]) -> int:
    """The row of a pair in `list_pairs`."""
    return list_pairs(config).tolist().index(list(pair))


def name_pair(a: int, b: int) -> str:
    """'34', or '3_11': without the line (1, 11) and (11, 1) would both be '111'."""
    return f'{a}{b}' if max(a, b) < 10 else f'{a}_{b}'


def list_shifts(config: AnchorsConfig) -> np.ndarray:
    """Answer minus key item of every mapping for every pair, [pair, R] (P1 Sec 4).

    composed: the composition. assigned: the training label, or for an unseen pair
    what it would be. symmetric: what is assigned to the reversed pair, which is how a
    memorizer answers an unseen pair.
    """
    shift = config.shift_of
    composed = {}
    for a, b in list_pairs(config).tolist():
        composed[a, b] = shift[a] + shift[b]
    assigned = composed | config.exceptions
    rows = []
    for a, b in composed:
        rows.append((composed[a, b], assigned[b, a], assigned[a, b]))
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
    tokens_BT: Array,
    position_B: Array,
    x_B: Array,
    anchors_B2: Array,
    order: str = 'key_first',
) -> jax.Array:
    """The tokens [B, T] with key item and anchors written from `position_B` on."""
    items = {'key': x_B, 'anchor_1': anchors_B2[:, 0], 'anchor_2': anchors_B2[:, 1]}
    items_B3 = jnp.stack([items[role] for role in _ORDERS[order]], axis=-1)
    return place_items(tokens_BT, position_B, items_B3)


def find_roles(config: AnchorsConfig, tokens_BT: Array) -> jax.Array:
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


def make_batch(config: AnchorsConfig, data: Data, index_B: jax.Array) -> Batch:
    """The training examples with these numbers, the seen pairs in turn."""
    seen, _ = list_asked_pairs(config)['seen_train']
    pair_B = jnp.asarray(seen)[index_B % len(seen)]
    drawn = draw_sequences(config, data, data.key, pair_B, index_B, heldout=False)
    shifts = list_shifts(config)
    shift_B = jnp.asarray(shifts)[pair_B, MAPPINGS.index('assigned')]
    return Batch(drawn.tokens_BT, (drawn.x_B + shift_B)[:, None])


def make_eval_sets(config: AnchorsConfig, data: Data) -> EvalSets:
    """The sequences of every eval set, with all three answers.

    Those of seen_train are training examples; if there are fewer of these than
    `eval_examples`, the rest has no weight.
    """
    shifts = list_shifts(config)
    base_key = jax.random.fold_in(data.key, config.num_examples)
    tokens, targets, groups = [], [], []
    for i, (name, (rows, heldout)) in enumerate(list_asked_pairs(config).items()):
        key = jax.random.fold_in(base_key, i)
        number_B = jnp.arange(config.eval_examples)
        if name == 'seen_train':
            key, number_B = data.key, number_B % config.num_train
        pair_B = jnp.asarray(rows)[number_B % len(rows)]
        drawn = draw_sequences(config, data, key, pair_B, number_B, heldout)
        answers_RB = drawn.x_B + jnp.asarray(shifts)[pair_B].T
        tokens.append(drawn.tokens_BT)
        targets.append(answers_RB[..., None])
        groups.append(pair_B if config.groups == 'pair' else drawn.column_B)
    size = config.eval_examples
    num_real = [config.num_train, *[size] * (len(tokens) - 1)]
    weights_PBQ = weigh_real(num_real, size)
    return EvalSets(
        jnp.stack(tokens), jnp.stack(targets), weights_PBQ, jnp.stack(groups)
    )


def list_asked_pairs(config: AnchorsConfig) -> dict[str, tuple[np.ndarray, bool]]:
    """{eval set: (rows of `list_pairs` [pair], are its key items held out)}.

    The first unseen pair is `unseen`; others have names such as `unseen_34`. Their key
    items are those that the split trains with other pairs of the kind.
    """
    seen = []
    for row, (a, b) in enumerate(list_pairs(config).tolist()):
        if (a, b) not in config.unseen_pairs:
            seen.append(row)
    seen_rows = np.array(seen, np.int32)
    asked = {'seen_train': (seen_rows, False), 'seen_heldout': (seen_rows, True)}
    for i, pair in enumerate(config.unseen_pairs):
        name = 'unseen' if i == 0 else f'unseen_{name_pair(*pair)}'
        row = find_row(config, pair)
        asked[name] = (np.array([row]), False)
    return asked


def name_offsets(config: AnchorsConfig) -> dict[int, str]:
    """Which rule an answer to the first unseen pair follows, by its deviation.

    The deviation is the answer minus the composed one. A network that answers like
    another pair of anchors was trained has that pair's shift.
    """
    rows = list_pairs(config).tolist()
    unseen = find_row(config, config.unseen_pairs[0])
    shifts = list_shifts(config)
    composed, symmetric, _ = shifts[unseen]
    names: dict[int, str] = {}
    for row, (_, _, assigned) in enumerate(shifts):
        is_trained = tuple(rows[row]) not in config.unseen_pairs
        if is_trained:
            a, b = rows[row]
            offset = int(assigned - composed)
            names[offset] = names.get(offset, '') + f'({a}, {b})'
    names = {offset: name.replace(')(', ') or (') for offset, name in names.items()}
    names[int(symmetric - composed)] = 'symmetric'
    names[0] = 'composed'
    return names


def describe_members(
    config: AnchorsConfig, results: xr.Dataset, members: pd.DataFrame
) -> pd.DataFrame:
    """The members with what they answer to the unseen pair, and their `solution`."""
    names = name_offsets(config) if config.unseen_pairs else {}
    members = describe_answers('unseen', 'composed', names, results, members)
    return members.assign(solution=name_ends(members))


def _name_groups(config: AnchorsConfig) -> tuple[str, ...]:
    """'at_0', ... by position of the first of the three tokens; '12' by pair."""
    if config.groups == 'pair':
        return tuple(name_pair(a, b) for a, b in list_pairs(config).tolist())
    return tuple(f'at_{i}' for i in config.positions)
