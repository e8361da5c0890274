"""One of the authors' own checkpoints: its sizes, its answers to the task's probes, and figures.

python analysis/official.py --weights model_209.pt
python analysis/official.py --weights model_209.pt --heads=4 --figure=attention_flow --out=figures
"""

import dataclasses
import math
import pathlib

import jax
import numpy as np

from analysis import attention_flow, causal, condensation, cosine, embedding, tsne
from analysis.drawing import command
from analysis.members.member import Member
from anchorjax import cli, config, tasks
from anchorjax.config.grid import TRACED_AXES
from anchorjax.errors import UserError
from anchorjax.models.transformer_config import ACTIVATIONS, NORMS
from anchorjax.official import weights
from anchorjax.training import losses

_OF_A_MEMBER = (attention_flow, causal, condensation, cosine, embedding, tsne)
FIGURES = {
    m.__name__.split('.')[-1]: m for m in _OF_A_MEMBER
}  # compute(member), draw, layout


def member(path, experiment: config.Experiment | None = None, **overrides) -> Member:
    """A network of a PyTorch file as a member; of its training only the weights are known.

    Args:
      experiment: the task it was trained on; P1's by default.
      overrides: heads, norm, activation (`anchorjax.official.load`).

    Raises:
      UserError: not the official model, or of another vocabulary; StoreError: a bad file.
    """
    model, vocab, params = weights.load_weights(path, **overrides)
    experiment = experiment or config.resolve(config.default())
    expected = tasks.make(experiment.task).vocab
    if vocab != expected:
        raise UserError(f'{path} has {vocab} tokens, the task has {expected}')
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(params)):
        raise UserError(
            f'{path} holds numbers that are not finite: there is nothing to look into'
        )
    experiment = dataclasses.replace(experiment, model=model, loop=())
    point = dict.fromkeys(TRACED_AXES, math.nan) | {
        'seed': 0
    }  # the seed picks the probes
    return Member(experiment, params, point, step=-1)


def agreement(member: Member) -> dict[tuple[str, str], float]:
    """Share of the probe's answers that are the mapping's, by (probe, mapping)."""
    task, probes = member.task, member.probes
    answer = jax.jit(
        lambda params, t_BT: member.apply(params, t_BT).logits[:, -1].argmax(-1)
    )
    found = {}
    for i, probe in enumerate(task.probe_names):
        predicted_B = answer(member.params, probes.tokens_PBT[i])
        shares_R = np.asarray(losses.agreement(predicted_B, probes.labels_PRB[i]))
        found |= {
            (probe, m): float(s)
            for m, s in zip(task.mapping_names, shares_R, strict=True)
        }
    return found


def lines(member: Member) -> list[str]:
    """What to print, one fact a line."""
    sizes = dataclasses.asdict(member.experiment.model)
    shown = ('depth', 'width', 'heads', 'head_dim', 'mlp_dim', 'max_len')
    rows = [(name, sizes[name]) for name in (*shown, 'norm', 'activation', 'biases')]
    rows.append(('tokens', member.experiment.task.vocab))
    rows.append(
        ('parameters', f'{sum(leaf.size for leaf in jax.tree.leaves(member.params)):,}')
    )
    rows += [
        (f'{p}, {m}', f'{share:.3f}') for (p, m), share in agreement(member).items()
    ]
    return [f'{name + ":":<26} {value}' for name, value in rows]


def main() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--weights', required=True, type=pathlib.Path, help='a PyTorch state dict'
    )
    parser.add_argument(
        '--heads', type=int, default=1, help='a state dict cannot say it'
    )
    parser.add_argument(
        '--norm', choices=NORMS, help="default: P1's, or P3's by a final LayerNorm"
    )
    parser.add_argument('--activation', choices=ACTIVATIONS, help='default: as --norm')
    parser.add_argument(
        '--config', metavar='FILE[:PRESET]', help="the task; default: P1's"
    )
    parser.add_argument('--figure', choices=FIGURES, help='draw it, too')
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('figures'))
    given = parser.parse_args()
    experiment = config.resolve(cli.load(given.config)) if given.config else None
    options = {name: getattr(given, name) for name in ('heads', 'norm', 'activation')}
    found = member(given.weights, experiment, **options)
    print('\n'.join(lines(found)))
    if given.figure:
        figure = FIGURES[given.figure]
        cli.use_compilation_cache()
        name = f'{given.figure}_{given.weights.stem}'
        command.save(figure.compute(found), figure.draw, figure.layout, given.out, name)


if __name__ == '__main__':
    cli.run_command(main)
