"""How long does it take to fit data that do not compose? P1 v1 Fig 6, P3 Fig 8.

The inferential complexity is the number of unordered pairs that are trained on a wrong
shift (PAPERS 1.5). Two readings of the time to fit, in epochs:

  loss  when the train loss first falls below a threshold: 5e-2 in P1, 1e-1 in P3's
        code; the loss is the mean over the steps between two records
  pair  when 99 % of a pair's training questions are first answered rightly (Fig 8 C);
        needs a run with task.groups='pair'

  python -m analysis fitting_time --run runs/inferential_complexity
"""

from typing import Annotated

import matplotlib
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame
from analysis.changes.crossings import find_crossings, find_first
from analysis.drawing import style
from analysis.members.columns import name_gamma
from analysis.members.measures import count_epoch
from analysis.members.point import Point
from analysis.members.selection import require_task
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

TITLE = 'Time to fit'
PAPER = 'P1 v1 Fig 6, P3 Fig 8'
CAPTION = (
    'Epochs that a network needs to fit mappings of which more or fewer follow the '
    'rule.'
)
THRESHOLDS = (0.05, 0.1)  # nats
ACCURACY = 0.99


def compute(
    run: Run,
    thresholds: Annotated[
        tuple[float, ...], 'of the train loss, in nats: 1,0.5'
    ] = THRESHOLDS,
) -> xr.Dataset:
    """Reads the curves of all trained members; needs no snapshots.

    Returns:
      epoch [member, threshold] at which the train loss falls below it, pair_epoch
      [member, pair] at which a pair is learned (NaN everywhere if the run has no groups
      by pair), is_wrong [member, pair], last_epoch, and the width of the networks.
      NaN: never. A member has the labels gamma, depth, complexity and seed.

    Raises:
      UserError: another task, a model without a depth, or no trained member.
    """
    members = frame.list_usable(run, 'anchors')
    experiment = run.experiment
    found: list[xr.Dataset] = []
    for point in frame.find_points(run, members):
        found.append(_measure_network(run, point, thresholds))
    result = xr.concat(found, members.index.rename('member'), coords='all')
    # All cohorts have as many training examples.
    last_epoch = experiment.train.num_steps / count_epoch(experiment)
    return result.assign(last_epoch=last_epoch, width=frame.find_width(run))


def _measure_network(
    run: Run, point: Point, thresholds: tuple[float, ...]
) -> xr.Dataset:
    """What `compute` needs of one network."""
    experiment = run.experiment_of(**point)
    task = require_task(experiment.task, AnchorsConfig)
    depth = getattr(experiment.model, 'depth', None)
    if depth is None:
        raise UserError(
            f'model {experiment.model.name!r}: it has no depth, which this figure shows'
        )
    curves = run.curves.sel(run.labels(**point))
    epoch_S = curves.step.values / count_epoch(experiment)
    loss_S1 = curves.train_loss.values[:, None]
    epochs = []
    for limit in thresholds:
        epochs.append(find_crossings(epoch_S, loss_S1, limit).item())
    pairs = anchors.list_pairs(task).tolist()
    groups = [anchors.name_pair(a, b) for a, b in pairs]
    agreement = curves.agreement_by_group.sel(eval_set='seen_train', mapping='assigned')
    of_pairs = agreement.reindex(group=groups).transpose('step', 'group')
    numbers = {
        'epoch': ('threshold', epochs),
        'pair_epoch': ('pair', find_first(epoch_S, of_pairs.values >= ACCURACY)),
        'is_wrong': ('pair', [tuple(pair) in task.exceptions for pair in pairs]),
    }
    labels = {
        'threshold': list(thresholds),
        'pair': [f'{a},{b}' for a, b in pairs],
        'gamma': point['gamma'],
        'depth': depth,
        'complexity': task.complexity,
        'seed': point['seed'],
    }
    return xr.Dataset(numbers, labels)


def mark_near(times: xr.Dataset) -> xr.DataArray:
    """Whether a pair is made of the anchors of wrong pairs alone, [member, pair].

    With complexity 1 these are (1, 1), (1, 2), (2, 1) and (2, 2), the late ones of P3
    Fig 8 C: what is wrong about (1, 2) concerns what 1 and 2 do.
    """
    pairs_A2 = np.array([pair.split(',') for pair in times.pair.values])
    marks = []
    for is_wrong_A in times.is_wrong.values:
        marks.append(np.isin(pairs_A2, pairs_A2[is_wrong_A]).all(-1))
    return times.is_wrong.copy(data=marks)


