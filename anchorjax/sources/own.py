"""Writes the data sets by our own rules, in the official formats.

SCAN and addition are exactly the official sets. COGS and PrOntoQA are drawn from the
same distribution: cogs-like, and new questions.
"""

import json
from collections.abc import Iterator

import numpy as np

from anchorjax.tasks import AdditionConfig, ProntoqaConfig, prontoqa
from anchorjax.tasks.cogs import list_rows
from anchorjax.tasks.cogs.cases import Row
from anchorjax.tasks.cogs.files import NUM_ROWS
from anchorjax.tasks.prontoqa.files import format_questions
from anchorjax.tasks.prontoqa.texts import write_answer, write_prompt
from anchorjax.tasks.scan import count_lines
from anchorjax.tasks.scan.files import format_line
from anchorjax.tasks.scan.grammar import SPLITS, interpret, list_commands, list_lines

QUESTIONS_FILE = 'questions.json'  # of our own prontoqa


def write_addition() -> Iterator[tuple[str, str, int]]:
    """(file name, text, rows): every pair outside the square, and every one inside."""
    config = AdditionConfig()
    low, high = config.square
    trained, tested = [], []
    for a in range(config.num_operands):
        for b in range(config.num_operands):
            line = f'{a}+{b}={a + b}\n'
            if low <= a <= high and low <= b <= high:
                tested.append(line)
            else:
                trained.append(line)
    yield 'train.txt', ''.join(trained), len(trained)
    yield 'test.txt', ''.join(tested), len(tested)


def write_scan() -> Iterator[tuple[str, str, int]]:
    """All commands, and two files for every split, named as the official ones."""
    lines = []
    for command in list_commands():
        lines.append(format_line(command, interpret(command)) + '\n')
    yield 'tasks.txt', ''.join(lines), len(lines)
    for split in SPLITS:
        rows = list_lines(split)
        trained = _take(lines, rows.trained)
        if rows.primitive is not None:
            number = count_lines(split) - len(trained)
            trained += [lines[rows.primitive]] * number
        tested = _take(lines, rows.tested)
        yield f'tasks_train_{split}.txt', ''.join(trained), len(trained)
        yield f'tasks_test_{split}.txt', ''.join(tested), len(tested)


def write_cogs(seed: int) -> Iterator[tuple[str, str, int]]:
    """Files with as many rows as the official ones: cogs-like."""
    num_trained, num_dev = NUM_ROWS['train'], NUM_ROWS['dev']
    rows = list_rows('', seed, num_dev, NUM_ROWS['gen'])
    order = np.random.default_rng(seed).permutation(num_trained)
    trained = [rows[i] for i in order]
    parts = {
        'train.tsv': trained,
        'dev.tsv': rows[num_trained : num_trained + num_dev],
        'gen.tsv': rows[num_trained + num_dev :],
    }
    for name, of_part in parts.items():
        yield name, _format_rows(of_part), len(of_part)


def write_prontoqa(config: ProntoqaConfig) -> Iterator[tuple[str, str, int]]:
    """The questions of a config: in the official generator's format, and as texts.

    A text is a question with its proof and judgement, for a language model to be
    trained on (DATASETS 4.2).
    """
    questions = prontoqa.list_questions(config)
    text = json.dumps(format_questions(questions), indent=1) + '\n'
    yield QUESTIONS_FILE, text, len(questions)
    rows = []
    for question in questions:
        answer = write_answer(question, chain_of_thought=True)
        rows.append(json.dumps({'text': f'{write_prompt(question)} {answer}'}) + '\n')
    yield 'texts.jsonl', ''.join(rows), len(questions)


def _take(lines: list[str], rows: np.ndarray) -> list[str]:
    return [lines[row] for row in rows]


def _format_rows(rows: list[Row]) -> str:
    return ''.join('\t'.join(row) + '\n' for row in rows)
