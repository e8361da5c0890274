"""The fields of addition and every value they may take (DATASETS 5)."""

import dataclasses
from typing import Annotated, Literal

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields
from anchorjax.tasks.texts import LossOn

PLUS, EQUALS, END = 10, 11, 12  # after the ten digits
# split 'square': both operands in the square; 'random': as many pairs from anywhere.
Split = Literal['square', 'random']
# 'digits': '12+34=46' and END, character by character; 'numbers': the tokens 12 and 34,
# whose answer is the token 46.
Encoding = Literal['digits', 'numbers']


@dataclasses.dataclass(frozen=True)
class AdditionConfig:
    """Defaults are the paper's operands and square, written in digits."""

    name: str = 'addition'
    largest: Annotated[int, at_least(1), at_most(9_999)] = 999  # operand
    square: tuple[int, int] = (400, 600)  # both ends are in it
    split: Split = 'square'
    encoding: Encoding = 'digits'
    # Training examples; the other pairs outside the square are the probe seen_heldout.
    # 0: all of them.
    num_examples: Annotated[int, at_least(0)] = 0
    loss_on: LossOn = 'answer'  # digits only
    score_end: bool = True  # whether END belongs to the answer; digits only
    probe_examples: Annotated[int, at_least(1), at_most(2**20)] = 2048  # per probe

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        low, high = self.square
        is_inside = 0 <= low <= high <= self.largest
        allowed = f'two numbers from 0 to {self.largest}, not decreasing'
        require(is_inside, 'task.square', self.square, allowed)
        allowed = 'smaller than the range of the operands'
        require(self.num_outside > 0, 'task.square', self.square, allowed)
        allowed = f'at most the {self.num_outside} pairs outside the square'
        is_enough = self.num_examples <= self.num_outside
        require(is_enough, 'task.num_examples', self.num_examples, allowed)

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
