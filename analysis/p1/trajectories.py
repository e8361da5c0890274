"""P1's pair of γ over training, a line for every network, beside the official runs.

A column for P1's large initialization and one for its small one, and one for its γ 0.1
where that is trained; above the answers to the unseen pair, below the train loss. The
authors published one run of each at width 400; they are trajectory_0.1.csv and so on of
the folder --official (not distributed).

  python -m analysis trajectories --runs runs/paper_size_pair --out runs/fair \\
      --official FOLDER
"""

import pathlib
from functools import partial

import numpy as np
import pandas as pd

from analysis import frame
from analysis.drawing import style
from analysis.members.measures import count_epoch
from analysis.members.selection import list_varying
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

TITLE = "P1's pair of γ over training"
PAPER = 'P1 Fig 2, PAPERS 1.7'
CAPTION = (
    'Blue: composed answers to the unseen pair. Orange: answers of the reversed pair. '
    'Every network has a line of each colour; grey: the one official run, of width '
    '400, dashed for answers of the reversed pair.'
)
PAIR = (0.5, 0.8)
PAPER_GAMMAS = (0.1, *PAIR)


def layout(curves: pd.DataFrame) -> style.Layout:
    columns = len(_list_drawn(curves))
    return style.Layout(rows=2, columns=columns, width=3.5 * columns, height=4.0)


def _list_drawn(curves: pd.DataFrame) -> list[float]:
    """P1's γ that have networks, left to right."""
    return [gamma for gamma in PAPER_GAMMAS if gamma in set(curves.paper_gamma)]


def compute(runs: dict[str, Run]) -> pd.DataFrame:
    """A row per network and epoch: shares of answers, and the train loss in nats.

    Raises:
      UserError: a γ of P1's pair is missing, or a run has no unseen pair.
    """
    tables = []
    for name, run in runs.items():
        usable = frame.list_usable(run, 'anchors')
        points = frame.find_points(run, usable)
        steps = [count_epoch(run.experiment_of(**point)) for point in points]
        usable['epoch_steps'] = steps
        agreement = run.curves.agreement
        if 'unseen' not in agreement.eval_set:
            raise UserError(f'{name}: its task has no unseen pair')
        held_out = agreement.sel(eval_set='seen_heldout', mapping='assigned')
        unseen = agreement.sel(eval_set='unseen')
        columns = {
            'train_loss': run.curves.train_loss.to_series(),
            'held_out': held_out.to_series(),
        }
        for mapping in UNSEEN_MAPPINGS:
            columns[mapping] = unseen.sel(mapping=mapping).to_series()
        table = pd.DataFrame(columns).reset_index()
        table = table.merge(usable[[*run.experiment.axes, 'epoch_steps']])
        at_400 = frame.add_equivalents(run, table).gamma_at_400
        epochs = table.step / table.epoch_steps
        table = table.assign(run=name, paper_gamma=at_400.round(1), epoch=epochs)
        for axis in list_varying(run.experiment.axes):
            if axis != 'gamma':  # a line is one network
                table['run'] += f', {axis} ' + table[axis].astype(str)
        tables.append(table)
    names = ['run', 'gamma', 'paper_gamma', 'seed', 'epoch', 'train_loss', 'held_out']
    curves = pd.concat(tables, ignore_index=True)[[*names, *UNSEEN_MAPPINGS]]
    missing = set(PAIR) - set(curves.paper_gamma)
    if missing:
        allowed = "P1's pair of γ, as of configs/phase.py:laptop"
        raise UserError(
            f'runs: no network starts like γ {min(missing):g}: give {allowed}'
        )
    return curves


def read_official(folder: pathlib.Path | None) -> dict[float, pd.DataFrame]:
    """The official runs by γ, rows by epoch; none without the folder.

    Raises:
      UserError: the folder does not have all.
    """
    if folder is None:
        return {}
    runs = {}
    for gamma in PAPER_GAMMAS:
        path = folder / f'trajectory_{gamma}.csv'
        if not path.exists():
            raise UserError(f'--official {folder}: has no {path.name}')
        runs[gamma] = pd.read_csv(path).rename(columns={'inferential': 'composed'})
    return runs


def draw(
    curves: pd.DataFrame,
    axes: np.ndarray,
    official: dict[float, pd.DataFrame] | None = None,
) -> None:
    """Fills axes [2, γ]: answers above, train loss below; a column for each γ."""
    last = curves.epoch.max()
    for column, paper_gamma in enumerate(_list_drawn(curves)):
        answers, loss = axes[:, column]
        here = curves[curves.paper_gamma == paper_gamma]
        if official:
            of_gamma = official[paper_gamma]
            of_gamma = of_gamma[of_gamma.epochs_done <= last]
            _draw_official(answers, loss, of_gamma)
        for _, network in here.groupby(['run', 'gamma', 'seed']):
            for mapping in UNSEEN_MAPPINGS:
                colour = style.COLOURS[mapping]
                answers.plot(network.epoch, network[mapping], color=colour, lw=0.9)
            loss.plot(network.epoch, network.train_loss, color='#000000', lw=0.7)
        gamma = here.gamma.iloc[0]
        title = f'γ {gamma:g}'
        if gamma != paper_gamma:
            title += f': standard deviations of γ {paper_gamma:g} at width 400'
        answers.set_title(title)
        answers.set(ylim=(-0.03, 1.03), ylabel='answers to (4, 3)')
        loss.set(yscale='log', xlabel='epoch', ylabel='train loss (nats)')
    for mapping in UNSEEN_MAPPINGS:
        axes[0, -1].plot([], [], color=style.COLOURS[mapping], label=mapping)
    axes[0, -1].legend(loc='upper left')


def _draw_official(
    answers: style.Axes, loss: style.Axes, of_gamma: pd.DataFrame
) -> None:
    """The official run in grey, dashed where it is symmetric."""
    grey = {'color': '#AAAAAA', 'lw': 2.5, 'zorder': 0}
    known = of_gamma.dropna(subset=list(UNSEEN_MAPPINGS))
    answers.plot(known.epochs_done, known.composed, **grey)
    answers.plot(known.epochs_done, known.symmetric, ls='--', **grey)
    losses = of_gamma.dropna(subset=['train_loss_of_last_epoch'])
    loss.plot(losses.epochs_done, losses.train_loss_of_last_epoch, **grey)


def command(words: list[str]) -> None:
    """Writes trajectories.csv and the figure of several runs."""
    parser = cli.Parser(prog='python -m analysis trajectories', description=__doc__)
    parser.add_argument('--runs', nargs='+', required=True, metavar='FOLDER')
    parser.add_argument('--official', type=cli.parse_folder, metavar='FOLDER')
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    curves = compute(frame.open_runs(flags.runs))
    draw_both = partial(draw, official=read_official(flags.official))
    path = flags.out / 'trajectories'
    print(*style.write_figure(curves, draw_both, layout, path), sep='\n')
