"""One of the authors' own checkpoints: its sizes, its answers, and figures of it.

python -m analysis official --weights model_209.pt
python -m analysis official --weights model_209.pt --heads=4 --figure=attention_flow
"""

import argparse
import dataclasses
import math
import pathlib

import jax
import numpy as np

from analysis import figure
from anchorjax import cli, config
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_AXES
from anchorjax.models.transformer import ACTIVATIONS, NORMS, Activation, Norm
from anchorjax.network import Network
from anchorjax.official import weights

TITLE = 'A checkpoint of the authors'
PAPER = 'P1'
CAPTION = 'Its sizes, its answers, and figures of it.'
# The figures of one network.
FIGURES = ('attention_flow', 'causal', 'condensation', 'cosine', 'embedding', 'tsne')
_SIZES = (
    'depth',
    'width',
    'heads',
    'head_dim',
    'mlp_dim',
    'max_len',
    'norm',
    'activation',
    'biases',
)


def load_member(
    path: str | pathlib.Path,
    experiment: config.Experiment | None = None,
    heads: int = 1,
    norm: Norm | None = None,
    activation: Activation | None = None,
) -> Network:
    """A network of a PyTorch file as a member, of which only the weights are known.

    Its point has NaN for every axis but the seed, which is 0 and selects eval sets.

    Args:
      experiment: the task it was trained on; P1's by default.
      heads, norm, activation: as in `anchorjax.official.weights.load_weights`.

    Raises:
      UserError: not the official model, or another vocabulary than the task's.
      StoreError: the file cannot be read.
    """
    model, vocab, params = weights.load_weights(path, heads, norm, activation)
    if experiment is None:
        experiment = config.resolve(config.default())
    expected = experiment.task.make().vocab
    if vocab != expected:
        raise UserError(f'{path} has {vocab} tokens, the task has {expected}')
    for array in jax.tree.leaves(params):
        if not np.isfinite(array).all():
            raise UserError(f'{path} holds numbers that are not finite')
    experiment = dataclasses.replace(experiment, model=model, static_axes=())
    point = dict.fromkeys(TRACED_AXES, math.nan)
    point['seed'] = 0
    return Network(experiment, params, point, step=-1)


def measure_agreement(member: Network) -> dict[tuple[str, str], float]:
    """{(eval set, mapping): share of answers that are the mapping's}."""
    task = member.task
    tokens_PBT, labels_PRB = member.eval_sets
    is_asked_PB = member.is_asked_PB
    shares = {}
    for p, eval_set in enumerate(task.eval_set_names):
        is_asked_B = is_asked_PB[p]
        answers_B = member.answer(tokens_PBT[p, is_asked_B])
        agrees_RB = labels_PRB[p][:, is_asked_B] == answers_B
        shares_R = agrees_RB.mean(-1, dtype=np.float32)  # as training records it
        for mapping, share in zip(task.mapping_names, shares_R, strict=True):
            shares[eval_set, mapping] = float(share)
    return shares


def describe(member: Network) -> list[str]:
    """Sizes, parameters and agreement of a member, one fact a line."""
    model = member.experiment.model
    facts = {name: getattr(model, name) for name in _SIZES}
    facts['tokens'] = member.experiment.task.vocab
    arrays = jax.tree.leaves(member.params)
    count = sum(array.size for array in arrays)
    facts['parameters'] = f'{count:,}'
    shares = measure_agreement(member)
    for (eval_set, mapping), share in shares.items():
        facts[f'{eval_set}, {mapping}'] = f'{share:.3f}'
    lines = []
    for name, value in facts.items():
        label = f'{name}:'
        lines.append(f'{label:<26} {value}')
    return lines


def command(words: list[str]) -> None:
    """Prints what a checkpoint is and answers and, on request, draws a figure of it."""
    flags = _parse_flags(words)
    experiment = None
    if flags.config:
        experiment = config.resolve(config.load(flags.config))
    member = load_member(
        flags.weights,
        experiment,
        heads=flags.heads,
        norm=flags.norm,
        activation=flags.activation,
    )
    print('\n'.join(describe(member)))
    if flags.figure:
        cli.use_compilation_cache()
        module = figure.find_figure(flags.figure)
        path = flags.out / f'{flags.figure}_{flags.weights.stem}'
        result = module.compute(member)
        result.attrs['about'] = f'{flags.weights.name}, a checkpoint of the authors'
        figure.save(module, result, path)


def _parse_flags(words: list[str]) -> argparse.Namespace:
    parser = cli.Parser(description=__doc__)
    add = parser.add_argument
    add('--weights', required=True, type=cli.parse_file, help='a PyTorch state dict')
    add('--heads', type=int, default=1, help='a state dict does not hold their number')
    norm_help = "default: P1's, or P3's if there is a final LayerNorm"
    add('--norm', choices=NORMS, help=norm_help)
    add(
        '--activation',
        choices=ACTIVATIONS,
        help='default: the one that goes with --norm',
    )
    add('--config', metavar='FILE[:PRESET]', help="config of the task; default: P1's")
    add('--figure', choices=FIGURES, help='a figure to draw')
    out_help = 'folder of the figure; default: figures'
    add('--out', type=cli.parse_folder, default=pathlib.Path('figures'), help=out_help)
    return parser.parse_args(words)