def draw(times: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [threshold, gammas and one]: time by depth, then by pair, if known.

    A dot is a member; a line goes through the means over seeds. A triangle at the top
    is a member that never gets there.
    """
    table = times.epoch.to_dataframe().reset_index()
    gammas = np.unique(times.gamma)
    ends = (gammas[-1], gammas[0])
    for x, threshold in enumerate(times.threshold.values):
        is_here = table.threshold == threshold
        for axis, (gamma, networks) in zip(
            axes[x], table[is_here].groupby('gamma'), strict=False
        ):
            _draw_times(axis, networks, float(times.last_epoch))
            name = name_gamma(gamma, float(times.width))
            axis.set_title(f'train loss < {threshold:g}\n{name}', fontsize=7)
        axes[x, 0].set_ylabel('epoch')
        if _has_pairs(times):
            if x < len(ends):
                _draw_pairs(axes[x, -1], times, ends[x])
            else:
                axes[x, -1].set_axis_off()
    lines, names = axes[0, 0].get_legend_handles_labels()
    look = {'loc': 'outside lower center', 'ncols': len(lines)}
    title = 'wrong pairs (a triangle: never so far)'
    axes[0, 0].figure.legend(lines, names, title=title, title_fontsize=7, **look)


def layout(times: xr.Dataset) -> style.Layout:
    columns = len(np.unique(times.gamma)) + _has_pairs(times)
    rows = times.sizes['threshold']
    return style.Layout(rows, columns, 2.4 * columns, 0.5 + 2.1 * rows)


def _has_pairs(times: xr.Dataset) -> bool:
    """Whether it is known when the pairs of a network with wrong ones are learned."""
    return bool(times.pair_epoch.notnull().any('pair')[times.complexity > 0].any())


def _draw_times(axis: Axes, networks: pd.DataFrame, last_epoch: float) -> None:
    """Epochs by depth of the networks of one gamma, a colour for each complexity."""
    levels = list(networks.groupby('complexity'))
    colours = matplotlib.colormaps['viridis'](np.linspace(0, 0.9, len(levels)))
    middle = (len(levels) - 1) / 2
    for i, (level, of_level) in enumerate(levels):
        epoch = of_level.epoch
        place = of_level.depth + 0.12 * (i - middle)
        axis.plot(place, epoch, '.', ms=3, color=colours[i])
        never = place[epoch.isna()]
        axis.plot(never, [last_epoch] * len(never), '^', ms=3, color=colours[i])
        means = of_level.groupby('depth').epoch.agg(['mean', 'count', 'size'])
        mean = means['mean'].where(means['count'] == means['size'])  # one never fits
        axis.plot(mean.index, mean, color=colours[i], lw=1.2, label=f'{level}')
    axis.set_xticks(networks.depth.unique())
    axis.set(xlabel='depth', ylim=(0, 1.05 * last_epoch))


def _draw_pairs(axis: Axes, times: xr.Dataset, gamma: float) -> None:
    """When each pair is learned, at the least depth, with the fewest wrong pairs."""
    wrong = times.where(times.complexity > 0, drop=True)
    level = int(wrong.complexity.min())
    is_here = times.complexity == level
    is_here &= (times.depth == times.depth.min()) & (times.gamma == gamma)
    here = times.isel(member=np.flatnonzero(is_here))
    is_near = mark_near(here)
    for member in range(here.sizes['member']):
        network = here.isel(member=member)
        near_A = is_near.isel(member=member)
        colours = np.where(network.is_wrong, 'C3', np.where(near_A, 'C1', 'C0'))
        place = range(len(colours))
        axis.scatter(place, network.pair_epoch, c=colours.tolist(), s=6, lw=0)
    names = times.pair.values
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=5)
    noun = 'pair' if level == 1 else 'pairs'
    axis.set(xlabel='pair', ylabel='epoch of 99 %')
    words = f'γ {gamma:g}, {level} wrong {noun} (red)'
    axis.set_title(f'{words}\norange: of anchors of these alone', fontsize=7)
