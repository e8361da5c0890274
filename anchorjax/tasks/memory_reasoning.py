"""The task of reasoning against memory (P2 Sec 2; PAPERS 2.1, 2.3).

A sequence holds a key x and then q anchors of one kind; the rest is noise, which looks
like keys. Reasoning anchors are added to the key. With memory anchors the label is
random: one draw for each key and combination of anchors, the same whatever the noise
and the position. Combinations that are masked are never trained: only the sum answers
them.
"""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields
from anchorjax.permutation import draw_bits
from anchorjax.tasks import Batch, EvalSets, Task, place_items, weigh_real
from anchorjax.tasks.answers import describe_answers

# assigned: the training label. sum: key plus anchors, also of memory anchors.
MAPPINGS = ('assigned', 'sum')
Range = tuple[int, int]  # tokens from the first number up to, not including, the second


@dataclasses.dataclass(frozen=True)
class MemoryReasoningConfig:
    """Defaults are P2's (PAPERS 2.1): 200,000 examples of 9 tokens with two anchors."""

    name: str = 'memory_reasoning'
    # q + 1 tokens leave no room for noise, as in P2's data for the Emb-MLP (p = 1).
    seq_len: Annotated[int, at_least(2), at_most(2**16)] = 9
    q: Annotated[int, at_least(1), at_most(16)] = 2  # anchors in a sequence
    keys: Range = (21, 121)  # keys and noise
    memory_anchors: Range = (1, 11)  # tokens of facts; upper end excluded
    reasoning_anchors: Range = (11, 21)  # tokens that are added to the key
    # Combinations of reasoning anchors that are never trained; () trains all.
    masked: tuple[tuple[int, ...], ...] = ((11, 13), (13, 11))
    # 'uniform': any key. 'near': from x - s to x + s, where x is the key and s the sum
    # of the anchors (P2 Fig 8 left).
    memory_labels: Literal['uniform', 'near'] = 'uniform'
    # One range of labels for each group of memory anchors, which are divided in order
    # into groups of equal size. A sequence has anchors of one group and a label in its
    # range (P2 Fig 8 right). (): one group, and the labels are keys.
    label_ranges: tuple[Range, ...] = ()
    # Whether the order of memory anchors matters. The Emb-MLP cannot see it; with False
    # (x, a, b) and (x, b, a) have the same label.
    ordered: bool = True
    # Of all trained combinations together; each gets the same number of them.
    num_examples: Annotated[int, at_most(2**31 - 1)] = 200_000
    vocab: Annotated[int, at_most(2**20)] = 161  # the largest label is 160
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 8192  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        allowed = f'at least {self.q + 1}: a key and {self.q} anchors'
        require(self.num_positions >= 1, 'task.seq_len', self.seq_len, allowed)
        _check_tokens(self)
        _check_groups(self)
        _check_masked(self)
        allowed = f'enough for one example of all {self.num_trained} combinations'
        has_one = self.num_per_combination >= 1
        require(has_one, 'task.num_examples', self.num_examples, allowed)

    def make(self) -> Task:
        """Pure functions, to be jitted and vmapped over seeds."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_per_combination * self.num_trained,
            eval_set_names=tuple(list_eval_sets(self)),
            make_data=functools.partial(make_data, self),
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            trained_eval_sets=('memory', 'reasoning_train'),
            mapping_names=MAPPINGS,
            deviation=('reasoning_test', 'sum') if self.masked else None,
            describe_members=functools.partial(
                describe_answers, 'reasoning_test', 'sum', {0: 'sum'}
            ),
            group_names=_name_groups(self),
            role_names=role_names(self),
            roles=functools.partial(roles, self),
        )

    @property
    def num_keys(self) -> int:
        return self.keys[1] - self.keys[0]

    @property
    def num_positions(self) -> int:
        """Positions at which the key may stand; the anchors follow it."""
        return self.seq_len - self.q

    @property
    def num_groups(self) -> int:
        """Groups of memory anchors."""
        return len(self.label_ranges) or 1

    @property
    def anchors_per_group(self) -> int:
        """Memory anchors of a group."""
        first, end = self.memory_anchors
        return (end - first) // self.num_groups

    @property
    def num_memory(self) -> int:
        """Combinations of memory anchors."""
        return self.num_groups * self.anchors_per_group**self.q

    @property
    def num_reasoning(self) -> int:
        """Combinations of reasoning anchors, masked ones included."""
        first, end = self.reasoning_anchors
        return (end - first) ** self.q

    @property
    def num_trained(self) -> int:
        """Combinations that are trained: 100 + 98 by default."""
        return self.num_memory + self.num_reasoning - len(self.masked)

    @property
    def num_per_combination(self) -> int:
        """Training examples of each trained combination: 1,010 by default."""
        return self.num_examples // self.num_trained


def _check_tokens(c: MemoryReasoningConfig) -> None:
    """Keys and both kinds of anchors are apart, and every label is a token."""
    taken: dict[str, Range] = {}
    for name in ('keys', 'memory_anchors', 'reasoning_anchors'):
        first, end = getattr(c, name)
        is_range = 0 <= first < end
        allowed = 'an increasing pair of tokens'
        require(is_range, f'task.{name}', (first, end), allowed)
        for other, (other_first, other_end) in taken.items():
            is_apart = end <= other_first or other_end <= first
            allowed = f'apart from task.{other}, {(other_first, other_end)}'
            require(is_apart, f'task.{name}', (first, end), allowed)
        taken[name] = (first, end)
    largest_memory = c.memory_anchors[1] - 1
    largest_reasoning = c.reasoning_anchors[1] - 1
    furthest = c.q * largest_memory if c.memory_labels == 'near' else 0
    allowed = f'at least {furthest}: every label must be at least 0'
    require(c.keys[0] >= furthest, 'task.keys[0]', c.keys[0], allowed)
    largest_label = c.keys[1] - 1 + max(furthest, c.q * largest_reasoning)
    largest = max(largest_label, largest_memory)
    allowed = f'above {largest}, the largest token or label'
    require(largest < c.vocab, 'task.vocab', c.vocab, allowed)


def _check_groups(c: MemoryReasoningConfig) -> None:
    """The ranges of labels are distinct, and divide the memory anchors evenly."""
    ranges = c.label_ranges
    are_ranges = all(0 <= first < end <= c.vocab for first, end in ranges)
    allowed = f'increasing pairs of tokens below task.vocab, {c.vocab}'
    require(are_ranges, 'task.label_ranges', ranges, allowed)
    are_distinct = len(set(ranges)) == len(ranges)
    require(are_distinct, 'task.label_ranges', ranges, 'distinct ranges')
    number = c.memory_anchors[1] - c.memory_anchors[0]
    allowed = f'of a number that divides the {number} memory anchors evenly'
    require(number % c.num_groups == 0, 'task.label_ranges', ranges, allowed)
    is_free = not ranges or c.memory_labels == 'uniform'
    allowed = "'uniform' where task.label_ranges are given"
    require(is_free, 'task.memory_labels', c.memory_labels, allowed)


def _check_masked(c: MemoryReasoningConfig) -> None:
    first, end = c.reasoning_anchors
    for combination in c.masked:
        is_full = len(combination) == c.q
        is_known = all(first <= anchor < end for anchor in combination)
        allowed = f'combinations of {c.q} reasoning anchors, {first} to {end - 1}'
        require(is_full and is_known, 'task.masked', c.masked, allowed)
    are_distinct = len(set(c.masked)) == len(c.masked)
    require(are_distinct, 'task.masked', c.masked, 'distinct combinations')
    some_are_trained = len(c.masked) < c.num_reasoning
    require(some_are_trained, 'task.masked', c.masked, 'fewer than all combinations')


def combinations(config: MemoryReasoningConfig) -> np.ndarray:
    """All combinations of anchors, [combination, q]: memory, trained, then masked.

    Memory anchors are combined within their group.
    """
    rows: list[Sequence[int]] = []
    first, _ = config.memory_anchors
    size = config.anchors_per_group
    for group in range(config.num_groups):
        start = first + group * size
        rows += itertools.product(range(start, start + size), repeat=config.q)
    masked = set(config.masked)
    for row in itertools.product(range(*config.reasoning_anchors), repeat=config.q):
        if row not in masked:
            rows.append(row)
    rows += config.masked
    return np.array(rows, np.int32)


def label_ranges(config: MemoryReasoningConfig) -> tuple[np.ndarray, np.ndarray]:
    """(low, size), [combination, key]: a label is uniform in low, ..., low + size - 1.

    A reasoning label is certain: its range has one value.
    """
    rows = combinations(config)
    keys = np.arange(*config.keys)
    sums = rows.sum(-1, keepdims=True)  # [combination, 1]
    low = keys + sums
    size = np.ones_like(low)
    memory = slice(config.num_memory)
    if config.memory_labels == 'near':
        low[memory] = keys - sums[memory]
        size[memory] = 2 * sums[memory] + 1
        return low, size
    ranges = np.array(config.label_ranges or (config.keys,))
    group = memory_groups(config)[memory]
    first, end = ranges[group].T
    low[memory] = first[:, None]
    size[memory] = (end - first)[:, None]
    return low, size


def memory_groups(config: MemoryReasoningConfig) -> np.ndarray:
    """The group of every combination, [combination]; reasoning follows memory's."""
    per_group = config.num_memory // config.num_groups
    num_rows = config.num_memory + config.num_reasoning
    group = np.arange(num_rows) // per_group
    group[config.num_memory :] = config.num_groups
    return group


