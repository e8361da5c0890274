"""Integer addition with a square of operands held out (P1 Fig 17 a; DATASETS 5).

The question is a + b, with a and b from 0 to 999; both in [400, 600] is never trained.
A network that looks up similar cases fails there, one that adds does not.

Pairs outside the square that are kept out are ordered ones: (b, a) is usually trained
where (a, b) is asked, so there a table of unordered pairs would do. It knows none of
the square.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.permutation import permute
from anchorjax.tasks import Batch, EvalSets, Task, texts
from anchorjax.tasks.answers import describe_answers
from anchorjax.tasks.texts import LossOn, Texts

PLUS, EQUALS, END = 10, 11, 12  # after the ten digits
REGIONS = ('low', 'inside', 'high')  # of an operand, relative to the square


@dataclasses.dataclass(frozen=True)
class AdditionConfig:
    """Defaults are the paper's operands and square, written in digits."""

    name: str = 'addition'
    largest: Annotated[int, at_least(1), at_most(9_999)] = 999  # operand
    square: tuple[int, int] = (400, 600)  # both ends are in it
    # 'square': both operands in the square; 'random': as many pairs from anywhere.
    split: Literal['square', 'random'] = 'square'
    # 'digits': '12+34=46' and END, character by character; 'numbers': the tokens 12 and
    # 34, whose answer is the token 46.
    encoding: Literal['digits', 'numbers'] = 'digits'
    # Training examples; the other pairs outside the square are the eval set
    # seen_heldout. 0: all of them.
    num_examples: Annotated[int, at_least(0)] = 0
    loss_on: LossOn = 'answer'  # digits only
    score_end: bool = True  # whether END belongs to the answer; digits only
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 2048  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        if self.encoding == 'numbers':  # one token is the whole answer
            for field in ('loss_on', 'score_end'):
                require_default(self, 'task', field, "task.encoding is 'numbers'")
        low, high = self.square
        is_inside = 0 <= low <= high <= self.largest
        allowed = f'two numbers from 0 to {self.largest}, not decreasing'
        require(is_inside, 'task.square', self.square, allowed)
        allowed = 'smaller than the range of the operands'
        require(self.num_outside > 0, 'task.square', self.square, allowed)
        allowed = f'at most the {self.num_outside} pairs outside the square'
        is_enough = self.num_examples <= self.num_outside
        require(is_enough, 'task.num_examples', self.num_examples, allowed)

    def make(self) -> Task:
        """The data of a seed is the random key that orders the pairs."""
        is_number = self.encoding == 'numbers'
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_train,
            eval_set_names=tuple(_asked(self)),
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            last_only=is_number,
            deviation=('test', 'assigned') if is_number else None,
            describe_members=functools.partial(
                describe_answers, 'test', 'assigned', {}
            ),
            group_names=region_names(),
        )

    @property
    def num_operands(self) -> int:
        return self.largest + 1

    @property
    def num_inside(self) -> int:
        """Pairs in the square: 40,401."""
        low, high = self.square
        return (high - low + 1) ** 2

    @property
    def num_outside(self) -> int:
        """Pairs outside the square: 959,599."""
        return self.num_operands**2 - self.num_inside

    @property
    def num_train(self) -> int:
        return self.num_examples or self.num_outside

    @property
    def seq_len(self) -> int:
        """Digits: of 999+999=1998, its last token being END, which is not read."""
        if self.encoding == 'numbers':
            return 2
        return 2 * len(str(self.largest)) + len(str(2 * self.largest)) + 2

    @property
    def vocab(self) -> int:
        if self.encoding == 'numbers':
            return 2 * self.largest + 1
        return END + 1


