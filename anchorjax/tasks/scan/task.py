"""SCAN: commands into actions, with whole kinds of commands held out (P1 Fig 6 a).

A text is 'IN jump left OUT I_TURN_LEFT I_JUMP END', a token a word. The network is
trained on some of the commands and tested on compositions it has not seen.
"""

import dataclasses
import functools
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.errors import require
from anchorjax.limits import at_least, at_most, check_fields
from anchorjax.permutation import permute
from anchorjax.tasks import Task, texts
from anchorjax.tasks.scan import grammar
from anchorjax.tasks.texts import Asked, LossOn, Table, TextTask

TOKENS = (*grammar.WORDS, *grammar.ACTIONS, 'IN', 'OUT', 'END')
END = TOKENS.index('END')
_PRIMITIVE_EVERY = 10  # lines: the share of the primitive in the official files
_GROUP_WIDTH = 8  # actions


@dataclasses.dataclass(frozen=True)
class ScanConfig(TextTask):
    """Defaults are P1's split: `turn left` is trained only by itself."""

    name: str = 'scan'
    split: grammar.Split = 'addprim_turn_left'  # which lines are held out
    # Training lines, repeated primitives included; 0: all. The other lines of the split
    # are the eval set seen_heldout.
    num_examples: Annotated[int, at_least(0)] = 0
    loss_on: LossOn = 'answer'  # which tokens are trained
    score_end: bool = True  # whether END belongs to the answer
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 1208  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        lines = count_lines(self.split)
        is_enough = self.num_examples <= lines
        allowed = f'at most the {lines} training lines of {self.split}'
        require(is_enough, 'task.num_examples', self.num_examples, allowed)

    def make(self) -> Task:
        return super().make()._replace(group_names=name_groups())

    def make_table(self) -> Table:
        return make_table()

    def train(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        """As everywhere; the primitive is every tenth line, from the first on."""
        lines = grammar.list_lines(self.split)
        others_B = number_B
        if lines.primitive is not None:
            others_B = number_B - number_B // _PRIMITIVE_EVERY - 1
        row_B = _draw_rows(lines.trained, key, jnp.clip(others_B, 0))
        if lines.primitive is None:
            return row_B
        is_primitive_B = number_B % _PRIMITIVE_EVERY == 0
        return jnp.where(is_primitive_B, lines.primitive, row_B)

    def list_asked(self) -> dict[str, Asked]:
        """Training lines, other lines of the split if there are any, and the test."""
        lines = grammar.list_lines(self.split)
        num_trained = self.num_train  # besides the primitive
        if lines.primitive is not None:
            num_trained -= int(np.ceil(self.num_train / _PRIMITIVE_EVERY))
        num_kept_out = len(lines.trained) - num_trained
        asked = {'seen_train': Asked(self.train, 0, self.num_train)}
        if num_kept_out:
            draw = functools.partial(_draw_rows, lines.trained)
            asked['seen_heldout'] = Asked(draw, num_trained, num_kept_out)
        draw = functools.partial(_draw_rows, lines.tested)
        return asked | {'test': Asked(draw, 0, len(lines.tested))}

    @property
    def num_train(self) -> int:
        return self.num_examples or count_lines(self.split)

    @property
    def seq_len(self) -> int:
        """IN, the command, OUT and the actions; END is asked for and never read."""
        return grammar.LONGEST_COMMAND + grammar.MOST_ACTIONS + 2

    @property
    def vocab(self) -> int:
        return len(TOKENS)


def count_lines(split: grammar.Split) -> int:
    """The training lines of a split, with the primitive in every tenth of them."""
    lines = grammar.list_lines(split)
    number = len(lines.trained)
    if lines.primitive is None:
        return number
    return number + number // (_PRIMITIVE_EVERY - 1)


def encode(words: list[str]) -> list[int]:
    """The tokens of these words."""
    return [TOKENS.index(word) for word in words]


@functools.cache
def make_table() -> Table:
    """The texts of all commands, in the order of `grammar.list_commands()`."""
    rows = []
    for command in grammar.list_commands():
        prompt = encode(['IN', *command.split(' '), 'OUT'])
        answer = encode(grammar.interpret(command))
        rows.append((prompt, answer, (len(answer) - 1) // _GROUP_WIDTH))
    return texts.make_table(rows, END)


def _draw_rows(rows: np.ndarray, key: jax.Array, number_B: jax.Array) -> jax.Array:
    """The commands with these numbers, in an order that `key` selects."""
    return jnp.asarray(rows, jnp.int32)[permute(key, number_B, len(rows))]


def name_groups() -> tuple[str, ...]:
    """Groups of commands by their number of actions: 'actions_1_8', ..."""
    names = []
    for first in range(1, grammar.MOST_ACTIONS + 1, _GROUP_WIDTH):
        names.append(f'actions_{first}_{first + _GROUP_WIDTH - 1}')
    return tuple(names)
