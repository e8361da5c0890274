"""The fields of the anchor task and every value they may take (PAPERS 1.1)."""

import dataclasses

from anchorjax.errors import require

SPLITS = ('code', 'paper', 'random', 'random_position')
# Far beyond any use: a slip of the finger is a line, not a hang or a killed process.
MOST = {
    'seq_len': 2**16,
    'vocab': 2**20,
    'num_examples': 2**31 - 1,  # they are numbered in int32
    'probe_examples': 2**20,
}
_ANCHORS, _PAIRS, _COMBINATIONS = 100, 256, 10**8


@dataclasses.dataclass(frozen=True)
class AnchorsConfig:
    """Defaults are the paper's: 900,000 nominal examples of 9 tokens; (4, 3) unseen."""

    name: str = 'anchors'
    seq_len: int = 9
    keys: tuple[int, int] = (20, 100)  # key items and noise, upper end excluded
    anchors: tuple[int, ...] = (1, 2, 3, 4)
    shifts: tuple[int, ...] = (5, 1, -2, -8)  # of the anchors, in their order
    noninferential: tuple[tuple[int, int, int], ...] = (
        (3, 4, -6),
    )  # (a1, a2, shift instead)
    unseen: tuple[tuple[int, int], ...] = (
        (4, 3),
    )  # never trained; the first is the one reported
    num_examples: int = 900_000  # nominal, over all pairs, training and test
    train_share: float = 0.9  # of a pair's examples; official dpercent 1:9
    split: str = 'code'  # which keys are held out where
    holdout: float = (
        0.1  # share of (pair, key) combinations held out by the random splits
    )
    vocab: int = 201
    probe_examples: int = 1024  # sequences per probe

    def __post_init__(self):
        _check_sizes(self)
        _check_anchors(self)
        _check_split(self)

    @property
    def num_train_per_pair(self) -> int:
        """50,625 by default: 900,000 / 16 pairs, times 0.9."""
        return round(self.num_examples // len(self.anchors) ** 2 * self.train_share)

    @property
    def num_heldout(self) -> int:
        """Keys of each pair (at a position) that the random splits hold out."""
        return round(self.holdout * (self.keys[1] - self.keys[0]))

    @property
    def modulus(self) -> int:
        """Of the official key splits: the code takes seq_len, the paper n - 2 (quirk 1)."""
        return self.seq_len if self.split == 'code' else self.seq_len - 2


def _check_sizes(c: AnchorsConfig) -> None:
    for field, most in MOST.items():
        value = getattr(c, field)
        require(value <= most, f'task.{field}', value, f'at most {most:,}')
    require(
        len(c.anchors) <= _ANCHORS,
        'task.anchors',
        c.anchors,
        f'at most {_ANCHORS} anchors',
    )
    require(len(c.unseen) <= _PAIRS, 'task.unseen', c.unseen, f'at most {_PAIRS} pairs')
    require(
        c.seq_len >= 3, 'task.seq_len', c.seq_len, 'at least 3 (a key and two anchors)'
    )
    require(
        0 <= c.keys[0] < c.keys[1], 'task.keys', c.keys, 'an increasing pair of tokens'
    )
    require(0 < c.train_share <= 1, 'task.train_share', c.train_share, 'in (0, 1]')
    allowed = 'a share that leaves training and held-out keys'
    require(0 <= c.holdout <= 1, 'task.holdout', c.holdout, allowed)
    require(
        c.probe_examples >= 1, 'task.probe_examples', c.probe_examples, 'at least 1'
    )


def _check_anchors(c: AnchorsConfig) -> None:
    known, number = set(c.anchors), len(c.anchors)
    distinct = number >= 1 and len(known) == number and min(known) >= 0
    require(distinct, 'task.anchors', c.anchors, 'distinct tokens, at least one')
    overlap = [a for a in c.anchors if c.keys[0] <= a < c.keys[1]]
    require(not overlap, 'task.anchors', c.anchors, f'outside the key range {c.keys}')
    require(
        len(c.shifts) == number,
        'task.shifts',
        c.shifts,
        f'{number} shifts, one per anchor',
    )
    for field, entries in (('noninferential', c.noninferential), ('unseen', c.unseen)):
        made = all(set(e[:2]) <= known for e in entries)
        require(
            made, f'task.{field}', entries, f'pairs made of the anchors {c.anchors}'
        )
        named = {e[:2] for e in entries}
        require(len(named) == len(entries), f'task.{field}', entries, 'distinct pairs')
    require(
        len(c.unseen) >= 1,
        'task.unseen',
        c.unseen,
        'at least one pair (the question asked)',
    )
    require(
        len(c.unseen) < number**2, 'task.unseen', c.unseen, 'fewer than all the pairs'
    )
    shifts = [a + b for a in c.shifts for b in c.shifts] + [
        e[2] for e in c.noninferential
    ]
    low, high = c.keys[0] + min(shifts), c.keys[1] - 1 + max(shifts)
    inside = low >= 0 and max(high, c.keys[1] - 1, *c.anchors) < c.vocab
    require(
        inside,
        'task.vocab',
        c.vocab,
        f'above every token and label (labels {low} to {high})',
    )


def _check_split(c: AnchorsConfig) -> None:
    require(c.split in SPLITS, 'task.split', c.split, f'one of {SPLITS}')
    keys, positions = range(*c.keys), range(c.seq_len - 2)
    rows = len(c.anchors) ** 2 * len(positions) * len(keys)
    few = f'few enough for {_COMBINATIONS:,} combinations of pair, position and key, not {rows:,}'
    require(rows <= _COMBINATIONS, 'task.keys', c.keys, few)
    if c.split.startswith('random'):
        share = 0 < c.num_heldout < len(keys)
        require(
            share,
            'task.holdout',
            c.holdout,
            'a share that leaves training and held-out keys',
        )
    else:
        first = [keys.start + (p - keys.start) % c.modulus for p in positions]
        held = [len(range(x, keys.stop, c.modulus)) for x in first]
        both = all(0 < n < len(keys) for n in held)
        allowed = (
            "one that leaves every position training and held-out keys (try 'random')"
        )
        require(
            both,
            'task.split',
            c.split,
            f'{allowed}; keys {c.keys}, seq_len {c.seq_len}',
        )
    enough = c.num_train_per_pair >= 1
    require(
        enough,
        'task.num_examples',
        c.num_examples,
        'enough for one example of every pair',
    )
