"""How long does it take to fit data that do not compose? P1 v1 Fig 6, P3 Fig 8.

The inferential complexity is the number of unordered pairs that are trained on a wrong
shift (PAPERS 1.5). Two readings of the time to fit, in epochs:

  loss  when the train loss first falls below a threshold: 5e-2 in P1, 1e-1 in P3's
        code; the loss is the mean over the steps between two records
  pair  when 99 % of a pair's training questions are first answered rightly (Fig 8 C);
        needs a run with task.groups='pair'

  python -m analysis fitting_time --run runs/inferential_complexity
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.changes.moments import find_crossings, find_moments
from analysis.drawing import style
from analysis.members.point import Point
from analysis.members.table import Table, list_points, tabulate_members
from anchorjax.errors import UserError, require
from anchorjax.experiment import Experiment
from anchorjax.limits import above, at_most
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors

TITLE = 'Time to fit'
PAPER = 'P1 v1 Fig 6, P3 Fig 8'
CAPTION = (
    'Epochs that a network needs to fit mappings of which more or fewer follow the '
    'rule.'
)


THRESHOLDS = (0.05, 0.1)  # nats
ACCURACY = 0.99


class Result(NamedTuple):
    """Of every member [M]; thresholds X, ordered pairs of anchors A. NaN: never."""

    members: Table
    depth_M: np.ndarray
    complexity_M: np.ndarray
    threshold_X: np.ndarray  # nats
    epoch_MX: np.ndarray  # at which the train loss falls below each threshold
    last_epoch: float  # the end of training
    pairs_A2: np.ndarray
    pair_epoch_MA: np.ndarray  # NaN everywhere if the run has no groups by pair
    is_wrong_MA: np.ndarray  # bool: trained on a wrong shift
    accuracy: float


def compute(
    run: Run,
    thresholds: Annotated[
        tuple[float, ...], 'of the train loss, in nats: 1,0.5'
    ] = THRESHOLDS,
    accuracy: Annotated[
        float, above(0), at_most(1), 'at which a pair is learned'
    ] = ACCURACY,
) -> Result:
    """Reads the curves of all trained members; needs no snapshots.

    Raises:
      UserError: another task, a model without a depth, no trained member, a threshold
        that is not above 0 and finite, or an accuracy that is no share above 0.
    """
    for limit in thresholds:
        require(
            0 < limit < math.inf,
            'thresholds',
            thresholds,
            'above 0 and finite, in nats',
        )
    require(0 < accuracy <= 1, 'accuracy', accuracy, 'above 0, at most 1')
    points = list_points(run, 'anchors')
    pairs_A2 = anchors.list_pairs(run.experiment_of(**points[0]).task)
    steps_per_epoch = _count_steps(run, points[0])
    curves = run.curves
    epoch_S = curves.step.values / steps_per_epoch
    depths, complexities, epochs, pair_epochs, are_wrong = [], [], [], [], []
    for point in points:
        experiment = run.experiment_of(**point)
        member = curves.sel(run.labels(**point))
        loss_S1 = member.train_loss.values[:, None]
        crossings = [find_crossings(epoch_S, loss_S1, limit) for limit in thresholds]
        depths.append(_read_depth(experiment))
        complexities.append(experiment.task.complexity)
        epochs.append(np.concatenate(crossings))
        pair_epochs.append(_find_pair_epochs(member, epoch_S, pairs_A2, accuracy))
        wrong = experiment.task.exceptions
        are_wrong.append([tuple(pair) in wrong for pair in pairs_A2.tolist()])
    return Result(
        members=tabulate_members(run, points),
        depth_M=np.array(depths),
        complexity_M=np.array(complexities),
        threshold_X=np.array(thresholds),
        epoch_MX=np.array(epochs),
        last_epoch=float(epoch_S[-1]),
        pairs_A2=pairs_A2,
        pair_epoch_MA=np.array(pair_epochs),
        is_wrong_MA=np.array(are_wrong),
        accuracy=accuracy,
    )


def shares_anchor(pairs_A2: np.ndarray, is_wrong_A: np.ndarray) -> np.ndarray:
    """Whether a pair is made of the anchors of wrong pairs alone, [A].

    With complexity 1 these are (1, 1), (1, 2), (2, 1) and (2, 2), the late ones of P3
    Fig 8 C: what is wrong about (1, 2) concerns what 1 and 2 do.
    """
    anchors_of_wrong = np.unique(pairs_A2[is_wrong_A])
    return np.isin(pairs_A2, anchors_of_wrong).all(-1)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [threshold, gammas + 1]: time by depth, then by pair.

    A dot is a member; a line goes through the means over seeds. A triangle at the top
    is a member that never gets there.
    """
    gammas = np.unique(result.members['gamma'])
    for x, threshold in enumerate(result.threshold_X):
        for i, gamma in enumerate(gammas):
            _draw_times(axes[x, i], result, x, gamma)
            axes[x, i].set_title(f'train loss < {threshold:g}, γ {gamma:g}')
        axes[x, 0].set_ylabel('epoch')
        panel = axes[x, len(gammas)]
        ends = (gammas[-1], gammas[0])
        if x < len(ends):
            _draw_pairs(panel, result, ends[x])
        else:
            panel.set_axis_off()
    look = {'title_fontsize': 6, 'fontsize': 6, 'ncols': 3, 'loc': 'lower center'}
    axes[0, 0].legend(title='wrong pairs', **look)


