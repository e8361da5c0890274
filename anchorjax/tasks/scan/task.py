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
from anchorjax.tasks import Batch, EvalSets, Task, texts
from anchorjax.tasks.scan import grammar
from anchorjax.tasks.texts import LossOn, Table, Texts

TOKENS = (*grammar.WORDS, *grammar.ACTIONS, 'IN', 'OUT', 'END')
END = TOKENS.index('END')
_PRIMITIVE_EVERY = 10  # lines: the share of the primitive in the official files
_GROUP_WIDTH = 8  # actions


@dataclasses.dataclass(frozen=True)
class ScanConfig:
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
        """The data of a seed is the random key that orders the commands."""
        names = ['seen_train', 'seen_heldout', 'test']
        if not _count_kept_out(self):
            names.remove('seen_heldout')
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_train,
            eval_set_names=tuple(names),
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            last_only=False,
            group_names=name_groups(),
        )

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
    prompts, answers = [], []
    for command in grammar.list_commands():
        prompts.append(encode(['IN', *command.split(' '), 'OUT']))
        answers.append(encode(grammar.interpret(command)))
    return texts.make_table(prompts, answers, END)


def training_row(
    lines: grammar.Lines, key: jax.Array, number_B: jax.Array
) -> jax.Array:
    """The commands [B] of the training lines with these numbers.

    The primitive is every tenth line, from the first on, so that a training set of any
    size has its share of it. The others come once each, in an order that `key` selects.
    """
    others_B = number_B
    if lines.primitive is not None:
        others_B = number_B - number_B // _PRIMITIVE_EVERY - 1
    row_B = _draw_rows(lines.trained, key, jnp.clip(others_B, 0))
    if lines.primitive is None:
        return row_B
    is_primitive_B = number_B % _PRIMITIVE_EVERY == 0
    return jnp.where(is_primitive_B, lines.primitive, row_B)


def _draw_rows(rows: np.ndarray, key: jax.Array, number_B: jax.Array) -> jax.Array:
    """The commands with these numbers, in an order that `key` selects."""
    return jnp.asarray(rows, jnp.int32)[permute(key, number_B, len(rows))]


def make_batch(config: ScanConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training examples with these numbers."""
    row_B = training_row(grammar.list_lines(config.split), key, index_B)
    return texts.to_training_batch(_read(config, row_B), config.loss_on)


def make_eval_sets(config: ScanConfig, key: jax.Array) -> EvalSets:
    """Training lines, other lines of the split if there are any, and the test."""
    lines = grammar.list_lines(config.split)
    size = config.eval_examples
    trained = texts.choose(0, config.num_train, size)
    chosen = [trained]
    rows = [training_row(lines, key, trained.row_B)]
    num_kept_out = _count_kept_out(config)
    if num_kept_out:
        chosen.append(texts.choose(0, num_kept_out, size))
        number_B = _count_trained(config) + chosen[-1].row_B
        rows.append(_draw_rows(lines.trained, key, number_B))
    chosen.append(texts.choose(0, len(lines.tested), size))
    rows.append(_draw_rows(lines.tested, key, chosen[-1].row_B))

    asked, groups = [], []
    for row_B in rows:
        read = _read(config, row_B)
        asked.append(texts.to_scored_batch(read, config.score_end))
        num_actions_B = read.length_B - read.begin_B - 1
        groups.append((num_actions_B - 1) // _GROUP_WIDTH)
    return texts.join_eval_sets(asked, [choice.is_real_B for choice in chosen], groups)


def name_groups() -> tuple[str, ...]:
    """Groups of commands by their number of actions: 'actions_1_8', ..."""
    names = []
    for first in range(1, grammar.MOST_ACTIONS + 1, _GROUP_WIDTH):
        names.append(f'actions_{first}_{first + _GROUP_WIDTH - 1}')
    return tuple(names)


def _read(config: ScanConfig, row_B: jax.Array) -> Texts:
    return texts.read_table(make_table(), row_B, config.seq_len + 1, END)


def _count_trained(config: ScanConfig) -> int:
    """Commands in the training set besides the primitive."""
    if grammar.list_lines(config.split).primitive is None:
        return config.num_train
    return config.num_train - int(np.ceil(config.num_train / _PRIMITIVE_EVERY))


def _count_kept_out(config: ScanConfig) -> int:
    """Commands that the split trains and this training set does not have."""
    return len(grammar.list_lines(config.split).trained) - _count_trained(config)
