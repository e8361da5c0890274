"""The fields of the anchor task and every value they may take (PAPERS 1.1)."""

import dataclasses
from typing import Annotated, Literal

from anchorjax.errors import require
from anchorjax.limits import YOUNG, above, at_least, at_most, check_fields

Split = Literal['code', 'paper', 'random', 'random_position']
Order = Literal['key_first', 'anchors_first']
ExceptionPairs = Literal['trained', 'unseen']
LastToken = Literal['any', 'noise', 'pair']
Groups = Literal['position', 'pair']
# (a1, a2, shift) of P1 v1 Sec 6 in its order, for (a1, a2) and (a2, a1) (PAPERS 1.5).
WRONG_PAIRS = (
    (1, 2, 4),
    (1, 3, 1),
    (1, 4, -5),
    (2, 3, 5),
    (2, 4, -9),
    (3, 4, -6),
)
# Far beyond any use, so that a typo gives an error instead of a hang.
_MOST_ANCHORS = 100
_MOST_PAIRS = 256
_MOST_COMBINATIONS = 10**8  # of pair, position and key
_MOST_EXAMPLES = 2**31 - 1  # they are numbered in int32


@dataclasses.dataclass(frozen=True)
class AnchorsConfig:
    """Defaults are the paper's: 900,000 nominal examples of 9 tokens, (4, 3) unseen."""

    name: str = 'anchors'
    seq_len: Annotated[int, at_least(3), at_most(2**16)] = 9  # a key and two anchors
    keys: tuple[int, int] = (20, 100)  # key items and noise; upper end excluded
    anchors: tuple[int, ...] = (1, 2, 3, 4)
    shifts: tuple[int, ...] = (5, 1, -2, -8)  # one for each anchor
    # So many of them are in use, the first ones; 0: all. As one number it is an axis.
    num_anchors: Annotated[int, at_least(0)] = 0
    # (a1, a2, shift): pairs trained on this shift instead of their composition.
    noninferential: tuple[tuple[int, int, int], ...] = ((3, 4, -6),)
    # Whether these pairs are trained, or are as unseen as those of `unseen`: then no
    # table of the training data answers (4, 3), and only composition does.
    exception: ExceptionPairs = 'trained'
    # Pairs that are never trained; figures show the first. () trains all pairs.
    unseen: tuple[tuple[int, int], ...] = ((4, 3),)
    # (x, a1, a2), or (a1, a2, x) as in arXiv 2401.08309 and the slides.
    order: Order = 'key_first'
    # What comes last in every sequence: noise, the pair (so that all noise comes before
    # the key), or either of them, as in the paper.
    last_token: LastToken = 'any'
    # Nominal: counts all pairs, with training and test examples.
    num_examples: Annotated[int, at_most(_MOST_EXAMPLES)] = 900_000
    # Share of each pair's examples that is trained; 9:1 in the paper.
    train_share: Annotated[float, above(0), at_most(1)] = 0.9
    # Which key items are held out; see anchors.draw_training_keys.
    split: Split = 'code'
    # Share of each unordered pair's key items that the random splits hold out.
    holdout: Annotated[float, at_least(0), at_most(1)] = 0.1
    vocab: Annotated[int, at_most(2**20)] = 201
    probe_examples: Annotated[int, at_least(1), at_most(2**20)] = 8192  # per probe
    # Inferential complexity: so many of WRONG_PAIRS are trained on their wrong shift,
    # in both orders. Needs noninferential=() and the anchors and shifts of the paper.
    complexity: Annotated[int, at_least(0), at_most(len(WRONG_PAIRS))] = (
        dataclasses.field(default=0, metadata=YOUNG)
    )
    # By what agreement is recorded besides the probe: the key's position, or the pair.
    groups: Groups = dataclasses.field(default='position', metadata=YOUNG)

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        allowed = "at least 4 if task.last_token is 'noise': a key, two anchors, noise"
        require(len(self.positions) >= 1, 'task.seq_len', self.seq_len, allowed)
        allowed = "'any' or 'noise' where the key comes after the pair"
        has_key_last = self.order == 'anchors_first' and self.last_token == 'pair'
        require(not has_key_last, 'task.last_token', self.last_token, allowed)
        _check_anchors(self)
        _check_pairs(self)
        _check_vocab(self)
        _check_split(self)

    @property
    def num_train_per_pair(self) -> int:
        """Training examples of a pair: by default 900,000 / 16 pairs * 0.9 = 50,625."""
        return round(self.num_examples // self.num_pairs * self.train_share)

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
        """The modulus of the official splits; see `anchors.draw_training_keys`."""
        return self.seq_len if self.split == 'code' else self.seq_len - 2


def _check_anchors(c: AnchorsConfig) -> None:
    number = len(c.anchors)
    allowed = f'at most {_MOST_ANCHORS} anchors'
    require(number <= _MOST_ANCHORS, 'task.anchors', c.anchors, allowed)
    is_increasing = 0 <= c.keys[0] < c.keys[1]
    require(is_increasing, 'task.keys', c.keys, 'an increasing pair of tokens')
    is_distinct = len(set(c.anchors)) == number
    require(
        number >= 1 and is_distinct and min(c.anchors) >= 0,
        'task.anchors',
        c.anchors,
        'distinct tokens, at least one',
    )
    is_outside = not any(c.keys[0] <= anchor < c.keys[1] for anchor in c.anchors)
    allowed = f'outside the key range {c.keys}'
    require(is_outside, 'task.anchors', c.anchors, allowed)
    allowed = f'{number} shifts, one per anchor'
    require(len(c.shifts) == number, 'task.shifts', c.shifts, allowed)
    allowed = f'at most {number}, the anchors that there are'
    require(c.num_anchors <= number, 'task.num_anchors', c.num_anchors, allowed)


def _check_pairs(c: AnchorsConfig) -> None:
    allowed = f'at most {_MOST_PAIRS} pairs'
    require(len(c.unseen) <= _MOST_PAIRS, 'task.unseen', c.unseen, allowed)
    for field, entries in (('noninferential', c.noninferential), ('unseen', c.unseen)):
        pairs = [entry[:2] for entry in entries]
        are_known = all(set(pair) <= set(c.shift_of) for pair in pairs)
        allowed = f'pairs made of the anchors {tuple(c.shift_of)}'
        require(are_known, f'task.{field}', entries, allowed)
        is_distinct = len(set(pairs)) == len(pairs)
        require(is_distinct, f'task.{field}', entries, 'distinct pairs')
    _check_complexity(c)
    some_are_trained = len(c.unseen_pairs) < c.num_pairs
    require(some_are_trained, 'task.unseen', c.unseen, 'fewer than all the pairs')


def _check_complexity(c: AnchorsConfig) -> None:
    """The wrong shifts are wrong for the paper's anchors, and for nothing else."""
    if not c.complexity:
        return
    allowed = '(), with task.complexity above 0'
    require(c.noninferential == (), 'task.noninferential', c.noninferential, allowed)
    official = {1: 5, 2: 1, 3: -2, 4: -8}
    is_official = official.items() <= c.shift_of.items()
    allowed = f'0 unless the anchors have the shifts {official}'
    require(is_official, 'task.complexity', c.complexity, allowed)


def _check_vocab(c: AnchorsConfig) -> None:
    used = c.shift_of.values()
    shifts = [first + second for first in used for second in used]
    shifts += c.exceptions.values()
    lowest = c.keys[0] + min(shifts)
    highest = c.keys[1] - 1 + max(shifts)
    largest_token = max(highest, c.keys[1] - 1, *c.anchors)
    allowed = f'at least {-min(shifts)}: every label must be at least 0'
    require(lowest >= 0, 'task.keys[0]', c.keys[0], allowed)
    allowed = f'above {largest_token}, the largest token or label'
    require(largest_token < c.vocab, 'task.vocab', c.vocab, allowed)


def _check_split(c: AnchorsConfig) -> None:
    keys = range(*c.keys)
    rows = c.num_pairs * len(c.positions) * len(keys)
    require(
        rows <= _MOST_COMBINATIONS,
        'task.keys',
        c.keys,
        f'few enough for {_MOST_COMBINATIONS:,} combinations of pair, position and '
        f'key, not {rows:,}',
    )
    if c.split.startswith('random'):
        leaves_both = 0 < c.num_heldout < len(keys)
        allowed = 'a share that leaves training and held-out keys'
        require(leaves_both, 'task.holdout', c.holdout, allowed)
    else:
        _check_official_split(c, keys)
    require(
        c.num_train_per_pair >= 1,
        'task.num_examples',
        c.num_examples,
        'enough for one example of every pair',
    )


def _check_official_split(c: AnchorsConfig, keys: range) -> None:
    """x mod modulus = position is held out: some keys at every position, not all."""
    for position in c.positions:
        first = keys.start + (position - keys.start) % c.modulus
        num_heldout = len(range(first, keys.stop, c.modulus))
        require(
            0 < num_heldout < len(keys),
            'task.split',
            c.split,
            "one that leaves every position training and held-out keys (try 'random'); "
            f'keys {c.keys}, seq_len {c.seq_len}',
        )
