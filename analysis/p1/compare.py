"""Two runs side by side: what differs in their settings, and in what they learn.

A row for each setting that the grids name, a panel for each number: a thin line for
every network, a thick one for the mean of a run. Above a panel stands the difference
(of losses the ratio) at the last step, of networks with the same seed and the same
values of the axes of which the runs share one; it is printed, too, below the settings
that differ.

  python -m analysis compare --run runs/phase --run runs/phase_two_layers --out runs
"""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from analysis import claim_words, claims, frame
from analysis.drawing import style
from analysis.estimates import Group, difference, ratio
from analysis.members.columns import list_axes, list_varying_axes
from analysis.names import name_values
from analysis.tables.text import format_csv, list_records
from anchorjax import cli, config, files
from anchorjax.errors import UserError, brief
from anchorjax.grid import axis_label
from anchorjax.storage.manifest import list_differences
from anchorjax.storage.reader import Run, open_run

TITLE = 'Two runs side by side'
PAPER = 'any task'
CAPTION = (
    'Over training, by setting: a thin line for every network, a thick one for the '
    'mean of a run. Above: the first run less the second at the last step, paired by '
    'seed, with its 95 % interval.'
)
COLOURS = (style.ROLES['key'], style.ROLES['anchor_1'])
LOSS = 'train_loss'


def compute(runs: dict[str, Run]) -> pd.DataFrame:
    """A row per network and step: run, setting, seed, loss, and shares of answers.

    Raises:
      UserError: no network of them is trained.
    """
    members, scores = collect(runs), _list_scores(runs)
    tables = []
    for name, run in runs.items():
        of_run = members[members.run == name].set_index('place')
        curves = frame.select_members(run, of_run, run.curves)
        numbers = {LOSS: curves.train_loss}
        for eval_set in curves.eval_set.values:
            for mapping in curves.mapping.values:
                of_mapping = {'eval_set': eval_set, 'mapping': mapping}
                column = f'{eval_set}_{mapping}'
                numbers[column] = curves.agreement.sel(of_mapping, drop=True)
        for i, place in enumerate(of_run.index):
            lines = {column: numbers[column][i] for column in scores}
            table = pd.DataFrame({'step': curves.step, **lines, 'run': name})
            table['place'] = place
            for column in ('setting', 'seed'):
                table[column] = of_run[column].iloc[i]
            tables.append(table)
    curves = pd.concat(tables, ignore_index=True)
    curves.attrs['about'] = ' and '.join(runs)
    return curves


def collect(runs: dict[str, Run]) -> pd.DataFrame:
    """The usable networks of both, as `Run.members`, each with its `setting` in words.

    An axis of which the runs share no value is left out, as what differs in a setting:
    numbers are then means over it. `place` is that of a network in its sweep.
    """
    paths = {path for run in runs.values() for path, _ in run.experiment.static_axes}
    members = frame.collect(runs, partial(_tabulate, paths=sorted(paths)))
    for axis in list_axes(members)[1:-1]:  # between the run and the seed
        first, second = members.groupby('run', sort=False)[axis].agg(set)
        if not first & second:
            members = members.drop(columns=axis)
    levels = members[list_varying_axes(members.drop(columns='run'))]
    return members.assign(setting=list(map(name_values, list_records(levels))))


def _tabulate(run: Run, paths: list[str]) -> pd.DataFrame:
    """The usable networks, with the fields that are axes of the other run."""
    members = frame.list_usable(run)
    members['place'] = members.index
    values = config.to_dict(run.experiment)
    for path in paths:
        group, _, field = path.partition('.')
        if field not in members:
            members.insert(0, field, axis_label(values[group].get(field, '')))
    return members


def subtract(runs: dict[str, Run]) -> pd.DataFrame:
    """A row per setting and number: the first run less the second; losses by ratio.

    The columns are those of a table of claims, of which none has a verdict; `claim` is
    'SETTING: NUMBER', `address` the column of the number.
    """
    members, scores = collect(runs), _list_scores(runs)
    first, second = (Group(name, {'run': name}) for name in runs)
    rows = []
    for setting in members.setting.unique():
        for column, score in scores.items():
            compare = ratio if column == LOSS else difference
            row = claims.Claim(
                column,
                source='ours',
                sentence=': '.join(filter(None, (setting, score))),
                runs=tuple(runs),
                estimate=compare(column, first, second),
                where={'setting': setting},
            )
            rows.append(row)
    return claims.tabulate(rows, members)


