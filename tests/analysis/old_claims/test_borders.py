"""Which side of a border an interval is on, and what follows from several parts."""

import math

import numpy as np
import pytest

from analysis.members.rows import average_by_seed
from analysis.members.seeds import pair_seeds
from analysis.members.statistics import Mean
from analysis.old_claims import borders
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
)

NAN = math.nan


@pytest.mark.parametrize(
    ('low', 'high', 'expected'),
    [
        (0.2, 0.4, HOLDS),
        (0.0, 0.4, UNDECIDED),  # it covers the border
        (-0.1, 0.05, DOES_NOT_HOLD),  # flat
        (-0.3, 0.05, DOES_NOT_HOLD),  # not above the border, whatever else
        (-0.4, -0.2, OPPOSITE),
        (NAN, NAN, UNDECIDED),
    ],
)
def test_an_interval_is_judged_as_a_whole(low, high, expected):
    found = Mean((low + high) / 2, low, high)
    assert borders.judge(found, border=0.1, opposite=-0.1) is expected


def test_a_negative_number_is_below_what_the_number_is_above():
    found = borders.negate(Mean(0.2, 0.1, 0.4))
    assert found == Mean(-0.2, -0.4, -0.1)
    assert borders.judge(found, border=-0.5) is HOLDS  # 0.4 is below 0.5


@pytest.mark.parametrize(
    ('rho', 'p', 'interval', 'expected'),
    [
        (0.8, 0.001, (0.6, 0.9), HOLDS),
        (-0.8, 0.001, (-0.9, -0.6), OPPOSITE),
        (0.0, 0.9, (-0.2, 0.2), DOES_NOT_HOLD),
        (0.4, 0.2, (-0.2, 0.9), UNDECIDED),
        (1.0, 0.25, (1.0, 1.0), UNDECIDED),  # so few members that p cannot be small
        (-1.0, 0.25, (-1.0, -1.0), UNDECIDED),
        (NAN, NAN, (NAN, NAN), UNDECIDED),
        (0.8, 0.001, (NAN, NAN), UNDECIDED),  # fewer than three seeds
    ],
)
def test_a_correlation_is_judged(rho, p, interval, expected):
    assert borders.judge_correlation(rho, p, interval) is expected


@pytest.mark.parametrize(
    ('parts', 'expected'),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([OPPOSITE, OPPOSITE], OPPOSITE),
        ([HOLDS, OPPOSITE], DOES_NOT_HOLD),
        ([UNDECIDED, DOES_NOT_HOLD], DOES_NOT_HOLD),
        ([HOLDS, UNDECIDED], UNDECIDED),
        ([OPPOSITE, UNDECIDED], DOES_NOT_HOLD),
    ],
)
def test_all_parts_of_a_claim_must_hold(parts, expected):
    assert borders.combine(parts) is expected


def test_a_nan_is_not_left_out_of_a_mean():
    assert np.isnan(borders.estimate([1.0, 2.0, 3.0, NAN])).all()
    found = borders.estimate([1.0, 2.0, 3.0])
    assert found.mean == 2 and found.low < 1 < 3 < found.high


def test_a_reading_says_why_it_is_undecided():
    few = borders.conclude(HOLDS, '1', 'null', 'note', count=2)
    assert few.verdict is UNDECIDED
    assert few.note == '2 members, at least 3 needed; note'
    assert few.number == '1' and few.null == 'null'
    one = borders.conclude(HOLDS, '1', '', '', count=1, unit='seed')
    assert one.note == '1 seed, at least 3 needed'
    unknown = borders.conclude(HOLDS, '1', '', '', count=3, is_known=False)
    assert unknown.verdict is UNDECIDED and unknown.note == 'a number is NaN'
    open_ = borders.conclude(UNDECIDED, '1', '', '', count=3)
    assert open_.note == 'an interval covers its border'


def test_members_of_a_seed_are_averaged_first():
    averages = average_by_seed(np.array([1.0, 3, 10]), np.array([4, 4, 2]))
    assert averages.tolist() == [10, 2]


def test_members_are_paired_by_the_seeds_that_both_groups_have():
    seed_M = np.array([3, 1, 2, 2, 5, 3, 2])
    first, second = pair_seeds(seed_M, np.array([0, 1, 2]), np.array([3, 4, 5, 6]))
    assert seed_M[first].tolist() == seed_M[second].tolist() == [2, 3]
    assert first.tolist() == [2, 0] and second.tolist() == [3, 5]
    nobody = pair_seeds(seed_M, np.array([1]), np.array([4]))
    assert [len(index) for index in nobody] == [0, 0]
