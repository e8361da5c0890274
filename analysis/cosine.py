"""Are the vectors of equal answers parallel? Cosines inside a member (P1 Fig 4 a, b, c).

v(x; a1, a2) is X_ao of layer 2 at the last token, u(x; a1) is V of layer 2 at the first anchor.
The paper: in an inferential network they align where the inferential targets agree, also between
different pairs; in a symmetric one they do not, even for equal outputs. Two comparisons share a
heat-map, one in each triangle; the diagonal belongs to neither and stays empty:
  v  (3, 3) with (2, 2) below, (1, 2) with (1, 3) above, as in the paper
  u  3 with 2 below, 1 with 2 above: P1 does not say which, these are ours

  python analysis/cosine.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
"""

import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import numpy as np
from matplotlib.patches import Rectangle

from analysis import command, sequences, style
from analysis.measures import cosines
from analysis.member import Member
from anchorjax.errors import UserError, require

NAMES = ('v', 'u')
# (row, column) of the lower triangle, then of the upper one.
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
    apart = np.stack([_apart(member, compared, keys_X) for compared in COMPARED])
    found = [_vectors(member, compared, keys_X, noise_CT) for compared in COMPARED]
    raw, centred = (
        np.stack([_matrices(x, centre) for x in found], axis=1) for centre in (False, True)
    )
    (inside, outside), (inside_c, outside_c) = (_boxes(m, apart) for m in (raw, centred))
    return Result(
        keys_X=keys_X,
        cosine=raw.mean(0),
        centred=centred.mean(0),
        apart=apart,
        difference=_interval((inside - outside).mean(-1)),
        difference_centred=_interval((inside_c - outside_c).mean(-1)),
        inside=inside.mean(0),
        outside=outside.mean(0),
        inside_centred=inside_c.mean(0),
        outside_centred=outside_c.mean(0),
        compared=tuple(tuple(map(_text, halves)) for halves in COMPARED),
        contexts=contexts,
    )


def _keys(member: Member, keys) -> np.ndarray:
    sequences.shifts(member)  # complains of another task
    low, high = member.experiment.task.keys
    fits = len(keys) == 2 and low <= keys[0] < keys[1] < high
    require(fits, 'keys', tuple(keys), f'lo,hi in [{low}, {high})')
    return np.arange(keys[0], keys[1] + 1)


def _noise(member: Member, contexts: int) -> np.ndarray:
    require(contexts >= 2, 'contexts', contexts, 'at least 2, to see how much they differ')
    task = member.experiment.task
    return np.random.default_rng(0).integers(*task.keys, (contexts, task.seq_len))


def _apart(member: Member, compared, keys_X) -> np.ndarray:
    """Target of the row minus target of the column, by triangle; its zeros are the boxes."""
    task = member.experiment.task
    shift = dict(zip(task.anchors, task.shifts, strict=True))
    missing = {a for half in compared for side in half for a in side} - set(shift)
    require(not missing, 'task.anchors', task.anchors, f'with {sorted(missing)}, compared here')
    of = lambda anchors: keys_X + sum(shift[a] for a in anchors)
    below, above = (of(row)[:, None] - of(column) for row, column in compared)
    apart_XX = np.where(np.tri(len(keys_X), k=-1, dtype=bool), below, above)
    for half in _halves(len(keys_X)):
        if (apart_XX[half] == 0).all() or (apart_XX[half] != 0).all():
            keys = f'{keys_X[0]},{keys_X[-1]}'
            raise UserError(f'keys = {keys}: {compared} needs targets that agree and that do not')
    return apart_XX


def _vectors(member: Member, compared, keys_X, noise_CT) -> np.ndarray:
    """[context, side, X, .]: v or u of lower row, lower column, upper row, upper column."""
    sides_S2 = np.array([(side * 2)[:2] for half in compared for side in half])  # u(a): pair (a, a)
    shape = (len(noise_CT), len(sides_S2), len(keys_X))
    c, s, k = (i.ravel() for i in np.indices(shape))
    position = _position(member)
    places = sequences.place(noise_CT[c], np.full(len(c), position), keys_X[k], sides_S2[s])
    blocks = member.forward(places.tokens_BT).blocks
    if len(blocks) < 2:
        raise UserError('the model has 1 layer: these vectors are of layer 2')
    chosen = blocks[1].X_ao[:, -1] if len(compared[0][0]) == 2 else blocks[1].V[:, position + 1]
    return chosen.reshape(*shape, -1)


