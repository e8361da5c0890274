"""Are the vectors of equal answers parallel? Cosines inside a member (P1 Fig 4 a, b, c).

v(x; a1, a2) is X_ao of layer 2 at the last token, u(x; a1) is V of layer 2 at the first anchor.
The paper: in an inferential network they align where the inferential targets agree, also between
different pairs; in a symmetric one they do not, even for equal outputs. Two comparisons share a
heat-map, one in each triangle; the diagonal belongs to neither and stays empty:
  v  (3, 3) with (2, 2) below, (1, 2) with (1, 3) above, as in the paper
  u  3 with 2 below, 1 with 2 above: P1 does not say which, these are ours

  python analysis/cosine.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import sequences
from analysis.drawing import command, style, triangles
from analysis.members.member import Member
from analysis.vectors import extract
from anchorjax.errors import require

NAMES = ('v', 'u')
# Pairs of v and anchors of u: (row, column) of the lower triangle, then of the upper one.
COMPARED = (
    (((3, 3), (2, 2)), ((1, 2), (1, 3))),
    (((3,), (2,)), ((1,), (2,))),
)


class Result(NamedTuple):
    """Axes: name (v, u), X keys of the rows, X of the columns. `centred` is explained below."""

    keys_X: np.ndarray
    cosine: np.ndarray  # [name, X, X], mean over contexts; NaN on the diagonal
    centred: np.ndarray  # the same
    apart: np.ndarray  # [name, X, X] target of the row minus target of the column
    difference: np.ndarray  # [name, (mean, low, high)]: inside the boxes minus outside
    difference_centred: np.ndarray
    inside: np.ndarray  # [name, (lower, upper)] mean cosine where the targets agree
    outside: np.ndarray
    inside_centred: np.ndarray
    outside_centred: np.ndarray
    compared: tuple[tuple[str, str], ...]  # [name, triangle] row × column
    contexts: int


def compute(member: Member, keys=(30, 40), contexts: int = 32) -> Result:
    """Cosines of every two of the keys lo..hi (both included), and boxes minus the rest.

    A context is one draw of the noise, the same for all the vectors of a matrix. `centred`: the
    mean of all the vectors of a matrix (of a context) is removed first, since what is common to
    all of them makes every cosine large. The difference is the mean over both triangles.

    Its 95% interval resamples the contexts: it says what another draw of noise would change,
    nothing about other keys, other pairs, or other training runs.

    Raises:
      UserError: keys outside the task's, no equal targets among them, or a single layer.
    """
    keys_X, noise_CT = _keys(member, keys), _noise(member, contexts)
    v_S2, u_S1 = (
        np.array([side for half in compared for side in half]) for compared in COMPARED
    )
    apart = np.stack([_apart(member, keys_X, sides) for sides in (v_S2, u_S1)])
    found = (
        extract.v(member, keys_X, v_S2, noise_CT),
        extract.u(member, keys_X, u_S1[:, 0], noise_CT),
    )
    raw, centred = (
        [triangles.cosines(x, centre) for x in found] for centre in (False, True)
    )
    (inside, outside), (inside_c, outside_c) = (
        _boxes(m, apart) for m in (raw, centred)
    )
    return Result(
        keys_X=keys_X,
        cosine=np.stack([m.mean(0) for m in raw]),
        centred=np.stack([m.mean(0) for m in centred]),
        apart=apart,
        difference=triangles.interval((inside - outside).mean(1).T),
        difference_centred=triangles.interval((inside_c - outside_c).mean(1).T),
        inside=inside.mean(-1),
        outside=outside.mean(-1),
        inside_centred=inside_c.mean(-1),
        outside_centred=outside_c.mean(-1),
        compared=tuple(tuple(map(_text, halves)) for halves in COMPARED),
        contexts=contexts,
    )


def draw(result: Result, axes) -> None:
    """Fills axes [2, 3]: heat-maps of v and u, cosine by distance of targets; centred below."""
    rows = (
        (result.cosine, result.difference, 'viridis', min(0, np.nanmin(result.cosine))),
        (result.centred, result.difference_centred, 'BrBG', -1),
    )
    for row, (cosine, difference, colours, lowest) in enumerate(rows):
        for n, axis in enumerate(axes[row, :2]):
            below, above = result.compared[n]
            axis.set_title(f'{NAMES[n]}: {below} below, {above} above')
            matrix = (cosine[n], result.apart[n], result.keys_X)
            image = triangles.heatmap(axis, *matrix, colours, lowest)
        axes[row, 0].set_ylabel(
            ('cosine', 'cosine, mean removed')[row], fontweight='bold'
        )
        axes[row, 1].figure.colorbar(image, ax=axes[row, 1], shrink=0.9)
        _profile(axes[row, 2], result.apart, cosine, difference)


def _keys(member: Member, keys) -> np.ndarray:
    sequences.shifts(member)  # complains of another task
    low, high = member.experiment.task.keys
    fits = len(keys) == 2 and low <= keys[0] < keys[1] < high
    require(fits, 'keys', tuple(keys), f'lo,hi in [{low}, {high})')
    return np.arange(keys[0], keys[1] + 1)


def _noise(member: Member, contexts: int) -> np.ndarray:
    require(
        contexts >= 2, 'contexts', contexts, 'at least 2, to see how much they differ'
    )
    task = member.experiment.task
    return np.random.default_rng(0).integers(*task.keys, (contexts, task.seq_len))


def _apart(member: Member, keys_X, sides) -> np.ndarray:
    """[X, X]: inferential target of the row minus that of the column."""
    task = member.experiment.task
    shift = dict(zip(task.anchors, task.shifts, strict=True))
    missing = sorted(set(sides.ravel().tolist()) - set(shift))
    require(not missing, 'task.anchors', task.anchors, f'with {missing}, compared here')
    targets_SX = np.array([keys_X + sum(shift[a] for a in side) for side in sides])
    apart_XX = triangles.apart(targets_SX)
    ends = (int(keys_X[0]), int(keys_X[-1]))
    allowed = 'a range with targets that agree and targets that do not'
    require(triangles.comparable(apart_XX), 'keys', ends, allowed)
    return apart_XX


def _boxes(matrices, apart) -> np.ndarray:
    """[(inside, outside), name, triangle, context] mean cosines."""
    pairs = zip(matrices, apart, strict=True)
    return np.stack([triangles.boxes(m, apart_XX) for m, apart_XX in pairs], axis=1)


def _profile(axis, apart, cosine, difference) -> None:
    """Does the mean cosine peak where the targets are equal?"""
    for n, (name, colour) in enumerate(zip(NAMES, ('#0072B2', '#D55E00'), strict=True)):
        label = '{}: {:+.3f} [{:+.3f}, {:+.3f}]'.format(name, *difference[n])
        line = triangles.by_distance(cosine[n], apart[n])
        axis.plot(*line, marker='o', ms=3, color=colour, label=label)
    axis.set(
        xlabel='distance of the targets (0: boxes)', ylim=(axis.get_ylim()[0], 1.02)
    )
    axis.legend(
        loc='lower center', bbox_to_anchor=(0.5, 1), title='boxes − outside [95%]'
    )


def _text(half) -> str:
    """'(3,3)×(2,2)': row and column."""
    return '×'.join(f'({",".join(map(str, side))})' for side in half)


layout = style.Layout(2, 3, 7.2, 5.2)

if __name__ == '__main__':
    command.member(
        __doc__,
        'cosine',
        compute,
        draw,
        layout,
        keys=command.Flag(command.numbers, (30, 40), 'first and last key item, lo,hi'),
        contexts=command.Flag(int, 32, 'draws of the noise to average over'),
    )