def draw_labels(config: MemoryReasoningConfig, key: jax.Array) -> jax.Array:
    """The label of every combination and key, [combination, key]."""
    low, size = label_ranges(config)
    bits = jax.random.bits(key, low.shape)
    drawn = (bits % jnp.asarray(size, jnp.uint32)).astype(jnp.int32)
    label = jnp.asarray(low, jnp.int32) + drawn
    if config.ordered:
        return label
    return label[_sorted_rows(config)]


def _sorted_rows(config: MemoryReasoningConfig) -> np.ndarray:
    """For every combination the row of its anchors in increasing order."""
    rows = combinations(config).tolist()
    row_of = {tuple(row): i for i, row in enumerate(rows)}
    return np.array([row_of[tuple(sorted(row))] for row in rows])


class Data(NamedTuple):
    """The examples of a seed."""

    key: jax.Array  # random key of the examples
    label: jax.Array  # [combination, key]


def make_data(config: MemoryReasoningConfig, key: jax.Array) -> Data:
    """The labels of one seed, and the key of its examples."""
    label_key, example_key = jax.random.split(key)
    return Data(example_key, draw_labels(config, label_key))


class Sequences(NamedTuple):
    """Sequences of the task, and what they ask."""

    tokens_BT: jax.Array
    x_B: jax.Array  # keys
    row_B: jax.Array  # rows of `combinations`


