"""Answers to the unseen pair over training, a panel for every network.

A row for each γ, and for each setting where the runs have several; at its end the train
losses of its networks. The authors published one run of γ 0.1, 0.5 and 0.8 at width
400; they are trajectory_0.1.csv and so on of the folder --official (not distributed),
and stand beside networks that start with the same standard deviation.

  python -m analysis trajectories --runs runs/paper_size_pair --out runs/fair \\
      --official FOLDER
"""

import pathlib
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis import frame
from analysis.drawing import style
from analysis.members.measures import count_epoch
from analysis.members.selection import list_varying
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

TITLE = 'Answers over training'
PAPER = 'P1 Fig 2, PAPERS 1.7'
CAPTION = (
    'A panel for every network, a row for every γ. Blue: composed answers to the '
    'unseen pair. Orange: answers of the reversed pair. Right: the train loss of all '
    "networks of the row; grey: that of P1's own run, whose answers stand on the left."
)
PAPER_GAMMAS = (0.1, 0.5, 0.8)
OFFICIAL = "P1's own run"
OFFICIAL_COLUMNS = {
    'epochs_done': 'epoch',
    'inferential': 'composed',
    'train_loss_of_last_epoch': 'train_loss',
}


def layout(
    curves: pd.DataFrame,
    official: Mapping[float, pd.DataFrame] = MappingProxyType({}),
) -> style.Layout:
    """A row of small panels for each γ, as long as that with most networks."""
    rows = list(_list_rows(curves))
    panels = 1 + max(len(here.seed.unique()) for _, _, here in rows)
    if official:
        panels += 1
    return style.Layout(len(rows), panels, 1.0 + panels, 1.0 + 1.15 * len(rows))


def _list_rows(curves: pd.DataFrame) -> Iterator[tuple[str, float, pd.DataFrame]]:
    """(name, γ at width 400, its networks) of every row: a γ and setting."""
    has_many = curves.groupby('gamma').run.nunique().max() > 1
    for (at_400, gamma, run), here in curves.groupby(['paper_gamma', 'gamma', 'run']):
        name = f'γ {gamma:g}'
        if gamma != at_400:
            name += f'\n({at_400:g} at\nwidth 400)'
        if has_many:
            name += '\n' + '\n'.join(run.split(', '))
        yield name, at_400, here


def compute(runs: dict[str, Run]) -> pd.DataFrame:
    """A row per network and epoch: shares of answers, and the train loss in nats.

    `paper_gamma` is the γ of the same standard deviation at width 400.

    Raises:
      UserError: a run has no unseen pair.
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
        table = table.assign(run=name, paper_gamma=at_400.round(2), epoch=epochs)
        for axis in list_varying(run.experiment.axes):
            if axis != 'gamma':  # a line is one network
                table['run'] += f', {axis} ' + table[axis].astype(str)
        tables.append(table)
    names = ['run', 'gamma', 'paper_gamma', 'seed', 'epoch', 'train_loss', 'held_out']
    curves = pd.concat(tables, ignore_index=True)[[*names, *UNSEEN_MAPPINGS]]
    curves.attrs['about'] = ', '.join(runs)
    return curves


def read_official(folder: pathlib.Path | None) -> dict[float, pd.DataFrame]:
    """The official runs by γ, with columns as of `compute`; none without the folder.

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
        runs[gamma] = pd.read_csv(path).rename(columns=OFFICIAL_COLUMNS)
    return runs


def draw(
    curves: pd.DataFrame,
    axes: np.ndarray,
    official: Mapping[float, pd.DataFrame] = MappingProxyType({}),
) -> None:
    """Fills axes [γ, networks and one]: the answers of each, then all train losses.

    The first network of a row is the official one, where there is one.
    """
    last = curves.epoch.max()
    lines = list(_list_rows(curves))
    for axis in axes.flat:
        axis.set_axis_off()
    for panels, (name, paper_gamma, here) in zip(axes, lines, strict=True):
        loss = panels[-1]
        loss.set_axis_on()
        networks = {f'seed {seed}': of for seed, of in here.groupby('seed')}
        if paper_gamma in official:
            of_gamma = official[paper_gamma]
            networks = {OFFICIAL: of_gamma[of_gamma.epoch <= last]} | networks
        for axis, (label, network) in zip(panels, networks.items(), strict=False):
            axis.set_axis_on()
            _draw_network(axis, network)
            axis.set_title(label, fontsize=7, pad=2)
            axis.set(xlim=(0, 1.02 * last), ylim=(-0.03, 1.03))
            look = {'color': '#AAAAAA', 'lw': 2.5, 'zorder': 0}
            if label != OFFICIAL:
                look = {'color': '#000000', 'lw': 0.7}
            known = network.dropna(subset=['train_loss'])
            loss.plot(known.epoch, known.train_loss, **look)
            axis.set_yticks([0, 0.5, 1], ['0', '', '1'] if axis is panels[0] else [])
        panels[0].set_ylabel(name, rotation=0, ha='right', va='center')
        loss.set_title('train loss, nats', fontsize=7, pad=2)
        loss.set(yscale='log', xlim=(0, 1.02 * last))
        loss.yaxis.tick_right()
    for axis in axes[-1]:
        axis.set_xlabel('epoch')
    axes[0, 0].figure.suptitle('answers to (4, 3), a panel for each network')
    axes[0, 0].figure.legend(**_make_legend(bool(official)))


def _draw_network(axis: Axes, network: pd.DataFrame) -> None:
    """What one network answers."""
    known = network.dropna(subset=list(UNSEEN_MAPPINGS))
    for mapping in UNSEEN_MAPPINGS:
        look = {'color': style.COLOURS[mapping], 'lw': 1.2}
        axis.plot(known.epoch, known[mapping], **look)


def _make_legend(has_official: bool) -> dict[str, Any]:
    handles = []
    for mapping in UNSEEN_MAPPINGS:
        label = f'share of {mapping} answers'
        handles.append(Line2D([], [], color=style.COLOURS[mapping], label=label))
    handles.append(Line2D([], [], color='black', lw=0.7, label='loss of a network'))
    if has_official:
        grey = {'color': '#AAAAAA', 'lw': 2.5, 'label': f'loss of {OFFICIAL}'}
        handles.append(Line2D([], [], **grey))
    return {'handles': handles, 'loc': 'outside lower center', 'ncols': len(handles)}


def command(words: list[str]) -> None:
    """Writes trajectories.csv and the figure of several runs."""
    parser = cli.Parser(prog='python -m analysis trajectories', description=__doc__)
    parser.add_argument('--runs', nargs='+', required=True, metavar='FOLDER')
    parser.add_argument('--official', type=cli.parse_folder, metavar='FOLDER')
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    curves = compute(frame.open_runs(flags.runs))
    official = read_official(flags.official)
    looks = [partial(function, official=official) for function in (draw, layout)]
    path = flags.out / 'trajectories'
    print(*style.write_figure(curves, *looks, path), sep='\n')
