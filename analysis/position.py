"""Does one network answer the unseen pair in the same way wherever the key stands?

Not in the papers, which average over positions: a member that scores half inferential and half
symmetric may be wholly one at one position of the key and wholly the other elsewhere.

  python analysis/position.py --run runs/phase --gamma=1.2 --depth=2 --seed=0
"""

import ast
import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import jax
import numpy as np

from anchorjax import cli, models, store, tasks
from anchorjax.errors import UserError


class Result(NamedTuple):
    """Agreement of a member on the unseen pair, by the position of the key item."""

    positions: np.ndarray  # [X]
    agreement: np.ndarray  # [X, R]
    mapping_names: tuple[str, ...]
    counts: np.ndarray  # [X] sequences behind each row


def compute(run: store.Run, step: int | str = 'last', **point) -> Result:
    """Asks the member at `point` fresh sequences of the unseen pair (of the run's own task)."""
    experiment = run.experiment
    params = run.params(step, **point)
    chosen = {axis: point.get(axis, values[0]) for axis, values in experiment.axes.items()}
    static = tuple((path, chosen[path.split('.')[-1]]) for path, _ in experiment.loop)
    at = experiment.at(static)
    task = tasks.make(at.task)
    tokens_PBT, labels_PRB = task.probes(task.make_data(jax.random.key(0)))
    tokens_BT, labels_RB = (
        np.asarray(x[task.probe_names.index('unseen')]) for x in (tokens_PBT, labels_PRB)
    )
    module = models.make(at.model, at.task.vocab, gamma=0.0)
    logits = jax.jit(module.apply)({'params': params}, tokens_BT).logits[:, -1]
    agrees_RB = labels_RB == np.asarray(logits.argmax(-1))
    position_B = (tokens_BT == at.task.unseen[0][0]).argmax(-1) - 1
    positions, counts = np.unique(position_B, return_counts=True)
    agreement = np.stack([agrees_RB[:, position_B == p].mean(-1) for p in positions])
    return Result(positions, agreement, task.mapping_names, counts)


def markdown(result: Result) -> str:
    """A table with one row per position of the key."""
    lines = ['| key at position | inferential | symmetric | sequences |', '|---|---|---|---|']
    columns = [result.mapping_names.index(name) for name in ('inferential', 'symmetric')]
    for position, row, count in zip(result.positions, result.agreement, result.counts, strict=True):
        lines.append(f'| {position} | {row[columns[0]]:.2f} | {row[columns[1]]:.2f} | {count} |')
    return '\n'.join(lines)


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0], epilog='--AXIS=VALUE picks the member')
    parser.add_argument('--run', required=True, type=pathlib.Path)
    parser.add_argument('--step', default='last')
    flags, rest = parser.parse_known_args()
    try:
        words = [word.removeprefix('--').split('=') for word in rest]
        point = {name: ast.literal_eval(value) for name, value in words}
        step = flags.step if flags.step == 'last' else int(flags.step)
    except (ValueError, SyntaxError):
        raise UserError(f'cannot read {rest} with --step={flags.step}: give --AXIS=VALUE') from None
    print(markdown(compute(store.open(flags.run), step, **point)))


if __name__ == '__main__':
    cli.main(command)
