"""What vectors inside a member say about a claim."""

from typing import NamedTuple

from analysis import cosine, tsne
from analysis.report.readings.reading import Reading

PARALLEL = 0.8  # mean cosine that counts as "nearly parallel"
LOW = 0.4  # mean cosine that counts as "low"
CONTRAST = 0.1  # inside the boxes above outside, with the mean vector removed
AS_MANY = 1 / 2  # neighbours with the reverse pair, for each with the pair itself
ABOVE_CHANCE = 2  # times
PAIR, REVERSE = 0, 1  # kinds of neighbours, along `nearest.KINDS`


class Boxes(NamedTuple):
    """The boxes of equal targets in a matrix of cosines."""

    inside: float  # mean cosine
    outside: float
    contrast: float  # inside minus outside, with the mean vector removed
    interval: tuple[float, float]  # of the contrast


def read_reverse_neighbours(result: tsne.Result) -> Reading:
    """At least half as many neighbours carry the reverse pair as the pair itself."""
    same = result.shares[0, PAIR]
    reverse = result.shares[0, REVERSE]
    chance = result.chance[0, REVERSE]
    holds = reverse >= same * AS_MANY and reverse > ABOVE_CHANCE * chance
    return Reading(
        number=f'share of neighbours: same pair {same:.2f}, '
        f'reversed pair {reverse:.2f}',
        holds=holds,
        note=f'chance for the reversed pair {chance:.2f}; {tsne.SPACES[0]}',
    )


def read_parallel_values(result: cosine.Result) -> Reading:
    """High where targets are equal, and higher than elsewhere without the mean."""
    boxes = _measure_boxes(result, 'v')
    return _read_boxes(boxes, _are_parallel(boxes))


def read_unlike_values(result: cosine.Result) -> Reading:
    """Low where targets are equal, and no higher than elsewhere without the mean."""
    boxes = _measure_boxes(result, 'v')
    are_unlike = boxes.inside < LOW and boxes.contrast <= CONTRAST
    return _read_boxes(boxes, are_unlike)


def read_single_anchor(result: cosine.Result) -> Reading:
    """As `read_parallel_values`, of the values at the first anchor."""
    boxes = _measure_boxes(result, 'u')
    return _read_boxes(boxes, _are_parallel(boxes))


def _measure_boxes(result: cosine.Result, name: str) -> Boxes:
    """Means over both triangles of one kind of vector."""
    n = cosine.NAMES.index(name)
    contrast, low, high = result.difference_centred[n]
    return Boxes(
        inside=result.inside[n].mean(),
        outside=result.outside[n].mean(),
        contrast=contrast,
        interval=(low, high),
    )


def _are_parallel(boxes: Boxes) -> bool:
    return boxes.inside >= PARALLEL and boxes.contrast > CONTRAST


def _read_boxes(boxes: Boxes, holds: bool) -> Reading:
    inside, outside, contrast, (low, high) = boxes
    return Reading(
        number=f'cosine {inside:.2f} inside the boxes, {outside:.2f} outside',
        holds=holds,
        note='inside minus outside with the mean vector removed: '
        f'{contrast:+.2f} [{low:.2f}, {high:.2f}]',
    )
