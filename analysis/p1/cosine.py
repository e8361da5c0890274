"""Are vectors parallel where answers are equal? Cosines in a member (P1 Fig 4 a, b, c).

v(x; a1, a2) is X_ao of the last layer at the last token, u(x; a1) is V of that layer at
the first anchor: in P1 layer 2 of 2. The paper says: in a composed network these
vectors are parallel where the composed targets agree, even for different pairs; in a
symmetric network they are not, even for equal outputs. P1's cosines are raw; a part
that all vectors share makes every one of them large, so beside them are cosines from
which it is removed. A heat-map shows two comparisons, one in each triangle. Its
diagonal belongs to neither and is empty:
  v  (3, 3) with (2, 2) below, (1, 2) with (1, 3) above, as in the paper
  u  3 with 2 below, 1 with 2 above: our choice, P1 does not name its anchors

  python -m analysis cosine --run runs/phase --gamma=2.04 --depth=3 --seed=0
"""

from typing import Annotated

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from analysis.circuits import sequences
from analysis.drawing import style
from analysis.members.untrained import find_untrained
from analysis.vectors import extract, triangles
from anchorjax.errors import require
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network

TITLE = 'Cosines of vectors'
PAPER = 'P1 Fig 4'
CAPTION = (
    'Does the network hold the same vector for questions with the same right answer? '
    'The cosines are between such vectors (v: at the last token; u: at the first '
    'anchor), for every two numbers x; each triangle compares two pairs of anchors, or '
    'two anchors. Red boxes mark equal answers. Above: raw cosines, as in P1; below: '
    'the mean of all vectors is removed first. Right: the mean cosine by how far two '
    'answers are apart, and what those in boxes have more than the others (interval: '
    'over draws of the noise).'
)

NAMES = ('v', 'u')
COLOURS = {'v': '#0072B2', 'u': '#D55E00'}
# What is compared: row and column of the lower triangle, then of the upper one.
PAIRS_OF_V = np.array([[3, 3], [2, 2], [1, 2], [1, 3]])
ANCHORS_OF_U = np.array([3, 2, 1, 2])
TITLES = {
    'v': 'v, at the last token\n◣ (3, 3) with (2, 2)  ◥ (1, 2) with (1, 3)',
    'u': 'u, at the first anchor\n◣ anchor 3 with 2  ◥ anchor 1 with 2',
}


def compute(
    member: Network,
    keys: Annotated[tuple[int, int], 'first and last key item, lo,hi'] = (30, 40),
    contexts: Annotated[
        int, at_least(2), at_most(1_000), 'draws of the noise to average over'
    ] = 32,
    layer: Annotated[
        int | None, at_least(1), 'of v and u, from 1; default: the last'
    ] = None,
) -> xr.Dataset:
    """Cosines of all pairs of keys lo..hi (both included), inside boxes and outside.

    A context is one draw of the noise, the same for all the vectors of a matrix. Where
    `centred`, the mean of all vectors of a matrix (in one context) is removed first,
    because a part that all of them share makes every cosine large.

      cosine, inside, outside, difference [centred, vector, ...] of `triangles.compare`
      untrained [centred, vector] the mean of the difference before training, or NaN
      apart     [vector, row, column] target of the row minus target of the column
      layer, depth of v and u, and of the network

    The 95 % interval of the difference covers other draws of the noise, but not other
    keys, other pairs or other training runs.

    Raises:
      UserError: keys outside the task's, no equal targets among them, no such layer,
        or a task whose anchors come before the key.
    """
    task = sequences.require_anchor_task(member)
    low, high = task.keys
    first, last = keys
    allowed = f'lo,hi with {low} <= lo < hi < {high}'
    require(low <= first < last < high, 'keys', keys, allowed)
    keys_X = np.arange(first, last + 1)
    noise_CT = np.random.default_rng(0).integers(*task.keys, (contexts, task.seq_len))
    apart = {
        'v': _compare_targets(member, keys_X, PAIRS_OF_V),
        'u': _compare_targets(member, keys_X, ANCHORS_OF_U[:, None]),
    }
    depth = member.depth
    layer = depth if layer is None else layer
    trained = _compare_vectors(member, keys_X, noise_CT, apart, layer)
    untrained = xr.full_like(trained.difference, np.nan)
    start = find_untrained(member)
    if start is not None:
        before = _compare_vectors(start, keys_X, noise_CT, apart, layer)
        untrained = before.difference
    return trained.assign(
        apart=(('vector', 'row', 'column'), np.stack(list(apart.values()))),
        untrained=untrained.sel(estimate='mean', drop=True),
        contexts=contexts,
        layer=layer,
        depth=depth,
    ).assign_coords(row=keys_X, column=keys_X)


