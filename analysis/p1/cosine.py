"""Are vectors parallel where answers are equal? Cosines in a member (P1 Fig 4 a, b, c).

v(x; a1, a2) is X_ao of layer 2 at the last token, u(x; a1) is V of layer 2 at the first
anchor. The paper says: in an inferential network these vectors are parallel where the
inferential targets agree, even for different pairs; in a symmetric network they are
not, even for equal outputs. A heat-map shows two comparisons, one in each triangle. Its
diagonal belongs to neither and is empty:
  v  (3, 3) with (2, 2) below, (1, 2) with (1, 3) above, as in the paper
  u  3 with 2 below, 1 with 2 above: our choice, P1 does not name its anchors

  python -m analysis cosine --run runs/phase --gamma=1.7 --seed=0
"""

from typing import Annotated, NamedTuple

import numpy as np

from analysis.circuits import sequences
from analysis.drawing import style
from analysis.drawing.triangles import draw_profile, draw_triangles
from analysis.members.member import Member, make_untrained
from analysis.vectors import extract, triangles
from anchorjax.errors import require
from anchorjax.limits import at_least, at_most

TITLE = 'Cosines of vectors'
PAPER = 'P1 Fig 4'
CAPTION = (
    'Does the network hold the same vector for questions with the same right answer? '
    'The cosines are between such vectors; red boxes mark equal answers.'
)


NAMES = ('v', 'u')
# What is compared: row and column of the lower triangle, then of the upper one.
PAIRS_OF_V = np.array([[3, 3], [2, 2], [1, 2], [1, 3]])
ANCHORS_OF_U = np.array([3, 2, 1, 2])
COMPARED = (
    ('(3,3)×(2,2)', '(1,2)×(1,3)'),
    ('(3)×(2)', '(1)×(2)'),
)


class Result(NamedTuple):
    """Axes: name (v, u), X keys of the rows, X of the columns."""

    keys_X: np.ndarray
    cosine: np.ndarray  # [name, X, X], mean over contexts; NaN on the diagonal
    centred: np.ndarray  # the same of centred vectors, see compute
    apart: np.ndarray  # [name, X, X] target of the row minus target of the column
    difference: np.ndarray  # [name, (mean, low, high)]: inside the boxes minus outside
    difference_centred: np.ndarray
    untrained_centred: np.ndarray  # [name] its mean before training; NaN if not known
    inside: np.ndarray  # [name, (lower, upper)] mean cosine where the targets agree
    outside: np.ndarray
    inside_centred: np.ndarray
    outside_centred: np.ndarray
    compared: tuple[tuple[str, str], ...]  # [name, triangle] row × column
    contexts: int


