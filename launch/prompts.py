"""How does a language model answer? P1's questions in context, replies and scores.

  python launch/prompts.py ask --config configs/phase.py:paper --out prompts \\
      --endpoint https://HOST/v1 --model NAME
  python launch/prompts.py score --out prompts [--run runs/phase]

`ask` draws few-shot equations `(1, 2, 21) = 27` of the anchor task of a config for a
chat model behind an OpenAI-compatible endpoint (extra `prompts`; OPENAI_API_KEY has the
key). What has a reply in OUT/NAME.jsonl is not asked again. `score` draws what all
replies in a folder say, beside the members of a sweep.
"""

import json

from tqdm import tqdm

from analysis.drawing import style
from analysis.p1 import replies
from anchorjax import cli
from anchorjax.config.consistency import check_name
from anchorjax.extras import prompts
from anchorjax.storage import locks
from anchorjax.storage.reader import open_run


def command() -> None:
    cli.run_subcommand({'ask': ask, 'score': score}, __doc__)


def ask(words: list[str]) -> None:
    """Asks a model what has no reply yet, one prompt after another."""
    parser = cli.Parser(prog='prompts.py ask', description=__doc__)
    add = parser.add_argument
    add('--out', type=cli.parse_folder, required=True, help='folder of the replies')
    add('--endpoint', metavar='URL', required=True, help='up to /v1')
    add('--model', metavar='NAME', required=True)
    add('--number', type=int, default=50, help='for each eval set and seed')
    add('--shots', type=int, default=4, help='equations of every trained pair')
    text = 'more of the request, as JSON (%(default)s)'
    default = '{"temperature": 0, "max_tokens": 64}'
    add('--fields', type=json.loads, default=default, metavar='JSON', help=text)
    flags, experiment = cli.parse_command_line(parser, words)
    name = flags.model.rpartition('/')[2]
    check_name(name)
    path = flags.out / f'{name}.jsonl'
    settings = {name: getattr(flags, name) for name in ('endpoint', 'model', 'fields')}
    sizes = experiment.grid.seed, flags.number, flags.shots
    asked = list(prompts.draw_prompts(experiment.task, *sizes))
    with locks.hold_file(path):
        prompts.ask(tqdm(asked, disable=None), path, settings)
    print(f'{path}: {len(asked):,} replies')


def score(words: list[str]) -> None:
    """Scores all replies of a folder, and draws them."""
    parser = cli.Parser(prog='prompts.py score', description=__doc__)
    add = parser.add_argument
    add('--out', type=cli.parse_folder, required=True, help='folder of the replies')
    add('--run', type=cli.parse_folder, help='a sweep of the same task')
    flags = parser.parse_args(words)
    tables = {}
    for path in sorted(flags.out.glob('*.jsonl')):
        tables[path.stem] = prompts.score_replies(prompts.read_replies(path))
    run = open_run(flags.run) if flags.run else None
    bars = replies.compute(tables, run)
    print(bars.to_string(index=False, float_format='{:.3g}'.format))
    look = replies.draw_bars, replies.layout
    print(*style.write_figure(bars, *look, flags.out / 'replies'), sep='\n')


if __name__ == '__main__':
    cli.run_command(command)
