"""What a language model replies: the number in a text, and whose answer it is."""

import re

import pandas as pd

from anchorjax.errors import UserError, brief
from anchorjax.extras.prompts.questions import Prompt
from anchorjax.tasks.anchors import MAPPINGS

CELL = ['cohort', 'seed', 'eval_set']
# Models wrap a number in all kinds of text.
_WHOLE = r'(-?\d{1,9})(?![\d]|[.,]\d)'
_OPERATOR = r'[-+*/\N{EN DASH}\N{MULTIPLICATION SIGN}]'
# What an operator follows is part of a calculation, or of a range.
_NUMBER = rf'{_WHOLE}(?!\s*{_OPERATOR}\s*[\d(])'
_CALCULATION = rf'(?:{_OPERATOR}|[()\d\s])+=[\s*`$]*'  # with its '='
# At the very start, perhaps after '=' or in Markdown; '1. First ...' begins a list, and
# an arrow leads from what was asked.
_FIRST = re.compile(
    rf'[\s=*`$"\'>]*{_NUMBER}(?![.)]\s+\w|\s*(?:->|\N{{RIGHTWARDS ARROW}}))'
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

    It is the first of these that the reply has:
      the number that it begins with, unless that is of the question, or with which it
        ends if it is a calculation;
      the number in the last `\\boxed{}`;
      the right side of the last copy of the equation, perhaps after a calculation;
      the number after the last 'answer', 'value' or 'result';
      its only number, not counting what was asked.
    None: it has several numbers and none of these signs, or no number.

    Args:
      asked: first anchor, second anchor, key item.
    """
    text = reply.replace('\N{MINUS SIGN}', '-')
    left_side = r'\(?\s*\b' + r',\s*'.join(map(str, asked)) + r'\b\s*\)?'
    repeats_question = re.match(rf'[\s*`$]*{left_side}', text)
    match = _FIRST.match(text) or _CALCULATED.fullmatch(text)
    if match and not repeats_question:
        return int(match[1])
    equation = re.compile(rf'{left_side}[\s*`$]*=[\s*`$]*(?:{_CALCULATION})?{_NUMBER}')
    for pattern in (_BOXED, equation):
        found = pattern.findall(text)
        if found:
            return int(found[-1])
    rest = re.sub(left_side, '', text)
    named = _NAMED.findall(rest)
    if named:
        return int(named[-1])
    numbers = _ANY.findall(rest)
    if len(numbers) == 1:
        return int(numbers[0])
    return None


def score_replies(prompts: list[Prompt], reply_of: dict[str, str]) -> pd.DataFrame:
    """A row for every cell (cohort, seed, eval set) of the prompts.

    Columns besides CELL: `prompts`, how many `replies` they have, and the shares of
    these that give the answer of each mapping, `neither` (a number that follows no
    mapping) and `unparsable` (no number); NaN without replies. An answer that is right
    by composing is not `symmetric` as well.

    Raises:
      UserError: there is a reply to no prompt, or to none of them.
    """
    unknown = set(reply_of) - {prompt.id for prompt in prompts}
    if unknown:
        raise UserError(f'a reply to {brief(min(unknown))}: there is no such prompt')
    if not reply_of:
        raise UserError('no replies')
    table = pd.DataFrame([_score_prompt(prompt, reply_of) for prompt in prompts])
    names = [*MAPPINGS, 'neither', 'unparsable']
    table[names] = table[names].astype(float)
    cells = table.groupby(CELL, sort=False)
    counts = cells.replied.agg(prompts='size', replies='sum')
    return counts.join(cells[names].mean()).reset_index()


def _score_prompt(prompt: Prompt, reply_of: dict[str, str]) -> dict[str, object]:
    """The cell of a prompt, and what its reply says; nothing without a reply."""
    row = {'cohort': prompt.cohort, 'seed': prompt.seed, 'eval_set': prompt.eval_set}
    row['replied'] = prompt.id in reply_of
    if not row['replied']:
        return row
    number = parse_reply(reply_of[prompt.id], prompt.asked)
    follows = {mapping: number == prompt.answers[mapping] for mapping in MAPPINGS}
    follows['symmetric'] &= not follows['composed']
    row['unparsable'] = number is None
    row['neither'] = number is not None and not any(follows.values())
    return row | follows
