"""How does a language model answer? Prompts of the anchor task, replies and scores.

  python launch/prompts.py write --config configs/phase.py:paper --out prompts
  python launch/prompts.py ask --prompts prompts --local models/gpt2
  python launch/prompts.py ask --prompts prompts --endpoint https://HOST/v1 --model NAME
  python launch/prompts.py score --prompts prompts [--run runs/phase]

`write` draws few-shot equations `(1, 2, 21) = 27` for any config of the anchor task;
the pair (3, 4) is shown with its exception, and (4, 3) is asked. `ask` gets the replies
of a model on this machine (extra `llm`) or behind an OpenAI-compatible endpoint, whose
key is in a variable of the environment and nowhere else. The same command continues:
what has a reply is not asked again. `score` reads replies/*.jsonl, also from elsewhere
(lines with "id" and "reply"), into results.nc and a figure, beside our own members.
"""

import argparse
import json
import sys
from typing import Any

import pandas as pd
import xarray as xr

from analysis import replies as figure
from analysis.drawing import style
from anchorjax import cli
from anchorjax.errors import UserError, brief
from anchorjax.prompts import endpoint
from anchorjax.prompts.asking import LanguageModel, Pace, Progress, ask_all
from anchorjax.prompts.local_model import LocalModel
from anchorjax.prompts.prompt_files import (
    REPLIES_FOLDER,
    make_prompts,
    read_folder,
    reply_path,
    write_folder,
)
from anchorjax.prompts.reply_files import open_replies, read_replies
from anchorjax.prompts.scores import make_cube
from anchorjax.storage import atomic
from anchorjax.storage.reader import open_run
from anchorjax.sweeps.progress import format_duration

_LONGEST_TIMEOUT = 86_400.0  # seconds


def command() -> None:
    cli.run_subcommand({'write': write, 'ask': ask, 'score': score}, __doc__)


def write(words: list[str]) -> None:
    """Writes the prompts of a config."""
    parser = cli.subcommand_parser('prompts.py write', __doc__)
    add = parser.add_argument
    add('--out', type=cli.parse_folder, required=True, help='folder of the prompts')
    text = 'questions for each probe, setting and seed (%(default)s)'
    add('--number', type=int, default=50, help=text)
    text = 'equations shown of every trained pair (%(default)s)'
    add('--shots', type=int, default=4, help=text)
    text = 'equations alone, for models that only continue a text'
    add('--no_instruction', action='store_true', help=text)
    flags, experiment = cli.parse_command_line(parser, words)
    prompts = make_prompts(
        experiment, flags.number, flags.shots, not flags.no_instruction
    )
    total = write_folder(flags.out, prompts)
    print(f'{flags.out}: {total:,} prompts')


def ask(words: list[str]) -> None:
    """Asks a model what has no reply yet."""
    flags = parse_ask(words)
    prompts = read_folder(flags.prompts)
    model, settings = make_model(flags)
    name = flags.name or settings['model'].rpartition('/')[2]
    path = reply_path(flags.prompts, name)
    with open_replies(path, settings) as file:
        num_asked = ask_all(
            prompts.list_prompts(),
            file,
            model,
            pace=Pace(flags.per_minute),
            retries=flags.retries,
            report=show_progress,
        )
    print(f'{path}: {num_asked:,} new replies, {len(file.replies):,} in all')


def parse_ask(words: list[str]) -> argparse.Namespace:
    parser = cli.subcommand_parser('prompts.py ask', __doc__)
    add = parser.add_argument
    add('--prompts', type=cli.parse_folder, required=True, help='folder of the prompts')
    where = parser.add_mutually_exclusive_group(required=True)
    text = 'folder of a Hugging Face causal language model'
    where.add_argument('--local', type=cli.parse_folder, metavar='FOLDER', help=text)
    text = 'address of an OpenAI-compatible API, up to /v1'
    where.add_argument('--endpoint', metavar='URL', help=text)
    add('--model', metavar='NAME', help="the model's name at the endpoint")
    add('--name', help='of the file of replies; default: the model')
    apis = ('chat', 'completions')
    text = "'chat', or 'completions': continue the text; default: chat at an endpoint"
    add('--api', choices=apis, help=text)
    add('--max_tokens', type=int, default=64, help='longest reply (%(default)s)')
    text = 'JSON with more fields of the request; null removes one'
    add('--fields', type=parse_fields, default={}, metavar='JSON', help=text)
    text = 'variable of the environment with the key (%(default)s)'
    add('--key_variable', default='OPENAI_API_KEY', metavar='NAME', help=text)
    text = 'most requests a minute (%(default)g)'
    add('--per_minute', type=cli.parse_positive, default=60.0, help=text)
    add('--retries', type=int, default=6, help='of one request (%(default)s)')
    text = 'seconds for one reply (%(default)g)'
    add('--timeout', type=parse_seconds, default=120.0, help=text)
    flags = parser.parse_args(words)
    if flags.endpoint and not flags.model:
        raise UserError('--endpoint needs --model NAME')
    if flags.retries < 0 or flags.max_tokens < 1:
        raise UserError('--retries must be at least 0, --max_tokens at least 1')
    return flags


