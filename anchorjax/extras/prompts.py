"""P1's question in context: few-shot equations of the anchor task for language models.

`(1, 2, 21) = 27` is the pair (1, 2) on the key item 21, as on P1's slides. A prompt has
equations of every trained pair, the exception among them, and asks for one more: one of
them (`seen_train`), a seen pair with a new key item (`seen_heldout`), or a pair that no
equation has (`unseen`). A reply is a line of a file, with all that its score needs.
"""

import itertools
import json
import os
import pathlib
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from anchorjax import files
from anchorjax.errors import (
    StoreError,
    TemporaryError,
    UserError,
    brief,
    import_extra,
    require,
)
from anchorjax.tasks.anchors import (
    MAPPINGS,
    AnchorsConfig,
    list_asked_pairs,
    list_pairs,
    list_shifts,
)

_INSTRUCTION = (
    'Each equation gives the value of one function of three whole numbers. '
    'Work out the last value. Reply with that number alone.\n\n'
)


class Prompt(NamedTuple):
    """One question to a language model."""

    id: str
    seed: int
    eval_set: str
    asked: tuple[int, int, int]  # first anchor, second anchor, key item
    prompt: str  # which ends where the value begins
    answers: dict[str, int]  # by mapping


def draw_prompts(
    task: Any, seeds: Iterable[int], number: int, shots: int
) -> Iterator[Prompt]:
    """`number` prompts for each seed and eval set.

    A prompt is a function of (task, seed, eval set, its number) alone, so that a larger
    set contains the smaller one.

    Args:
      shots: equations of every trained pair, with different key items.

    Raises:
      ConfigError: it is not the anchor task, or has too few key items.
    """
    is_anchors = isinstance(task, AnchorsConfig)
    require(is_anchors, 'task.name', task.name, "'anchors': it has equations")
    num_keys = task.keys[1] - task.keys[0]
    allowed = f'1 to {num_keys - 1}: one key item is asked, of {num_keys}'
    require(1 <= shots < num_keys, 'shots', shots, allowed)
    cells = itertools.product(seeds, list_asked_pairs(task), range(number))
    for seed, eval_set, i in cells:
        yield _draw_prompt(task, seed, eval_set, i, shots)


def _draw_prompt(
    task: AnchorsConfig, seed: int, eval_set: str, number: int, shots: int
) -> Prompt:
    """A question of an eval set.

    A new key item is shown neither with the pair nor with its reverse: otherwise a
    lookup table by unordered pair would contain the answer.
    """
    # crc32: Python's own hash of a text differs from process to process.
    random = np.random.default_rng([seed, zlib.crc32(eval_set.encode()), number])
    rows, _ = list_asked_pairs(task)[eval_set]
    row = int(rows[number % len(rows)])
    pair = tuple(list_pairs(task)[row].tolist())
    asked_key = int(random.integers(*task.keys))
    equations = _draw_equations(task, random, shots, pair, asked_key)
    if eval_set == 'seen_train':
        shown = [key for a, b, key, _ in equations if (a, b) == pair]
        asked_key = int(random.choice(shown))
    shifts = dict(zip(MAPPINGS, list_shifts(task)[row].tolist(), strict=True))
    answers = {mapping: asked_key + shift for mapping, shift in shifts.items()}
    lines = [f'({a}, {b}, {key}) = {value}' for a, b, key, value in equations]
    lines.append(f'({pair[0]}, {pair[1]}, {asked_key}) =')
    text = _INSTRUCTION + '\n'.join(lines)
    id = f'{seed}/{eval_set}/{number}'
    return Prompt(id, seed, eval_set, (*pair, asked_key), text, answers)


def _draw_equations(
    task: AnchorsConfig,
    random: np.random.Generator,
    shots: int,
    asked_pair: tuple[int, ...],
    asked_key: int,
) -> list[tuple[int, int, int, int]]:
    """(a1, a2, key item, value) of all trained pairs, in a random order."""
    keys = np.arange(*task.keys)
    equations = []
    shifts = list_shifts(task)[:, MAPPINGS.index('assigned')].tolist()
    for pair, shift in zip(list_pairs(task).tolist(), shifts, strict=True):
        if tuple(pair) in task.unseen_pairs:
            continue
        is_asked = set(pair) == set(asked_pair)
        allowed_keys = keys[keys != asked_key] if is_asked else keys
        for key in random.choice(allowed_keys, shots, replace=False).tolist():
            equations.append((*pair, key, key + shift))
    return [equations[i] for i in random.permutation(len(equations))]


