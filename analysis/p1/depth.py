"""Does the answer to the unseen pair depend on depth? P1's task at width 64.

First the networks whose numbers are judged, trained for that, and their null; then
those of the map and of P1's pair, by initialization. Every network is two dots at the
last step of its run, the shares of its answers by either rule.

  python -m analysis depth --members analysis/gallery/p1/members.csv --out runs/depth

  depth.png, .pdf   the picture; depth.csv has its numbers
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis import frame
from analysis.drawing import style
from analysis.drawing.bands import spread_dots
from analysis.estimates import select
from analysis.members.columns import PAPER_WIDTH, equivalent_gamma
from analysis.p1.claims import FAIR, RANDOM_CUTS
from analysis.p1.network_claims import DEEPER, WIDE_DIAGRAM
from analysis.tables.folders import require_folder_for_tables
from anchorjax import cli

TITLE = 'Answers by depth'
PAPER = 'ours, on P1 Fig 2'
WIDTH = 64
STEPS = 370  # of an epoch
# Of three layers; cut is what attends in one of them, or as many edges at random.
CUTS = {
    'w64_d3_one_pair': 'cut:\n3rd',
    'w64_d3_cut_second': 'cut:\n2nd',
    'w64_d3_cut_first': 'cut:\n1st',
    **dict.fromkeys(RANDOM_CUTS, 'cut:\nrandom'),
}
FRESH = {'w64_d2_large': '2', 'w64_d3_large': '3', **CUTS}
LARGER = {'w64_d3_larger': '3,\nfresh'}  # 10 epochs
PLACES = ('2', '3', *LARGER.values(), '4', '5', *dict.fromkeys(CUTS.values()))
BY_DEPTH = (*FAIR, *WIDE_DIAGRAM, *DEEPER, *LARGER)
GAMMAS = ((0.43, 0.58), (0.72,), (1.15,))  # larger than P1's pair, and the pair
SHIFTS = {'composed': -0.13, 'symmetric': 0.13}  # of the dots from their place
MARKERS = {'key first': '^', 'pair first': 'v'}  # of a route that was found
OTHER = 'o'


def compute(members: pd.DataFrame) -> pd.DataFrame:
    """A row for each network: its panel and its place there, its answers and route."""
    fresh = members[members.run.isin(FRESH)]
    title = f'{_name_panel(fresh)}, fresh seeds'
    tables = [fresh.assign(title=title, place=fresh.run.map(FRESH))]
    for values in GAMMAS:
        here = select(members, {'run': BY_DEPTH, 'gamma': values, 'width': WIDTH})
        of_depth = here.depth.astype(str)
        place = here.run.map(LARGER).fillna(of_depth)
        tables.append(here.assign(title=_name_panel(here), place=place))
    result = pd.concat(tables).rename(columns=lambda name: name.removeprefix('unseen_'))
    result['route'] = result.route.where(result.route.isin(MARKERS), '')
    columns = ['title', 'place', 'run', 'gamma', 'seed', 'converged', 'route', *SHIFTS]
    result = result[columns].reset_index(drop=True)
    result.attrs['about'] = f"P1's task, width {WIDTH}: {len(result)} networks"
    return result


def _name_panel(networks: pd.DataFrame) -> str:
    """'γ 0.72 (0.50 at width 400); 24 or 30 epochs'."""
    gammas = networks.gamma.drop_duplicates().sort_values()
    here = ', '.join(f'{gamma:g}' for gamma in gammas)
    there = ', '.join(
        f'{gamma:.2f}' for gamma in equivalent_gamma(gammas, gammas * 0 + WIDTH)
    )
    epochs = sorted((networks.num_steps / STEPS).round().astype(int).unique())
    words = ', '.join(map(str, epochs))
    return f'γ {here} ({there} at width {PAPER_WIDTH}); {words} epochs'


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, panels]: dots of networks, and bars at their means."""
    for axis, (title, networks) in zip(
        axes[0], result.groupby('title', sort=False), strict=True
    ):
        _draw_panel(axis, networks)
        axis.set_title(str(title).replace('; ', '\n'), fontsize=7)
        axis.set_xlabel('layers')
    axes[0, 0].set_ylabel('share of answers to (4, 3)')
    look = {'loc': 'outside lower center', 'ncols': 6}
    axes[0, 0].figure.legend(handles=_make_legend(), **look)


def _draw_panel(axis: Axes, networks: pd.DataFrame) -> None:
    """A dot for every network and rule, hollow where it has not converged."""
    places = [place for place in PLACES if place in set(networks.place)]
    x = networks.place.map(places.index)
    spread = spread_dots(networks.groupby('place'))
    for rule, shift in SHIFTS.items():
        colour = style.COLOURS[rule]
        for marker, here in networks.groupby(networks.route.map(MARKERS).fillna(OTHER)):
            faces = np.where(here.converged, colour, 'white')
            look = {'edgecolors': colour, 'linewidths': 0.7, 'marker': marker}
            dots = x[here.index] + spread[here.index] + shift
            axis.scatter(dots, here[rule], s=12, c=faces, **look)
        means = networks.groupby('place')[rule].mean()
        middle = np.arange(len(places)) + shift
        left, right = middle - 0.12, middle + 0.12
        axis.hlines(means[places], left, right, color=colour, lw=1.5)
    axis.set_xticks(range(len(places)), places, fontsize=7)
    axis.set(xlim=(-0.5, len(places) - 0.5), ylim=(-0.04, 1.04))


def _make_legend() -> list[Line2D]:
    handles = [Line2D([], [], color=style.COLOURS[rule], label=rule) for rule in SHIFTS]
    dot: dict[str, Any] = {'color': 'black', 'ls': '', 'ms': 4}
    for route, marker in MARKERS.items():
        handles.append(Line2D([], [], marker=marker, label=f'route: {route}', **dot))
    handles.append(Line2D([], [], marker=OTHER, label='route not known', **dot))
    hollow = {'marker': OTHER, 'mfc': 'white', 'label': 'not converged'}
    return [*handles, Line2D([], [], **hollow, **dot)]


def layout(result: pd.DataFrame) -> style.Layout:
    columns = result.title.nunique()
    return style.Layout(1, columns, 2.4 * columns, 3.0)


def command(words: list[str]) -> None:
    parser = cli.Parser(prog='python -m analysis depth', description=__doc__)
    add = parser.add_argument
    add('--members', type=cli.parse_file, required=True, metavar='CSV')
    add('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    require_folder_for_tables(flags.out)
    result = compute(frame.read_csv(flags.members))
    for path in style.write_figure(result, draw, layout, flags.out / 'depth'):
        print(path)
