"""Integer addition with a square of operands held out (P1 Fig 17 a; DATASETS 5).

The question is a + b, with a and b from 0 to 999; both in [400, 600] is never trained.
A network that looks up similar cases fails there, one that adds does not.

Pairs outside the square that are kept out are ordered ones: (b, a) is usually trained
where (a, b) is asked, so there a table of unordered pairs would do. It knows none of
the square.
"""

import dataclasses
import functools
from typing import Annotated, Literal

import jax
import jax.numpy as jnp

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.permutation import permute
from anchorjax.tasks import Task
from anchorjax.tasks.answers import describe_answers
from anchorjax.tasks.texts import Asked, LossOn, Texts, TextTask

PLUS, EQUALS, END = 10, 11, 12  # after the ten digits
REGIONS = ('low', 'inside', 'high')  # of an operand, relative to the square


@dataclasses.dataclass(frozen=True)
class AdditionConfig(TextTask):
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
        task = super().make()
        return task._replace(
            deviation=('test', 'assigned') if self.last_only else None,
            describe_members=functools.partial(
                describe_answers, 'test', 'assigned', {}
            ),
            group_names=region_names(),
        )

    @property
    def last_only(self) -> bool:
        return self.encoding == 'numbers'

    def read(self, row_B: jax.Array) -> Texts:
        """The row of a + b is a * (operands) + b: a table of all pairs."""
        a_B, b_B = jnp.divmod(row_B, self.num_operands)
        if self.last_only:
            tokens_BL = jnp.stack([a_B, b_B, a_B + b_B], axis=-1)
            return Texts(tokens_BL, jnp.full_like(a_B, 2), jnp.full_like(a_B, 3))
        return write_digits(self, a_B, b_B)

    def find_groups(self, row_B: jax.Array) -> jax.Array:
        return find_region(self, *jnp.divmod(row_B, self.num_operands))

    def train(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        if self.split == 'square':
            return row_outside(self, permute(key, number_B, self.num_outside))
        return permute(key, number_B, self.num_operands**2)

    def test(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        """The rows [B] that are never trained, in an order that `key` selects."""
        if self.split == 'square':
            return row_inside(self, permute(key, number_B, self.num_inside))
        # The last pairs of the permutation whose first ones may be trained.
        return self.train(key, self.num_outside + number_B)

    def list_asked(self) -> dict[str, Asked]:
        """Trained pairs, pairs kept out at random, if any, and the square."""
        num_kept_out = self.num_outside - self.num_train
        asked = {'seen_train': Asked(self.train, 0, self.num_train)}
        if num_kept_out:
            asked['seen_heldout'] = Asked(self.train, self.num_train, num_kept_out)
        return asked | {'test': Asked(self.test, 0, self.num_inside)}

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


def row_outside(config: AdditionConfig, index_B: jax.Array) -> jax.Array:
    """The rows [B] of the pairs outside the square, numbered row by row."""
    low, high = config.square
    operands, width = config.num_operands, high - low + 1
    # Rows below the square, rows through it, rows above it. A square as wide as the
    # range has nothing beside it.
    beside_a, beside_b = jnp.divmod(index_B - low * operands, max(1, operands - width))
    beside_b = jnp.where(beside_b < low, beside_b, beside_b + width)
    beside_B = (beside_a + low) * operands + beside_b
    above_B = index_B + config.num_inside
    row_B = jnp.where(above_B < (high + 1) * operands, beside_B, above_B)
    return jnp.where(index_B < low * operands, index_B, row_B)


def row_inside(config: AdditionConfig, index_B: jax.Array) -> jax.Array:
    """The rows [B] of the pairs in the square, numbered row by row."""
    low, high = config.square
    a_B, b_B = jnp.divmod(index_B, high - low + 1)
    return (a_B + low) * config.num_operands + b_B + low


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