def make_model(flags: argparse.Namespace) -> tuple[LanguageModel, dict[str, Any]]:
    """The model that the flags name, and the settings its replies depend on."""
    if flags.local:
        folder = flags.local.absolute()
        is_chat = flags.api == 'chat'
        settings = {'model': str(folder), 'chat': is_chat}
        settings['max_tokens'] = flags.max_tokens
        return LocalModel(folder, is_chat, flags.max_tokens), settings
    fields = {'max_tokens': flags.max_tokens, 'temperature': 0, **flags.fields}
    fields = {name: value for name, value in fields.items() if value is not None}
    api = flags.api or 'chat'
    at_endpoint = endpoint.Settings(flags.endpoint, flags.model, api, fields)
    key = endpoint.read_key(flags.key_variable)
    model = endpoint.Endpoint(at_endpoint, key, flags.timeout)
    return model, at_endpoint._asdict()


def score(words: list[str]) -> None:
    """Scores all replies of a folder, and draws them."""
    parser = cli.subcommand_parser('prompts.py score', __doc__)
    add = parser.add_argument
    add('--prompts', type=cli.parse_folder, required=True, help='folder of the prompts')
    text = 'a sweep of the same task, to be shown beside'
    add('--run', type=cli.parse_folder, help=text)
    flags = parser.parse_args(words)
    prompts = read_folder(flags.prompts)
    replies_of, empty = {}, []
    for path in sorted((flags.prompts / REPLIES_FOLDER).glob('*.jsonl')):
        replies = read_replies(path)
        if replies:
            replies_of[path.stem] = replies
        else:
            empty.append(path)
    if not replies_of:
        raise UserError(f'{flags.prompts / REPLIES_FOLDER}: no replies (*.jsonl)')
    for path in empty:
        print(f'warning: {path}: no replies yet; left out', file=sys.stderr)
    cube = make_cube(prompts, replies_of)
    run = open_run(flags.run) if flags.run else None
    result = figure.compute(cube, run)
    paths = [flags.prompts / 'results.nc', flags.prompts / 'replies.csv']
    atomic.write_atomic(paths[0], cube.to_netcdf)
    table = tabulate(cube)
    atomic.write_text(paths[1], table.to_csv(index=False))
    picture = flags.prompts / 'figures' / 'replies'
    paths += style.write_figure(result, figure.draw, figure.layout, picture)
    print(table.to_string(index=False, float_format='{:.3g}'.format))
    print(*paths, sep='\n')


def tabulate(cube: xr.Dataset) -> pd.DataFrame:
    """A row for every model, setting, seed and probe: replies and shares."""
    names = ['replies', 'neither', 'unparsable']
    table = cube[names].to_dataframe()
    for mapping in cube.mapping.values:
        table[mapping] = cube.agreement.sel(mapping=mapping).to_series()
    table = table.reset_index().dropna(axis='columns', how='all')
    return table.drop(columns='mapping', errors='ignore')


def show_progress(progress: Progress) -> None:
    """'  37/320  1.9 a second, 2 min left, 3 retries', rewritten in place."""
    rate = progress.asked / max(progress.seconds, 1e-9)
    left = format_duration((progress.total - progress.done) / rate)
    line = f'  {progress.done}/{progress.total}  {rate:.2g} a second, {left} left'
    if progress.retries:
        line += f', {progress.retries} retries (last: {progress.trouble})'
    end = '\n' if progress.done == progress.total else ''
    print(f'\r\x1b[K{line}', end=end, file=sys.stderr, flush=True)


def parse_fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        allowed = 'must be a JSON object, e.g. {"seed": 1}'
        raise argparse.ArgumentTypeError(f'{brief(text)!r}: {allowed}')
    return fields


def parse_seconds(text: str) -> float:
    """A number of seconds for which a socket can wait."""
    return cli.parse_positive(text, most=_LONGEST_TIMEOUT)


if __name__ == '__main__':
    cli.run_command(command)
