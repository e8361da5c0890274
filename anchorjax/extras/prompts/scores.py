"""How often a language model's replies follow each mapping."""

import pandas as pd

from anchorjax.errors import UserError, brief
from anchorjax.extras.prompts.parsing import parse_reply
from anchorjax.extras.prompts.questions import Prompt
from anchorjax.tasks.anchors import MAPPINGS

CELL = ['cohort', 'seed', 'probe']


def score_replies(prompts: list[Prompt], reply_of: dict[str, str]) -> pd.DataFrame:
    """A row for every cell (cohort, seed, probe) of the prompts.

    Columns besides CELL: `prompts`, how many `replies` they have, and the shares of
    these that give the answer of each mapping, `neither` (a number that follows no
    mapping) and `unparsable` (no number); NaN without replies.

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
    row = {'cohort': prompt.cohort, 'seed': prompt.seed, 'probe': prompt.probe}
    row['replied'] = prompt.id in reply_of
    if not row['replied']:
        return row
    number = parse_reply(reply_of[prompt.id], prompt.asked)
    follows = {mapping: number == prompt.answers[mapping] for mapping in MAPPINGS}
    row['unparsable'] = number is None
    row['neither'] = number is not None and not any(follows.values())
    return row | follows
