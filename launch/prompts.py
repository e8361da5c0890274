"""How does a language model answer? Prompts of the anchor task, replies and scores.

  python launch/prompts.py write --config configs/phase.py:paper --out prompts
  python launch/prompts.py ask --prompts prompts --local models/gpt2
  python launch/prompts.py ask --prompts prompts --endpoint https://HOST/v1 --model NAME
  python launch/prompts.py score --prompts prompts [--run runs/phase]

`write` draws few-shot equations `(1, 2, 21) = 27` for any config of the anchor task;
the pair (3, 4) is shown with its exception, and (4, 3) is asked. `ask` gets the replies
of a model on this machine (extra `llm`) or behind an OpenAI-compatible endpoint (extra
`prompts`), whose key is in a variable of the environment and nowhere else. The same
command continues: what has a reply is not asked again. `score` reads replies/*.jsonl,
also from elsewhere (lines with "id" and "reply"), into replies.csv and a figure, beside
our own members.
"""

import argparse
import json
import sys
from typing import Any

import pandas as pd
from tqdm import tqdm

from analysis.drawing import style
from analysis.p1 import replies as figure
from anchorjax import cli
from anchorjax.errors import UserError, brief
from anchorjax.extras.prompts import files, models
from anchorjax.extras.prompts.questions import draw_prompts
from anchorjax.extras.prompts.scores import score_replies
from anchorjax.files import write_text
from anchorjax.storage import locks
from anchorjax.storage.reader import open_run


def command() -> None:
    cli.run_subcommand({'write': write, 'ask': ask, 'score': score}, __doc__)


def write(words: list[str]) -> None:
    """Writes the prompts of a config."""
    parser = cli.Parser(prog='prompts.py write', description=__doc__)
    add = parser.add_argument
    add('--out', type=cli.parse_folder, required=True, help='folder of the prompts')
    text = 'questions for each eval set, setting and seed (%(default)s)'
    add('--number', type=int, default=50, help=text)
    text = 'equations shown of every trained pair (%(default)s)'
    add('--shots', type=int, default=4, help=text)
    text = 'equations alone, for models that only continue a text'
    add('--no_instruction', action='store_true', help=text)
    flags, experiment = cli.parse_command_line(parser, words)
    instruct = not flags.no_instruction
    prompts = draw_prompts(experiment, flags.number, flags.shots, instruct)
    files.write_prompts(flags.out, prompts)
    print(f'{flags.out}: {len(prompts):,} prompts')


def ask(words: list[str]) -> None:
    """Asks a model what has no reply yet, one prompt after another."""
    flags = parse_ask(words)
    prompts = files.read_prompts(flags.prompts)
    settings = describe_model(flags)
    name = flags.name or settings['model'].rpartition('/')[2]
    path = files.reply_path(flags.prompts, name)
    model = make_model(flags, settings)
    with locks.hold_folder(path.with_suffix('.lock')):
        rows = files.resume_rows(path, settings)
        known = {row.get('id') for row in rows}
        waiting = [prompt for prompt in prompts if prompt.id not in known]
        num_kept = len(prompts) - len(waiting)
        bar = tqdm(waiting, initial=num_kept, total=len(prompts), disable=None)
        for prompt in bar:
            reply, finish = model.ask(prompt.prompt, prompt.id)
            rows.append({'id': prompt.id, 'reply': reply, 'finish': finish})
            files.write_rows(path, rows)
    print(f'{path}: {len(waiting):,} new replies, {len(prompts):,} in all')


