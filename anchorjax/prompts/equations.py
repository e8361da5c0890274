"""Few-shot equations of the anchor task, as the slides of P1 show them.

`(1, 2, 21) = 27` is the pair (1, 2) on the key item 21. A question shows equations of
every trained pair, the exception among them, and asks for one more: an equation that
stands in it (`seen_train`), a seen pair with a new key item (`seen_heldout`), or a pair
that no equation has (`unseen`). These are the probes of our own members.
"""

import zlib
from typing import NamedTuple

import numpy as np

from anchorjax.errors import require
from anchorjax.tasks.anchors import (
    MAPPINGS,
    list_pairs,
    list_probed_pairs,
    list_shifts,
)
from anchorjax.tasks.anchors_config import AnchorsConfig

_ASSIGNED = MAPPINGS.index('assigned')
_INSTRUCTION = (
    'Each equation gives the value of one function of three whole numbers. '
    'Work out the last value. Reply with that number alone.'
)


class Equation(NamedTuple):
    """(first, second, key) = value."""

    first: int  # the anchors
    second: int
    key: int
    value: int


class Question(NamedTuple):
    """Equations to learn from, and one to complete."""

    probe: str
    equations: tuple[Equation, ...]
    asked: tuple[int, int, int]  # first, second, key
    answers: dict[str, int]  # by mapping


def draw_questions(
    config: AnchorsConfig, seed: int, number: int, shots: int
) -> list[Question]:
    """`number` questions for each probe of the task.

    A question is a function of (config, seed, probe, its number) alone, so that a
    larger set begins with the smaller one.

    Args:
      shots: equations of every trained pair, with different key items.

    Raises:
      ConfigError: there are too few key items.
    """
    low, high = config.keys
    num_keys = high - low
    allowed = f'1 to {num_keys - 1}: one key item is asked, of {num_keys}'
    require(1 <= shots < num_keys, 'shots', shots, allowed)
    require(number >= 1, 'number', number, 'at least 1')
    questions = []
    for probe, (rows, heldout) in list_probed_pairs(config).items():
        is_new = heldout or probe.startswith('unseen')
        # crc32: Python's own hash of a text differs from process to process.
        probe_seed = zlib.crc32(probe.encode())
        for i in range(number):
            random = np.random.default_rng([seed, probe_seed, i])
            row = int(rows[i % len(rows)])
            question = _draw_question(config, random, probe, row, is_new, shots)
            questions.append(question)
    return questions


def write_prompt(question: Question, instruct: bool) -> str:
    """The text of a question, which ends where the value begins.

    Args:
      instruct: begin with what to do, for models that follow instructions; without it
        the equations are to be continued.
    """
    lines = []
    if instruct:
        lines += [_INSTRUCTION, '']
    for equation in question.equations:
        left = _write_left_side(equation[:3])
        lines.append(f'{left} = {equation.value}')
    left = _write_left_side(question.asked)
    lines.append(f'{left} =')
    return '\n'.join(lines)


def _draw_question(
    config: AnchorsConfig,
    random: np.random.Generator,
    probe: str,
    row: int,
    is_new: bool,
    shots: int,
) -> Question:
    """A question about the pair of this row.

    A new key item is shown neither with the pair nor with its reverse: else a table by
    unordered pair would have the answer.
    """
    first, second = list_pairs(config)[row].tolist()
    asked_key = int(random.integers(*config.keys))
    equations = _draw_equations(config, random, shots, (first, second), asked_key)
    if not is_new:
        shown = [e.key for e in equations if e[:2] == (first, second)]
        asked_key = int(random.choice(shown))
    answers = {}
    shifts = list_shifts(config)[row].tolist()
    for mapping, shift in zip(MAPPINGS, shifts, strict=True):
        answers[mapping] = asked_key + shift
    return Question(probe, equations, (first, second, asked_key), answers)


def _draw_equations(
    config: AnchorsConfig,
    random: np.random.Generator,
    shots: int,
    asked_pair: tuple[int, int],
    asked_key: int,
) -> tuple[Equation, ...]:
    """Equations of all trained pairs, in a random order."""
    all_pairs = list_pairs(config).tolist()
    shifts = list_shifts(config)[:, _ASSIGNED].tolist()
    keys = np.arange(*config.keys)
    equations = []
    for (first, second), shift in zip(all_pairs, shifts, strict=True):
        if (first, second) in config.unseen_pairs:
            continue
        allowed = keys
        if {first, second} == set(asked_pair):
            allowed = keys[keys != asked_key]
        for key in random.choice(allowed, shots, replace=False).tolist():
            equations.append(Equation(first, second, key, key + shift))
    order = random.permutation(len(equations))
    return tuple(equations[i] for i in order)


def _write_left_side(numbers: tuple[int, ...]) -> str:
    listed = ', '.join(map(str, numbers))
    return f'({listed})'