def draw_sequences(
    config: MemoryReasoningConfig,
    key: jax.Array,
    row_B: jax.Array,
    number_B: jax.Array,
) -> Sequences:
    """Sequences with uniform position, key and noise.

    The example with a given number is always the same: its random bits depend on
    (key, number) alone.

    Args:
      key: a random key.
      row_B: rows of `combinations`.
      number_B: numbers of the examples.
    """
    low, _ = config.keys
    bits_BT = draw_bits(key, number_B, config.seq_len + 2)
    position_B = (bits_BT[:, 0] % config.num_positions).astype(jnp.int32)
    keys_BT = (low + bits_BT[:, 1:] % config.num_keys).astype(jnp.int32)
    x_B = keys_BT[:, 0]
    noise_BT = keys_BT[:, 1:]
    anchors_Bq = jnp.asarray(combinations(config))[row_B]
    items_BI = jnp.concatenate([x_B[:, None], anchors_Bq], axis=1)
    tokens_BT = place_items(noise_BT, position_B, items_BI)
    return Sequences(tokens_BT, x_B, row_B)


def role_names(config: MemoryReasoningConfig) -> tuple[str, ...]:
    """What a position can be: the key, one of the anchors, the last, or noise."""
    anchors = [f'anchor_{i + 1}' for i in range(config.q)]
    return ('key', *anchors, 'last', 'noise')


