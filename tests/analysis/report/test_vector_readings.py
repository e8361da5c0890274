"""Claims about vectors: planted members that agree, contradict, or say nothing."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, UNDECIDED
from analysis.report.readings import vectors

NAN = math.nan
SPREAD = (0.0, 0.01, -0.01, 0.02)  # of the members around a planted number


def make_neighbours(
    same: float, reverse: float, untrained: float = 0.06, members: int = 4
) -> list[SimpleNamespace]:
    """Members with these shares of neighbours; chance is 1 in 16 for either."""
    results = []
    for shift in SPREAD[:members]:
        shares = [same + shift, reverse + shift / 5, 0.0]
        results.append(
            SimpleNamespace(
                shares=np.array([shares, shares]),
                chance=np.full((2, 3), 1 / 16),
                untrained=np.array([untrained, untrained, 0.0]),
            )
        )
    return results


@pytest.mark.parametrize(
    ('results', 'expected'),
    [
        (make_neighbours(0.5, 0.45), HOLDS),
        (make_neighbours(0.98, 0.005), OPPOSITE),  # a pair and its reverse lie apart
        (make_neighbours(1 / 16, 1 / 16), DOES_NOT_HOLD),  # chance
        (make_neighbours(0.5, 0.45, untrained=0.44), DOES_NOT_HOLD),  # it was there
        (make_neighbours(0.7, 0.2), DOES_NOT_HOLD),  # mostly the pair itself
        (make_neighbours(0.5, 0.25), UNDECIDED),  # half as many, more or less
        (make_neighbours(0.5, 0.45, untrained=NAN), UNDECIDED),
        (make_neighbours(0.5, NAN), UNDECIDED),
        (make_neighbours(0.5, 0.45, members=2), UNDECIDED),
    ],
)
def test_the_reverse_is_a_neighbour_beyond_chance_and_the_start(results, expected):
    reading = vectors.read_reverse_neighbours(results)
    assert reading.verdict is expected, reading


def make_cosines(
    inside: float, contrast: float, untrained: float = 0.0, members: int = 4
) -> list[SimpleNamespace]:
    """Members with these cosines in the boxes, of v and u alike."""
    results = []
    for shift in SPREAD[:members]:
        mean = contrast + shift
        # The interval over the vectors of one member is none of the claim's business.
        difference = np.array([[mean, -9, 9], [mean, -9, 9]])
        results.append(
            SimpleNamespace(
                inside=np.full((2, 2), inside + shift),
                outside=np.full((2, 2), inside - 0.3),
                difference_centred=difference,
                untrained_centred=np.full(2, untrained),
            )
        )
    return results


PARALLEL = [
    (make_cosines(0.95, 0.6), HOLDS),
    (make_cosines(0.95, 0.0), DOES_NOT_HOLD),  # everything is parallel
    (make_cosines(0.2, 0.0), DOES_NOT_HOLD),
    (make_cosines(0.95, 0.6, untrained=0.6), DOES_NOT_HOLD),
    (make_cosines(0.95, -0.4), OPPOSITE),
    (make_cosines(0.8, 0.6), UNDECIDED),
    (make_cosines(0.95, 0.6, untrained=NAN), UNDECIDED),
    (make_cosines(NAN, 0.6), UNDECIDED),
    (make_cosines(0.95, 0.6, members=2), UNDECIDED),
]


@pytest.mark.parametrize(('results', 'expected'), PARALLEL)
def test_parallel_values(results, expected):
    for read in (vectors.read_parallel_values, vectors.read_single_anchor):
        assert read(results).verdict is expected


@pytest.mark.parametrize(
    ('results', 'expected'),
    [
        (make_cosines(0.2, 0.0), HOLDS),
        (make_cosines(0.2, 0.3, untrained=0.3), HOLDS),  # no more than at the start
        (make_cosines(0.95, 0.6), OPPOSITE),  # the pattern of an inferential network
        (make_cosines(0.95, 0.0), DOES_NOT_HOLD),
        (make_cosines(0.2, 0.6), DOES_NOT_HOLD),
        (make_cosines(0.4, 0.0), UNDECIDED),
        (make_cosines(0.2, NAN), UNDECIDED),
        (make_cosines(0.2, 0.0, members=2), UNDECIDED),
    ],
)
def test_unlike_values(results, expected):
    reading = vectors.read_unlike_values(results)
    assert reading.verdict is expected, reading


def test_the_interval_is_over_members():
    reading = vectors.read_parallel_values(make_cosines(0.95, 0.6))
    assert 'with the mean vector removed 0.60 [0.58, 0.63] apart' in reading.number
    assert reading.null == '0 apart, untrained 0.00'
    assert reading.note == '4 members'
    few = vectors.read_parallel_values(make_cosines(0.95, 0.6, members=1))
    assert few.note == '1 member, at least 3 needed; 1 members'
    assert few.number.startswith('cosine 0.95 inside the boxes')
