"""Few-shot equations of the anchor task, as the slides of P1 show them.

`(1, 2, 21) = 27` is the pair (1, 2) on the key item 21. A prompt shows equations of
every trained pair, the exception among them, and asks for one more: an equation that
stands in it (`seen_train`), a seen pair with a new key item (`seen_heldout`), or a pair
that no equation has (`unseen`). These are the eval sets of our own members.
"""

import dataclasses
import itertools
import zlib
from typing import NamedTuple

import numpy as np

from anchorjax import config
from anchorjax.errors import require
from anchorjax.tasks.anchors import (
    MAPPINGS,
    AnchorsConfig,
    list_asked_pairs,
    list_pairs,
    list_shifts,
)

_ASSIGNED = MAPPINGS.index('assigned')
_INSTRUCTION = (
    'Each equation gives the value of one function of three whole numbers. '
    'Work out the last value. Reply with that number alone.'
)
Numbers = tuple[int, int, int]  # first anchor, second anchor, key item
Equation = tuple[int, int, int, int]  # these and the value


class Prompt(NamedTuple):
    """One question to a language model, and where its answer belongs."""

    id: str
    cohort: str  # its name: the static values of the task
    seed: int
    eval_set: str
    asked: Numbers
    prompt: str
    answers: dict[str, int]  # by mapping


def draw_prompts(
    experiment: config.Experiment, number: int, shots: int, instruct: bool
) -> list[Prompt]:
    """`number` prompts for each cohort, seed and eval set of an experiment.

    Axes of anything but the task are dropped. A prompt is a function of (task, seed,
    eval set, its number) alone, so that a larger set contains the smaller one.

    Args:
      shots: equations of every trained pair, with different key items.
      instruct: begin with what to do, for models that follow instructions; without it
        the equations are to be continued.

    Raises:
      ConfigError: it is not of the anchor task, or has too few key items.
    """
    allowed = "'anchors', the task that is written as equations"
    is_anchors = isinstance(experiment.task, AnchorsConfig)
    require(is_anchors, 'task.name', experiment.task.name, allowed)
    require(number >= 1, 'number', number, 'at least 1')
    static_axes = tuple(
        axis for axis in experiment.static_axes if axis[0].startswith('task.')
    )
    experiment = dataclasses.replace(experiment, static_axes=static_axes)
    prompts = []
    for cohort in experiment.cohorts():
        task = experiment.for_cohort(cohort).task
        cells = itertools.product(
            experiment.grid.seed, list_asked_pairs(task), range(number)
        )
        for seed, eval_set, i in cells:
            equations, asked, answers = _draw_question(task, seed, eval_set, i, shots)
            text = _write_prompt(equations, asked, instruct)
            id = f'{cohort.name}/{seed}/{eval_set}/{i}'
            prompts.append(
                Prompt(id, cohort.name, seed, eval_set, asked, text, answers)
            )
    return prompts


def _draw_question(
    task: AnchorsConfig, seed: int, eval_set: str, number: int, shots: int
) -> tuple[list[Equation], Numbers, dict[str, int]]:
    """(equations, what is asked, its answers by mapping) of a question of an eval set.

    A new key item is shown neither with the pair nor with its reverse: otherwise a
    lookup table by unordered pair would contain the answer.
    """
    # crc32: Python's own hash of a text differs from process to process.
    random = np.random.default_rng([seed, zlib.crc32(eval_set.encode()), number])
    rows, is_heldout = list_asked_pairs(task)[eval_set]
    row = int(rows[number % len(rows)])
    pair = tuple(list_pairs(task)[row].tolist())
    asked_key = int(random.integers(*task.keys))
    equations = _draw_equations(task, random, shots, pair, asked_key)
    if not is_heldout and not eval_set.startswith('unseen'):
        shown = [key for *shown_pair, key, _ in equations if tuple(shown_pair) == pair]
        asked_key = int(random.choice(shown))
    answers = {}
    for mapping, shift in zip(MAPPINGS, list_shifts(task)[row].tolist(), strict=True):
        answers[mapping] = asked_key + shift
    return equations, (*pair, asked_key), answers


def _write_prompt(equations: list[Equation], asked: Numbers, instruct: bool) -> str:
    """The text of a question, which ends where the value begins."""
    lines = []
    if instruct:
        lines += [_INSTRUCTION, '']
    for *left, value in equations:
        lines.append(f'{_write_left_side(left)} = {value}')
    lines.append(f'{_write_left_side(asked)} =')
    return '\n'.join(lines)


def _draw_equations(
    task: AnchorsConfig,
    random: np.random.Generator,
    shots: int,
    asked_pair: tuple[int, ...],
    asked_key: int,
) -> list[Equation]:
    """Equations of all trained pairs, in a random order."""
    keys = np.arange(*task.keys)
    allowed = f'1 to {len(keys) - 1}: one key item is asked, of {len(keys)}'
    require(1 <= shots < len(keys), 'shots', shots, allowed)
    equations = []
    shifts = list_shifts(task)[:, _ASSIGNED].tolist()
    for pair, shift in zip(list_pairs(task).tolist(), shifts, strict=True):
        if tuple(pair) in task.unseen_pairs:
            continue
        is_asked = set(pair) == set(asked_pair)
        allowed_keys = keys[keys != asked_key] if is_asked else keys
        for key in random.choice(allowed_keys, shots, replace=False).tolist():
            equations.append((*pair, key, key + shift))
    return [equations[i] for i in random.permutation(len(equations))]


def _write_left_side(numbers: tuple[int, ...] | list[int]) -> str:
    listed = ', '.join(map(str, numbers))
    return f'({listed})'