def roles(config: MemoryReasoningConfig, tokens_BT: jax.Array) -> jax.Array:
    """Index into `role_names` for every position, [B, T].

    The last position is 'last' unless the key or an anchor stands there.
    """
    names = role_names(config)
    position_T = jnp.arange(tokens_BT.shape[1])
    is_anchor_BT = jnp.zeros(tokens_BT.shape, bool)
    for first, end in (config.memory_anchors, config.reasoning_anchors):
        is_anchor_BT |= (tokens_BT >= first) & (tokens_BT < end)
    key_position_B1 = is_anchor_BT.argmax(-1)[:, None] - 1
    offset_BT = position_T - key_position_B1
    is_last_T = position_T == tokens_BT.shape[1] - 1
    other_T = jnp.where(is_last_T, names.index('last'), names.index('noise'))
    is_item_BT = (offset_BT >= 0) & (offset_BT <= config.q)
    return jnp.where(is_item_BT, offset_BT, other_T)  # the items' names come first


class EvalSet(NamedTuple):
    """A contiguous range of combinations of anchors."""

    first: int  # a row of `combinations`
    number: int
    is_trained: bool


def list_eval_sets(config: MemoryReasoningConfig) -> dict[str, EvalSet]:
    """The eval sets by name; without masked combinations there is no reasoning_test."""
    num_memory, num_trained = config.num_memory, config.num_trained
    num_reasoning = num_trained - num_memory
    eval_sets = {
        'memory': EvalSet(0, num_memory, is_trained=True),
        'reasoning_train': EvalSet(num_memory, num_reasoning, is_trained=True),
    }
    if config.masked:
        num_masked = len(config.masked)
        eval_sets['reasoning_test'] = EvalSet(num_trained, num_masked, is_trained=False)
    return eval_sets


def _draw_eval_set(
    config: MemoryReasoningConfig, data: Data, eval_set: EvalSet
) -> Sequences:
    """Training examples, or new ones of the masked combinations; evenly over these."""
    i_B = jnp.arange(config.eval_examples)
    row_B = eval_set.first + i_B % eval_set.number
    if eval_set.is_trained:
        # Where all have been asked, the first come again; they have no weight.
        round_B = i_B // eval_set.number % config.num_per_combination
        number_B = round_B * config.num_trained + row_B
        return draw_sequences(config, data.key, row_B, number_B)
    new_key = jax.random.fold_in(data.key, config.num_examples)
    return draw_sequences(config, new_key, row_B, i_B)


def _find_labels(
    config: MemoryReasoningConfig, data: Data, drawn: Sequences
) -> jax.Array:
    return data.label[drawn.row_B, drawn.x_B - config.keys[0]]


def make_batch(config: MemoryReasoningConfig, data: Data, index_B: jax.Array) -> Batch:
    """The training examples with these numbers, the trained combinations in turn."""
    row_B = index_B % config.num_trained
    drawn = draw_sequences(config, data.key, row_B, index_B)
    return Batch(drawn.tokens_BT, _find_labels(config, data, drawn)[:, None])


def make_eval_sets(config: MemoryReasoningConfig, data: Data) -> EvalSets:
    """The sequences of every eval set, with both answers.

    Where there are fewer training examples than `eval_examples`, the rest has no
    weight.
    """
    sums_of = combinations(config).sum(-1)
    groups_of = memory_groups(config)
    tokens, answers, groups, num_real = [], [], [], []
    for eval_set in list_eval_sets(config).values():
        number = config.eval_examples
        if eval_set.is_trained:
            number = min(number, eval_set.number * config.num_per_combination)
        num_real.append(number)
        drawn = _draw_eval_set(config, data, eval_set)
        label_B = _find_labels(config, data, drawn)
        sum_B = drawn.x_B + jnp.asarray(sums_of)[drawn.row_B]
        tokens.append(drawn.tokens_BT)
        answers.append(jnp.stack([label_B, sum_B]))
        groups.append(jnp.asarray(groups_of)[drawn.row_B])
    tokens_PBT = jnp.stack(tokens)
    answers_PRB = jnp.stack(answers)
    weights_PBQ = weigh_real(num_real, config.eval_examples)
    groups_PB = jnp.stack(groups) if config.label_ranges else None
    return EvalSets(tokens_PBT, answers_PRB[..., None], weights_PBQ, groups_PB)


def _name_groups(config: MemoryReasoningConfig) -> tuple[str, ...]:
    """The memory groups by their labels, then all reasoning; (): there is one group."""
    if not config.label_ranges:
        return ()
    names = [f'labels_{first}_{end - 1}' for first, end in config.label_ranges]
    return (*names, 'reasoning')