def _list_scores(runs: dict[str, Run]) -> dict[str, str]:
    """{column of the members: heading} of the numbers that both runs have."""
    first, second = (frame.name_agreements(run) for run in runs.values())
    shared = {column: first[column] for column in first if column in second}
    return {**shared, LOSS: 'train loss'}


def layout(curves: pd.DataFrame, differences: pd.DataFrame) -> style.Layout:
    rows, columns = curves.setting.nunique(), differences.address.nunique()
    return style.Layout(rows, columns, 0.8 + 1.7 * columns, 0.9 + 1.25 * rows)


def draw(curves: pd.DataFrame, axes: np.ndarray, differences: pd.DataFrame) -> None:
    """Fills axes [settings, numbers]."""
    rows = iter(list_records(differences))
    colours = dict(zip(curves.run.unique(), COLOURS, strict=True))
    for panels, (setting, lines) in zip(
        axes, curves.groupby('setting', sort=False), strict=True
    ):
        for axis, row in zip(panels, rows, strict=False):
            column, score = row['address'], row['claim'].rpartition(': ')[2]
            for (run, _), network in lines.groupby(['run', 'place'], sort=False):
                look = {'color': colours[run], 'lw': 0.4, 'alpha': 0.6}
                axis.plot(network.step, network[column], **look)
            for run, of_run in lines.groupby('run', sort=False):
                mean = of_run.groupby('step')[column].mean()
                axis.plot(mean, color=colours[run], lw=1.6)
            number = f'{row["kind"]} {claim_words.describe_number(row)}'
            words = f'{number}, {row["n"]} seeds' if row['n'] else 'no partners'
            axis.set_title(f'{score}\n{words}', fontsize=6)
            axis.set(**{'yscale': 'log'} if column == LOSS else {'ylim': (-0.03, 1.03)})
        panels[0].set_ylabel(str(setting).replace(', ', '\n'))
    for axis in axes[-1]:
        axis.set_xlabel('step')
    handles = [Line2D([], [], color=colours[run], label=run) for run in colours]
    words = 'above each panel: at the last step, paired by seed'
    axes[0, 0].figure.suptitle(words)
    axes[0, 0].figure.legend(handles=handles, loc='outside lower center', ncols=2)


def command(words: list[str]) -> None:
    """Prints what differs, and writes the figure and compare_differences.csv."""
    parser = cli.Parser(prog='python -m analysis compare', description=__doc__)
    folder = {'type': cli.parse_folder, 'required': True, 'metavar': 'FOLDER'}
    parser.add_argument('--run', action='append', help='give it twice', **folder)
    parser.add_argument('--out', **folder)
    flags = parser.parse_args(words)
    names = [path.name for path in flags.run]
    if len(set(names)) < len(names):
        names = list(map(str, flags.run))
    runs = {}
    for name, path in zip(names, flags.run, strict=True):
        runs[name] = open_run(path)
    if len(runs) != 2:
        raise UserError('--run: give it twice, for two runs')
    print(list_settings(runs))
    differences = subtract(runs)
    print(*claim_words.list_lines(differences), sep='\n')
    files.write_text(flags.out / 'compare_differences.csv', format_csv(differences))
    draw_both = partial(draw, differences=differences)
    lay_out = partial(layout, differences=differences)
    path = flags.out / 'compare'
    print(*style.write_figure(compute(runs), draw_both, lay_out, path), sep='\n')


def list_settings(runs: dict[str, Run]) -> str:
    """A line for every field that differs, by its dotted name, with both values."""
    first, second = (run.experiment for run in runs.values())
    differences = list_differences(first, second)
    rows = [(field, *map(brief, map(repr, values))) for field, *values in differences]
    if not rows:
        return 'the settings are the same'
    return pd.DataFrame(rows, columns=['setting', *runs]).to_string(index=False)