def pair_outside(
    config: AdditionConfig, index_B: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """(a, b), [B] each, of the pairs outside the square, numbered row by row."""
    low, high = config.square
    operands = config.num_operands
    width = high - low + 1
    num_below = low * operands
    num_beside = width * (operands - width)
    # Rows below the square, rows through it, rows above it.
    below_a, below_b = jnp.divmod(index_B, operands)
    # A square as wide as the range has nothing beside it.
    beside_a, beside_b = jnp.divmod(index_B - num_below, max(1, operands - width))
    beside_b = jnp.where(beside_b < low, beside_b, beside_b + width)
    above_a, above_b = jnp.divmod(index_B - num_below - num_beside, operands)
    is_below = index_B < num_below
    is_above = index_B >= num_below + num_beside
    a_B = jnp.where(is_above, above_a + high + 1, beside_a + low)
    b_B = jnp.where(is_above, above_b, beside_b)
    return jnp.where(is_below, below_a, a_B), jnp.where(is_below, below_b, b_B)


def pair_inside(
    config: AdditionConfig, index_B: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """(a, b), [B] each, of the pairs in the square, numbered row by row."""
    low, high = config.square
    a_B, b_B = jnp.divmod(index_B, high - low + 1)
    return a_B + low, b_B + low


def training_pair(
    config: AdditionConfig, key: jax.Array, number_B: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """(a, b), [B] each, of what may be trained, in an order that `key` selects."""
    if config.split == 'square':
        return pair_outside(config, permute(key, number_B, config.num_outside))
    index_B = permute(key, number_B, config.num_operands**2)
    return jnp.divmod(index_B, config.num_operands)


def test_pair(
    config: AdditionConfig, key: jax.Array, number_B: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """(a, b), [B] each, of what is never trained, in an order that `key` selects."""
    if config.split == 'square':
        return pair_inside(config, permute(key, number_B, config.num_inside))
    # The last pairs of the permutation whose first ones may be trained.
    return training_pair(config, key, config.num_outside + number_B)


def write_digits(config: AdditionConfig, a_B: jax.Array, b_B: jax.Array) -> Texts:
    """The texts a+b=c, without leading zeros, padded with END, [B, T + 1]."""
    place_L = jnp.arange(config.seq_len + 1)
    c_B = a_B + b_B
    a_len_B1 = _count_digits(a_B)[:, None]
    b_len_B1 = _count_digits(b_B)[:, None]
    c_len_B1 = _count_digits(c_B)[:, None]
    plus_B1 = a_len_B1
    equals_B1 = plus_B1 + 1 + b_len_B1
    end_B1 = equals_B1 + 1 + c_len_B1
    # From the right end of the text to its left, each piece over what follows it.
    tokens_BL = _digit(c_B, end_B1 - 1 - place_L)
    tokens_BL = jnp.where(place_L == equals_B1, EQUALS, tokens_BL)
    b_digit_BL = _digit(b_B, equals_B1 - 1 - place_L)
    tokens_BL = jnp.where(place_L < equals_B1, b_digit_BL, tokens_BL)
    tokens_BL = jnp.where(place_L == plus_B1, PLUS, tokens_BL)
    a_digit_BL = _digit(a_B, plus_B1 - 1 - place_L)
    tokens_BL = jnp.where(place_L < plus_B1, a_digit_BL, tokens_BL)
    tokens_BL = jnp.where(place_L >= end_B1, END, tokens_BL)
    return Texts(tokens_BL, equals_B1[:, 0] + 1, end_B1[:, 0] + 1)


def _count_digits(number_B: jax.Array) -> jax.Array:
    digits_B = jnp.ones_like(number_B)
    for power in (10, 100, 1_000, 10_000):
        digits_B += number_B >= power
    return digits_B


def _digit(number_B: jax.Array, place_BL: jax.Array) -> jax.Array:
    """The digit of 10^place, [B, L]; places of no meaning are clipped."""
    powers = jnp.array([1, 10, 100, 1_000, 10_000])
    power_BL = powers[jnp.clip(place_BL, 0, len(powers) - 1)]
    return number_B[:, None] // power_BL % 10


def find_region(config: AdditionConfig, a_B: jax.Array, b_B: jax.Array) -> jax.Array:
    """Index into `region_names`, [B]."""
    low, high = config.square

    def place(operand_B: jax.Array) -> jax.Array:
        return (operand_B >= low).astype(jnp.int32) + (operand_B > high)

    return len(REGIONS) * place(a_B) + place(b_B)


def region_names() -> tuple[str, ...]:
    """The regions of a pair, of a and then of b: 'low_low', 'low_inside', ..."""
    names = []
    for of_a in REGIONS:
        for of_b in REGIONS:
            names.append(f'{of_a}_{of_b}')
    return tuple(names)


def make_batch(config: AdditionConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training examples with these numbers."""
    a_B, b_B = training_pair(config, key, index_B)
    if config.encoding == 'numbers':
        return _ask_numbers(a_B, b_B)
    written = write_digits(config, a_B, b_B)
    return texts.to_training_batch(written, config.loss_on)


class AskedPairs(NamedTuple):
    """The pairs of an eval set, [B]; those that are not real fill it up."""

    a_B: jax.Array
    b_B: jax.Array
    is_real_B: jax.Array


def list_asked_pairs(config: AdditionConfig, key: jax.Array) -> dict[str, AskedPairs]:
    """By eval set: trained pairs, pairs kept out at random, if any, and the square."""
    pairs = {}
    for eval_set, (find_pair, first, count) in _asked(config).items():
        chosen = texts.choose(first, count, config.eval_examples)
        a_B, b_B = find_pair(config, key, chosen.row_B)
        pairs[eval_set] = AskedPairs(a_B, b_B, chosen.is_real_B)
    return pairs


def make_eval_sets(config: AdditionConfig, key: jax.Array) -> EvalSets:
    """The questions about the asked pairs, grouped by region."""
    asked, are_real, groups = [], [], []
    for a_B, b_B, is_real_B in list_asked_pairs(config, key).values():
        if config.encoding == 'numbers':
            asked.append(_ask_numbers(a_B, b_B))
        else:
            written = write_digits(config, a_B, b_B)
            asked.append(texts.to_scored_batch(written, config.score_end))
        are_real.append(is_real_B)
        groups.append(find_region(config, a_B, b_B))
    return texts.join_eval_sets(asked, are_real, groups)


def _ask_numbers(a_B: jax.Array, b_B: jax.Array) -> Batch:
    return Batch(jnp.stack([a_B, b_B], axis=-1), (a_B + b_B)[:, None])


def _asked(config: AdditionConfig) -> dict[str, tuple[Callable, int, int]]:
    """{eval set: (numbers to pairs, first number, how many there are)}."""
    asked = {'seen_train': (training_pair, 0, config.num_train)}
    num_kept_out = config.num_outside - config.num_train
    if num_kept_out:
        asked['seen_heldout'] = (training_pair, config.num_train, num_kept_out)
    asked['test'] = (test_pair, 0, config.num_inside)
    return asked