def compute(
    member: Member,
    keys: Annotated[tuple[int, int], 'first and last key item, lo,hi'] = (30, 40),
    contexts: Annotated[
        int, at_least(2), at_most(1_000), 'draws of the noise to average over'
    ] = 32,
) -> Result:
    """Cosines of all pairs of keys lo..hi (both included), inside boxes and outside.

    A context is one draw of the noise, the same for all the vectors of a matrix. For
    `centred`, the mean of all vectors of a matrix (in one context) is removed first,
    because a part that all of them share makes every cosine large.

    The difference is the mean over both triangles. Its 95% interval resamples the
    contexts: it covers other draws of the noise, but not other keys, other pairs or
    other training runs.

    Raises:
      UserError: keys outside the task's, no equal targets among them, one layer, or a
        task whose anchors come before the key.
    """
    keys_X = _list_keys(member, keys)
    noise_CT = _sample_noise(member, contexts)
    apart_v_XX = _compare_targets(member, keys_X, PAIRS_OF_V)
    apart_u_XX = _compare_targets(member, keys_X, ANCHORS_OF_U[:, None])
    apart = np.stack([apart_v_XX, apart_u_XX])
    vectors = _extract_vectors(member, keys_X, noise_CT)
    raw = triangles.compare(vectors, apart, centre=False)
    centred = triangles.compare(vectors, apart, centre=True)
    untrained_centred = np.full(len(NAMES), np.nan)
    start = make_untrained(member)
    if start is not None:
        vectors = _extract_vectors(start, keys_X, noise_CT)
        untrained = triangles.compare(vectors, apart, centre=True)
        untrained_centred = untrained.difference[:, 0]
    return Result(
        keys_X=keys_X,
        cosine=raw.cosine,
        centred=centred.cosine,
        apart=apart,
        difference=raw.difference,
        difference_centred=centred.difference,
        untrained_centred=untrained_centred,
        inside=raw.inside,
        outside=raw.outside,
        inside_centred=centred.inside,
        outside_centred=centred.outside,
        compared=COMPARED,
        contexts=contexts,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 3]: heat-maps of v and u, and cosine by distance of the targets.

    The second row shows the same with the mean vector removed.
    """
    first, second = axes
    apart = result.apart
    lowest = min(0, np.nanmin(result.cosine))
    _draw_heatmaps(first, result, result.cosine, 'viridis', lowest)
    first[0].set_ylabel('cosine', fontweight='bold')
    draw_profile(first[2], NAMES, apart, result.cosine, result.difference)
    _draw_heatmaps(second, result, result.centred, 'BrBG', -1)
    second[0].set_ylabel('cosine, mean removed', fontweight='bold')
    draw_profile(second[2], NAMES, apart, result.centred, result.difference_centred)


def _extract_vectors(
    member: Member, keys_X: np.ndarray, noise_CT: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """v and u of every context, side and key, [C, S, X, D] each."""
    v_CSXD = extract.compute_v(member, keys_X, PAIRS_OF_V, noise_CT)
    u_CSXD = extract.compute_u(member, keys_X, ANCHORS_OF_U, noise_CT)
    return v_CSXD, u_CSXD


def _list_keys(member: Member, keys: tuple[int, int]) -> np.ndarray:
    low, high = sequences.require_anchor_task(member).keys
    allowed = f'lo,hi in [{low}, {high})'
    require(len(keys) == 2, 'keys', tuple(keys), allowed)
    first, last = keys
    require(low <= first < last < high, 'keys', tuple(keys), allowed)
    return np.arange(first, last + 1)


def _sample_noise(member: Member, contexts: int) -> np.ndarray:
    """Tokens of every context [C, T]."""
    task = member.experiment.task
    rng = np.random.default_rng(0)
    return rng.integers(*task.keys, (contexts, task.seq_len))


def _compare_targets(
    member: Member,
    keys_X: np.ndarray,
    anchors_SA: np.ndarray,
) -> np.ndarray:
    """Inferential target of the row minus that of the column [X, X].

    Args:
      anchors_SA: the A anchors of every side.
    """
    task = member.experiment.task
    shifts = task.shift_of
    targets_SX = []
    for anchors in anchors_SA.tolist():
        target_X = keys_X
        for anchor in anchors:
            allowed = f'anchors with {anchor}, which this figure compares'
            require(anchor in shifts, 'task.anchors', tuple(shifts), allowed)
            target_X = target_X + shifts[anchor]
        targets_SX.append(target_X)
    apart_XX = triangles.subtract_targets(np.array(targets_SX))
    comparable = triangles.is_comparable(apart_XX)
    first, *_, last = keys_X.tolist()
    allowed = 'a range with targets that agree and targets that differ'
    require(comparable, 'keys', (first, last), allowed)
    return apart_XX


def _draw_heatmaps(
    axes: np.ndarray,
    result: Result,
    cosine: np.ndarray,
    colours: str,
    lowest: float,
) -> None:
    """Draws v and u into the first two axes of a row, with one colour bar."""
    keys_X = result.keys_X
    for n, name in enumerate(NAMES):
        axis = axes[n]
        below, above = result.compared[n]
        axis.set_title(f'{name}: {below} below, {above} above')
        matrices = (cosine[n], result.apart[n])
        image = draw_triangles(axis, *matrices, keys_X, colours, lowest)
    axis.figure.colorbar(image, ax=axis, shrink=0.9)


layout = style.Layout(2, 3, 7.2, 5.2)
