"""The fields of the memory_reasoning task and their values (PAPERS 2.1, 2.3)."""

import dataclasses
from typing import Annotated, Literal

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields

MemoryLabels = Literal['uniform', 'near']
Range = tuple[int, int]  # tokens from the first number up to, not including, the second
# Far beyond any use, so that a typo gives an error instead of a hang.
_MOST_TOKENS = 2**20
_MOST_RANGES = 100
_MOST_MASKED = 1_000
_MOST_ROWS = 10**5  # combinations of anchors
_MOST_LABELS = 10**7  # combinations times keys
_MOST_EXAMPLES = 2**31 - 1  # they are numbered in int32


@dataclasses.dataclass(frozen=True)
class MemoryReasoningConfig:
    """Defaults are P2's (PAPERS 2.1): 200,000 examples of 9 tokens with two anchors."""

    name: str = 'memory_reasoning'
    # q + 1 tokens leave no room for noise, as in P2's data for the Emb-MLP (p = 1).
    seq_len: Annotated[int, at_least(2), at_most(2**16)] = 9
    q: Annotated[int, at_least(1), at_most(16)] = 2  # anchors in a sequence
    keys: Range = (21, 121)  # keys and noise
    memory_anchors: Range = (1, 11)
    reasoning_anchors: Range = (11, 21)
    # Combinations of reasoning anchors that are never trained; () trains all.
    masked: tuple[tuple[int, ...], ...] = ((11, 13), (13, 11))
    # 'uniform': any key. 'near': from x - s to x + s, where x is the key and s the sum
    # of the anchors (P2 Fig 8 left).
    memory_labels: MemoryLabels = 'uniform'
    # Divides the memory anchors, in order, into as many groups of equal size. A
    # sequence has anchors of one group, and its label is in the range of the group (P2
    # Fig 8 right). (): one group, and the labels are keys.
    label_ranges: tuple[Range, ...] = ()
    # Whether the order of memory anchors matters. The Emb-MLP cannot see it; with False
    # (x, a, b) and (x, b, a) have the same label.
    ordered: bool = True
    # Of all trained combinations together; each gets the same number of them.
    num_examples: Annotated[int, at_most(_MOST_EXAMPLES)] = 200_000
    vocab: Annotated[int, at_most(_MOST_TOKENS)] = 161  # the largest label is 160
    probe_examples: Annotated[int, at_least(1), at_most(2**20)] = 8192  # per probe

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        allowed = f'at least {self.q + 1}: a key and {self.q} anchors'
        require(self.num_positions >= 1, 'task.seq_len', self.seq_len, allowed)
        _check_ranges(self)
        _check_groups(self)
        _check_sizes(self)
        _check_masked(self)
        _check_vocab(self)
        require(
            self.num_per_combination >= 1,
            'task.num_examples',
            self.num_examples,
            f'enough for one example of all {self.num_trained} trained combinations',
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


def _check_ranges(c: MemoryReasoningConfig) -> None:
    """Keys and both kinds of anchors are ranges of tokens without overlap."""
    names = ('keys', 'memory_anchors', 'reasoning_anchors')
    taken: dict[str, Range] = {}
    for name in names:
        first, end = getattr(c, name)
        is_range = 0 <= first < end <= _MOST_TOKENS
        allowed = f'an increasing pair of tokens, at most {_MOST_TOKENS:,}'
        require(is_range, f'task.{name}', (first, end), allowed)
        for other, (other_first, other_end) in taken.items():
            is_apart = end <= other_first or other_end <= first
            allowed = f'apart from task.{other}, {(other_first, other_end)}'
            require(is_apart, f'task.{name}', (first, end), allowed)
        taken[name] = (first, end)


def _check_groups(c: MemoryReasoningConfig) -> None:
    """The ranges of labels are distinct, and divide the memory anchors evenly."""
    ranges = c.label_ranges
    allowed = f'at most {_MOST_RANGES} ranges'
    require(len(ranges) <= _MOST_RANGES, 'task.label_ranges', ranges, allowed)
    for first, end in ranges:
        allowed = f'increasing pairs of tokens below task.vocab, {c.vocab}'
        is_range = 0 <= first < end <= c.vocab
        require(is_range, 'task.label_ranges', ranges, allowed)
    is_distinct = len(set(ranges)) == len(ranges)
    require(is_distinct, 'task.label_ranges', ranges, 'distinct ranges')
    first, end = c.memory_anchors
    is_even = (end - first) % c.num_groups == 0
    allowed = f'of a number that divides the {end - first} memory anchors evenly'
    require(is_even, 'task.label_ranges', ranges, allowed)
    is_free = not ranges or c.memory_labels == 'uniform'
    allowed = "'uniform' where task.label_ranges are given"
    require(is_free, 'task.memory_labels', c.memory_labels, allowed)


def _check_sizes(c: MemoryReasoningConfig) -> None:
    rows = c.num_memory + c.num_reasoning
    allowed = (
        f'small enough for {_MOST_ROWS:,} combinations of anchors and {_MOST_LABELS:,} '
        f'of anchors and key, not {rows:,} and {rows * c.num_keys:,}'
    )
    is_small = rows <= _MOST_ROWS and rows * c.num_keys <= _MOST_LABELS
    require(is_small, 'task.q', c.q, allowed)


def _check_masked(c: MemoryReasoningConfig) -> None:
    first, end = c.reasoning_anchors
    allowed = f'at most {_MOST_MASKED:,} combinations'
    require(len(c.masked) <= _MOST_MASKED, 'task.masked', c.masked, allowed)
    for combination in c.masked:
        is_full = len(combination) == c.q
        is_known = all(first <= anchor < end for anchor in combination)
        allowed = f'combinations of {c.q} reasoning anchors, {first} to {end - 1}'
        require(is_full and is_known, 'task.masked', c.masked, allowed)
    is_distinct = len(set(c.masked)) == len(c.masked)
    require(is_distinct, 'task.masked', c.masked, 'distinct combinations')
    some_are_trained = len(c.masked) < c.num_reasoning
    require(some_are_trained, 'task.masked', c.masked, 'fewer than all combinations')


def _check_vocab(c: MemoryReasoningConfig) -> None:
    lowest_key, highest_key = c.keys[0], c.keys[1] - 1
    largest_sum = c.q * (c.reasoning_anchors[1] - 1)
    lowest, highest = lowest_key, highest_key + largest_sum
    if c.memory_labels == 'near':
        furthest = c.q * (c.memory_anchors[1] - 1)
        lowest = lowest_key - furthest
        highest = max(highest, highest_key + furthest)
    largest_token = max(highest, c.memory_anchors[1] - 1)
    allowed = f'at least {lowest_key - lowest}: every label must be at least 0'
    require(lowest >= 0, 'task.keys[0]', lowest_key, allowed)
    allowed = f'above {largest_token}, the largest token or label'
    require(largest_token < c.vocab, 'task.vocab', c.vocab, allowed)