def parse_ask(words: list[str]) -> argparse.Namespace:
    parser = cli.Parser(prog='prompts.py ask', description=__doc__)
    add = parser.add_argument
    add('--prompts', type=cli.parse_folder, required=True, help='folder of the prompts')
    where = parser.add_mutually_exclusive_group(required=True)
    text = 'folder of a Hugging Face causal language model'
    where.add_argument('--local', type=cli.parse_folder, metavar='FOLDER', help=text)
    text = 'address of an OpenAI-compatible API, up to /v1'
    where.add_argument('--endpoint', metavar='URL', help=text)
    add('--model', metavar='NAME', help="the model's name at the endpoint")
    add('--name', help='of the file of replies; default: the model')
    text = "'chat', or 'completions': continue the text; default: chat at an endpoint"
    add('--api', choices=('chat', 'completions'), help=text)
    add('--max_tokens', type=int, default=64, help='longest reply (%(default)s)')
    text = 'JSON with more fields of the request; null removes one'
    add('--fields', type=parse_fields, default={}, metavar='JSON', help=text)
    text = 'variable of the environment with the key (%(default)s)'
    add('--key_variable', default='OPENAI_API_KEY', metavar='NAME', help=text)
    add('--retries', type=int, default=6, help='of one request (%(default)s)')
    text = 'seconds for one request (%(default)g)'
    add('--timeout', type=cli.parse_positive, default=120.0, help=text)
    flags = parser.parse_args(words)
    if flags.endpoint and not flags.model:
        raise UserError('--endpoint needs --model NAME')
    if flags.local and (flags.model or flags.fields):
        raise UserError('--model and --fields: of an --endpoint alone')
    if flags.retries < 0 or flags.max_tokens < 1:
        raise UserError('--retries must be at least 0, --max_tokens at least 1')
    return flags


def describe_model(flags: argparse.Namespace) -> dict[str, Any]:
    """What the replies depend on; kept beside them."""
    if flags.local:
        model = str(flags.local.absolute())
        is_chat = flags.api == 'chat'
        return {'model': model, 'chat': is_chat, 'max_tokens': flags.max_tokens}
    fields = {'max_tokens': flags.max_tokens, 'temperature': 0, **flags.fields}
    fields = {name: value for name, value in fields.items() if value is not None}
    return {
        'endpoint': flags.endpoint,
        'model': flags.model,
        'api': flags.api or 'chat',
        'fields': fields,
    }


def make_model(flags: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Something with a method ask(prompt, id) -> (reply, why it ended)."""
    if flags.local:
        return models.LocalModel(flags.local, settings['chat'], flags.max_tokens)
    key = models.read_key(flags.key_variable)
    return models.Endpoint(settings, key, flags.timeout, flags.retries)


def score(words: list[str]) -> None:
    """Scores all replies of a folder, and draws them."""
    parser = cli.Parser(prog='prompts.py score', description=__doc__)
    add = parser.add_argument
    add('--prompts', type=cli.parse_folder, required=True, help='folder of the prompts')
    text = 'a sweep of the same task, to be shown beside'
    add('--run', type=cli.parse_folder, help=text)
    flags = parser.parse_args(words)
    prompts = files.read_prompts(flags.prompts)
    tables = []
    for path in sorted((flags.prompts / files.REPLIES_FOLDER).glob('*.jsonl')):
        reply_of = files.read_replies(path)
        if not reply_of:
            print(f'warning: {path}: no replies yet; left out', file=sys.stderr)
            continue
        try:
            table = score_replies(prompts, reply_of)
        except UserError as e:
            raise UserError(f'{path}: {e}') from None
        table.insert(0, 'model', path.stem)
        tables.append(table)
    if not tables:
        folder = flags.prompts / files.REPLIES_FOLDER
        raise UserError(f'{folder}: no replies (*.jsonl)')
    table = pd.concat(tables)
    run = open_run(flags.run) if flags.run else None
    result = figure.compute(table, run)
    path = flags.prompts / 'replies.csv'
    write_text(path, table.to_csv(index=False))
    picture = flags.prompts / 'figures' / 'replies'
    paths = style.write_figure(result, figure.draw, figure.layout, picture)
    print(table.to_string(index=False, float_format='{:.3g}'.format))
    print(path, *paths, sep='\n')


def parse_fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        allowed = 'must be a JSON object, e.g. {"seed": 1}'
        raise argparse.ArgumentTypeError(f'{brief(text)!r}: {allowed}')
    return fields


if __name__ == '__main__':
    cli.run_command(command)