def _compare_vectors(
    member: Network,
    keys_X: np.ndarray,
    noise_CT: np.ndarray,
    apart: dict[str, np.ndarray],
    layer: int,
) -> xr.Dataset:
    """`triangles.compare` of v and u, [centred, vector, ...]."""
    vectors = {
        'v': extract.compute_v(member, keys_X, PAIRS_OF_V, noise_CT, layer),
        'u': extract.compute_u(member, keys_X, ANCHORS_OF_U, noise_CT, layer),
    }
    rows: list[xr.Dataset] = []
    for centre in (False, True):
        found: list[xr.Dataset] = []
        for name in NAMES:
            found.append(triangles.compare(vectors[name], apart[name], centre))
        rows.append(xr.concat(found, pd.Index(NAMES, name='vector')))
    return xr.concat(rows, pd.Index([False, True], name='centred'))


def _compare_targets(
    member: Network, keys_X: np.ndarray, anchors_SA: np.ndarray
) -> np.ndarray:
    """Composed target of the row minus that of the column [X, X].

    Args:
      anchors_SA: the A anchors of every side.
    """
    shifts = sequences.require_anchor_task(member).shift_of
    targets_SX = []
    for anchors in anchors_SA.tolist():
        target_X = keys_X
        for anchor in anchors:
            allowed = f'anchors with {anchor}, which this figure compares'
            require(anchor in shifts, 'task.anchors', tuple(shifts), allowed)
            target_X = target_X + shifts[anchor]
        targets_SX.append(target_X)
    apart_XX = triangles.subtract_targets(np.array(targets_SX))
    first, *_, last = keys_X.tolist()
    allowed = 'a range with targets that agree and targets that differ'
    require(triangles.is_comparable(apart_XX), 'keys', (first, last), allowed)
    return apart_XX


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, 3]: heat-maps of v and u, and cosine by distance of the targets.

    The second row shows the same with the mean vector removed.
    """
    for row, centred in zip(axes, (False, True), strict=True):
        label = 'cosine, mean removed' if centred else 'cosine (as in P1)'
        here = result.sel(centred=centred)
        for axis, name in zip(row, NAMES, strict=False):
            image = _draw_cosines(axis, here.sel(vector=name))
            axis.set_title(TITLES[name], fontsize=7)
            axis.set_xlabel('number x')
        axis.figure.colorbar(image, ax=axis, shrink=0.9)
        row[0].set_ylabel(f'{label}\nnumber x')
        _draw_profile(row[2], here)
        row[2].set_ylabel('mean cosine')
    layer, depth = result.layer.item(), result.depth.item()
    words = f'v and u of layer {layer} of {depth}'
    axes[0, 0].figure.suptitle(f'{words}; means over {result.contexts.item()} contexts')


def _draw_cosines(axis: Axes, matrix: xr.Dataset) -> AxesImage:
    """Draws cosines, always in the same colours, and the boxes in red."""
    image = axis.imshow(matrix.cosine, cmap='BrBG', vmin=-1, vmax=1)
    is_box = (matrix.apart == 0) & (matrix.row != matrix.column)
    for row, column in np.argwhere(is_box.values):
        corner = (column - 0.5, row - 0.5)
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, ec='red', lw=1.2))
    keys = matrix.row.values
    stride = max(len(keys) // 5, 1)
    ticks = np.arange(0, len(keys), stride)
    axis.set_xticks(ticks, keys[ticks])
    axis.set_yticks(ticks, keys[ticks])
    return image


def _draw_profile(axis: Axes, result: xr.Dataset) -> None:
    """The mean cosine by distance of the targets, a line for each vector."""
    for name, colour in COLOURS.items():
        matrix = result.sel(vector=name)
        mean, low, high = matrix.difference.values
        label = f'{name}: {mean:+.2f}'
        if high - low >= 0.005:  # else the interval is the number
            label += f' [{low:+.2f}, {high:+.2f}]'
        line = triangles.average_by_distance(matrix.cosine.values, matrix.apart.values)
        axis.plot(*line, marker='o', ms=3, color=colour, label=label)
    bottom, _ = axis.get_ylim()
    axis.set(xlabel='distance of the answers (0: boxes)', ylim=(bottom, 1.02))
    title = 'in boxes less outside'
    axis.legend(loc='lower center', bbox_to_anchor=(0.5, 1), title=title)


layout = style.Layout(2, 3, 8.4, 5.6)