def _position(member: Member) -> int:
    """Of the key item in the paper's sequence, as long as the task's: right before the anchors."""
    is_anchor_T = np.isin(sequences.paper(member), member.experiment.task.anchors)
    return int(is_anchor_T.argmax()) - 1


def _matrices(vectors, centre: bool) -> np.ndarray:
    """[context, X, X] cosines, the two comparisons in their triangles."""
    if centre:
        vectors = vectors - vectors.mean((1, 2), keepdims=True)
    found = [np.where(np.tri(len(v[0])), cosines(v[0], v[1]), cosines(v[2], v[3])) for v in vectors]
    return np.where(np.eye(len(vectors[0, 0])), np.nan, found)


def _halves(size: int):
    """Lower and upper triangle without the diagonal, bool [X, X]."""
    lower = np.tri(size, k=-1, dtype=bool)
    return lower, lower.T


def _boxes(cosine, apart) -> tuple[np.ndarray, np.ndarray]:
    """Mean cosine where the targets agree and where not, [context, name, triangle] each."""
    mean = lambda n, chosen: cosine[:, n][:, chosen].mean(-1)
    halves, names = _halves(apart.shape[-1]), range(len(apart))
    inside, outside = (
        np.array([[mean(n, half & ((apart[n] == 0) == agree)) for half in halves] for n in names])
        for agree in (True, False)
    )
    return inside.transpose(2, 0, 1), outside.transpose(2, 0, 1)


def _interval(difference, draws: int = 2_000) -> np.ndarray:
    """[name, 3]: mean and 95% interval over resampled contexts of [context, name]."""
    contexts = len(difference)
    chosen = np.random.default_rng(0).integers(contexts, size=(draws, contexts))
    low, high = np.percentile(difference[chosen].mean(1), (2.5, 97.5), axis=0)
    return np.stack([difference.mean(0), low, high], axis=-1)


def draw(result: Result, axes) -> None:
    """Fills axes [2, 3]: heat-maps of v and u, cosine by distance of targets; centred below."""
    rows = (
        (result.cosine, result.difference, 'viridis', min(0, np.nanmin(result.cosine))),
        (result.centred, result.difference_centred, 'BrBG', -1),
    )
    for row, (cosine, difference, colours, lowest) in enumerate(rows):
        for n, name in enumerate(NAMES):
            below, above = result.compared[n]
            axes[row, n].set_title(f'{name}: {below} below, {above} above')
            image = axes[row, n].imshow(cosine[n], cmap=colours, vmin=lowest, vmax=1)
            _boxed(axes[row, n], result, n)
        axes[row, 0].set_ylabel(('cosine', 'cosine, mean removed')[row], fontweight='bold')
        axes[row, 1].figure.colorbar(image, ax=axes[row, 1], shrink=0.9)
        _profile(axes[row, 2], result, cosine, difference)


def _boxed(axis, result: Result, n: int) -> None:
    """Red where the targets agree."""
    keys_X = result.keys_X
    for i, j in np.argwhere(_off(result) & (result.apart[n] == 0)):
        axis.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec='red', lw=1.2))
    ticks = np.arange(0, len(keys_X), max(len(keys_X) // 5, 1))
    axis.set_xticks(ticks, keys_X[ticks])
    axis.set_yticks(ticks, keys_X[ticks])


def _profile(axis, result: Result, cosine, difference) -> None:
    """Mean cosine of all the cells whose targets are so far apart: does it peak at 0?"""
    for n, (name, colour) in enumerate(zip(NAMES, ('#0072B2', '#D55E00'), strict=True)):
        far = np.abs(result.apart[n])
        at = np.unique(far[_off(result)])
        height = [cosine[n][_off(result) & (far == d)].mean() for d in at]
        label = '{}: {:+.3f} [{:+.3f}, {:+.3f}]'.format(name, *difference[n])
        axis.plot(at, height, marker='o', ms=3, color=colour, label=label)
    axis.set(xlabel='distance of the targets (0: boxes)', ylim=(axis.get_ylim()[0], 1.02))
    axis.legend(loc='lower center', bbox_to_anchor=(0.5, 1), title='boxes − outside [95%]')


def _off(result: Result) -> np.ndarray:
    return ~np.eye(len(result.keys_X), dtype=bool)


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