def ask(
    prompts: Iterable[Prompt], path: pathlib.Path, settings: dict[str, Any]
) -> None:
    """Asks a chat model behind an OpenAI-compatible endpoint (extra `prompts`).

    A reply is appended to the file before the next prompt is asked, and what has one is
    not asked again. The key is the environment's OPENAI_API_KEY.

    Args:
      settings: `endpoint`, `model`, and `fields` of the request; kept with each reply.

    Raises:
      TemporaryError: no answer after the retries of the package openai.
      UserError: the endpoint refuses.
      StoreError: the file is damaged, or has replies to other prompts or settings.
    """
    openai = import_extra('openai', 'prompts')
    key = os.environ.get('OPENAI_API_KEY') or 'no key'  # the package demands one
    client = openai.OpenAI(base_url=settings['endpoint'], api_key=key)
    known = {row['id']: row for row in read_replies(path)} if path.exists() else {}
    for prompt in prompts:
        row = prompt._asdict() | {'asked': [*prompt.asked], 'settings': settings}
        if prompt.id not in known:
            said = [{'role': 'user', 'content': prompt.prompt}]
            named = {'model': settings['model'], 'extra_body': settings['fields']}
            try:
                done = client.chat.completions.create(messages=said, **named)
                # None: it only refused, or thought until it had to stop.
                reply = done.choices[0].message.content or ''
            except (openai.APIError, IndexError, TypeError, AttributeError) as e:
                status = getattr(e, 'status_code', 500)
                is_final = status < 500 and status not in (408, 409, 429)
                line = brief(f'{settings["endpoint"]}: {e}'.replace(key, '[key]'))
                raise (UserError if is_final else TemporaryError)(line) from None
            finish = done.choices[0].finish_reason  # 'stop', 'length', ...
            replied = {**row, 'reply': reply, 'finish': finish}
            files.append_line(path, json.dumps(replied))
        elif known[prompt.id] != known[prompt.id] | row:
            line = f'{path}: {prompt.id} was asked otherwise; give another --out'
            raise StoreError(line)


def read_replies(path: pathlib.Path) -> list[dict[str, Any]]:
    """The lines of a file of replies; StoreError names one that is damaged."""
    with files.report_in_one_line('read', path):
        lines = path.read_bytes().splitlines()
    rows = []
    for number, line in enumerate(lines, 1):
        row = files.parse_json(line, f'{path}, line {number}')
        if not isinstance(row, dict) or not {*Prompt._fields, 'reply'} <= row.keys():
            raise StoreError(f'{path}, line {number}: is no reply')
        rows.append(row)
    return rows


def score_replies(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A row for every reply: `seed`, `eval_set`, and what it follows, as bools.

    The columns are the mappings, `neither` (a number that follows none of them) and
    `unparsable` (no number). What is right by composing is not `symmetric` as well.
    """
    scores = []
    for row in rows:
        number = parse_reply(row['reply'], tuple(row['asked']))
        follows = {name: number == row['answers'][name] for name in MAPPINGS}
        follows['symmetric'] &= not follows['composed']
        is_neither = number is not None and not any(follows.values())
        score = {'seed': row['seed'], 'eval_set': row['eval_set'], **follows}
        scores.append(score | {'neither': is_neither, 'unparsable': number is None})
    columns = ['seed', 'eval_set', *MAPPINGS, 'neither', 'unparsable']
    return pd.DataFrame(scores, columns=columns)


# Models wrap a number in all kinds of text.
_WHOLE = r'(-?\d{1,9})(?![\d]|[.,]\d)'
_OPERATOR = r'[-+*/\N{EN DASH}\N{MULTIPLICATION SIGN}]'
# What an operator follows is part of a calculation, or of a range.
_NUMBER = rf'{_WHOLE}(?!\s*{_OPERATOR}\s*[\d(])'
_CALCULATION = rf'(?:{_OPERATOR}|[()\d\s])+=[\s*`$]*'  # with its '='
# At the very start, perhaps after '=' or in Markdown; '1. First ...' begins a list, and
# an arrow leads from what was asked.
_FIRST = re.compile(
    r'[\s=*`$"\'>]*' + _NUMBER + r'(?![.)]\s+\w|\s*(?:->|\N{RIGHTWARDS ARROW}))'
)
_CALCULATED = re.compile(rf'{_CALCULATION}{_NUMBER}[\s*`$]*\.?\s*')
# A number of another equation, 'the value of (3, 4, 50)', has commas after it.
_NAMED = re.compile(
    rf'\b(?:answer|value|result)\b[^\d\n-]{{0,40}}{_NUMBER}(?!\s*,\s*-?\d)', re.I
)
_BOXED = re.compile(rf'\\boxed\{{\s*{_NUMBER}\s*\}}')
_ANY = re.compile(rf'(?<![\d.,]){_WHOLE}')


def parse_reply(reply: str, asked: tuple[int, int, int]) -> int | None:
    """The whole number that the reply gives as the value of the asked equation.

    It is the first of these: what the reply begins with, unless that is of the
    question, or what it ends with if it is a calculation; what is in the last
    `\\boxed{}`; the right side of the last copy of the equation, perhaps after a
    calculation; what comes after the last 'answer', 'value' or 'result'; its only
    number but for what was asked. None: it has none of these signs, or no number.
    """
    text = reply.replace('\N{MINUS SIGN}', '-')
    left_side = r'\(?\s*\b' + r',\s*'.join(map(str, asked)) + r'\b\s*\)?'
    repeats_question = re.match(rf'[\s*`$]*{left_side}', text)
    match = _FIRST.match(text) or _CALCULATED.fullmatch(text)
    if match and not repeats_question:
        return int(match[1])
    equation = re.compile(rf'{left_side}[\s*`$]*=[\s*`$]*(?:{_CALCULATION})?{_NUMBER}')
    rest = re.sub(left_side, '', text)
    for pattern, where in ((_BOXED, text), (equation, text), (_NAMED, rest)):
        found = pattern.findall(where)
        if found:
            return int(found[-1])
    numbers = _ANY.findall(rest)
    return int(numbers[0]) if len(numbers) == 1 else None
