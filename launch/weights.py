"""GPT-2 weights as Hugging Face keeps them: out of a sweep, and into one.

  python launch/weights.py show --weights models/gpt2
  python launch/weights.py export --run runs/gpt2 --out models/ours --gamma=0.8 --seed=0

`show` prints what a file holds and the flags that start a sweep from it. `export`
writes a member of GPT-2 as a folder for `GPT2LMHeadModel.from_pretrained`:
model.safetensors and config.json. It needs a value for every axis that varies in the
sweep; --step=N takes a snapshot instead of the last parameters. Both need the extra
`llm`. Only safetensors are read or written.
"""

import jax

from analysis.figure import parse_axis
from anchorjax import cli, models
from anchorjax.errors import UserError
from anchorjax.hashing import digest_file
from anchorjax.models import gpt2_weights
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.storage.reader import open_run


def command() -> None:
    cli.run_subcommand({'show': show, 'export': export}, __doc__)


def show(words: list[str]) -> None:
    """Prints sizes and digest of a file, and how to start from it."""
    parser = cli.Parser(prog='weights.py show', description=__doc__)
    text = 'a .safetensors file, or a folder with model.safetensors'
    parser.add_argument('--weights', type=cli.parse_file, required=True, help=text)
    flags = parser.parse_args(words)
    path = gpt2_weights.find_weights(flags.weights)
    fields, vocab = gpt2_weights.read_sizes(path)
    model = GPT2Config(**fields)
    leaves = jax.tree.leaves(models.abstract_params(model, vocab))
    number = sum(leaf.size for leaf in leaves)
    print(f'{path}: GPT-2, {vocab:,} tokens, {number:,} parameters')
    print('to start from it:')
    for field in ('depth', 'width', 'heads', 'max_len', 'eps'):
        print(f'  --config.model.{field}={getattr(model, field)}')
    print(f'  --config.model.start={path.absolute()}')
    print(f'  --config.model.start_sha256={digest_file(path)}')


def export(words: list[str]) -> None:
    """Writes one member."""
    parser = cli.Parser(prog='weights.py export', description=__doc__)
    parser.add_argument('--run', type=cli.parse_folder, required=True)
    text = 'folder of the model; must be new'
    parser.add_argument('--out', type=cli.parse_folder, required=True, help=text)
    flags, rest = parser.parse_known_args(words)
    point = dict(map(parse_axis, rest))
    step = point.pop('step', 'last')
    run = open_run(flags.run)
    model = run.experiment_of(**point).model
    if not isinstance(model, GPT2Config):
        raise UserError(f'{flags.run}: model {model.name!r}: must be gpt2')
    if flags.out.exists():
        raise UserError(f'{flags.out}: exists; give another --out')
    params = run.params(step, **point)
    for path in gpt2_weights.write_model(flags.out, params, model.heads, model.eps):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