def layout(result: Result) -> style.Layout:
    columns = len(np.unique(result.members['gamma'])) + 1
    rows = len(result.threshold_X)
    return style.Layout(rows, columns, 2.4 * columns, 2.1 * rows)


def _read_depth(experiment: Experiment) -> int:
    model = experiment.model
    if not hasattr(model, 'depth'):
        raise UserError(
            f'model {model.name!r}: it has no depth, which this figure shows'
        )
    return model.depth


def _count_steps(run: Run, point: Point) -> float:
    """Steps of an epoch: all cohorts have as many training examples."""
    experiment = run.experiment_of(**point)
    num_train = experiment.task.make().num_train
    return num_train / experiment.train.batch_size


def _find_pair_epochs(
    member: xr.Dataset, epoch_S: np.ndarray, pairs_A2: np.ndarray, accuracy: float
) -> np.ndarray:
    """The first recorded epoch with this accuracy on each pair, [A]."""
    names = [anchors.name_pair(a, b) for a, b in pairs_A2.tolist()]
    if not np.isin(names, member.group.values).all():
        return np.full(len(names), np.nan)
    of_pairs = member.agreement_by_group.sel(
        probe='seen_train', mapping='assigned', group=names
    )
    agreement_SA = of_pairs.transpose('step', 'group').values
    return find_moments(epoch_S, agreement_SA, accuracy, tolerance=0.0).first


def _draw_times(axis: Axes, result: Result, x: int, gamma: float) -> None:
    """Epochs by depth, a colour for each complexity."""
    levels = np.unique(result.complexity_M)
    colours = style.plt.get_cmap('viridis')(np.linspace(0, 0.9, len(levels)))
    depths = np.unique(result.depth_M)
    for i, level in enumerate(levels):
        is_here_M = (result.complexity_M == level) & (result.members['gamma'] == gamma)
        epoch_M = result.epoch_MX[is_here_M, x]
        depth_M = result.depth_M[is_here_M] + 0.12 * (i - (len(levels) - 1) / 2)
        is_known_M = np.isfinite(epoch_M)
        axis.plot(depth_M, epoch_M, '.', ms=3, color=colours[i])
        never = np.full((~is_known_M).sum(), result.last_epoch)
        axis.plot(depth_M[~is_known_M], never, '^', ms=3, color=colours[i])
        means = []
        for depth in depths:
            in_column = result.depth_M[is_here_M] == depth
            mean = np.nan  # also if one never fits
            if in_column.any():
                mean = epoch_M[in_column].mean()
            means.append(mean)
        axis.plot(depths, means, color=colours[i], lw=1.2, label=f'{level}')
    axis.set_xticks(depths)
    axis.set(xlabel='depth', ylim=(0, None))


def _draw_pairs(axis: Axes, result: Result, gamma: float) -> None:
    """When each pair is learned, at the least depth, with the fewest wrong pairs."""
    is_complex_M = result.complexity_M > 0
    if not is_complex_M.any() or np.isnan(result.pair_epoch_MA).all():
        axis.set_axis_off()
        return
    level = result.complexity_M[is_complex_M].min()
    depth = result.depth_M.min()
    is_here_M = (result.complexity_M == level) & (result.depth_M == depth)
    is_here_M &= result.members['gamma'] == gamma
    for m in np.flatnonzero(is_here_M):
        is_wrong_A = result.is_wrong_MA[m]
        is_near_A = shares_anchor(result.pairs_A2, is_wrong_A)
        kind_A = np.where(is_wrong_A, 'C3', np.where(is_near_A, 'C1', 'C0'))
        place_A = np.arange(len(kind_A))
        axis.scatter(place_A, result.pair_epoch_MA[m], c=kind_A.tolist(), s=6, lw=0)
    names = [f'{a},{b}' for a, b in result.pairs_A2.tolist()]
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=5)
    noun = 'pair' if level == 1 else 'pairs'
    axis.set_title(f'99 % by pair: {level} wrong {noun} (red), γ {gamma:g}', fontsize=6)
