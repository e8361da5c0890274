"""The one rule of verdicts as a truth table, and the estimates by hand."""

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import claim_words, claims, estimates
from analysis.claims import EARLIER, Claim, Day
from analysis.estimates import Estimate, Group

above = functools.partial(claims.above, day=EARLIER)
below = functools.partial(claims.below, day=EARLIER)
within = functools.partial(claims.within, day=EARLIER)
ALL = Group('all', {})
SPREAD = 0.02 * np.array([1, -1, 1, -1, 1, -1, 1, -1])


def make_claim(rule):
    of_all = estimates.level('score', ALL)
    return Claim('p.fig.w.score', 'P', 'A sentence.', ('run',), of_all, rule)


def estimate_of(values):
    return Estimate(values, estimates.LEVEL)


def judge(values, rule, bound=''):
    """The verdict on one claim by itself."""
    found = estimate_of(pd.Series(values, dtype=float))._replace(bound=bound)
    *_, (verdict,) = claims.judge([make_claim(rule)], [found])
    return verdict


@pytest.mark.parametrize(
    ('rule', 'mean', 'verdict'),
    [
        (above(0), 0.3, 'holds'),
        (above(0), -0.3, 'opposite'),
        (above(0), 0.001, 'undecided'),
        (below(0), -0.3, 'holds'),
        (below(0), 0.3, 'opposite'),
        # A size: what is smaller than it, but in its direction, does not hold.
        (above(0.25), 0.6, 'holds'),
        (above(0.25), 0.1, 'does not hold'),
        (above(0.25), 0.001, 'does not hold'),
        (above(0.25), -0.001, 'does not hold'),
        (above(0.25), -0.3, 'opposite'),
        (above(0.25), 0.251, 'undecided'),
        (below(-0.25), 0.3, 'opposite'),
        # "No worse": there is no direction whose reverse could be found.
        (above(-0.1), 0.0, 'holds'),
        (above(-0.1), -0.3, 'does not hold'),
        (above(-0.1), -0.101, 'undecided'),
        (below(0.02), 0.5, 'does not hold'),
        # "As much as": inside, outside and on the border.
        (within(0.1), 0.0, 'holds'),
        (within(0.1), 0.3, 'does not hold'),
        (within(0.1), -0.3, 'does not hold'),
        (within(0.1), 0.1, 'undecided'),
        (within(0.1), -0.1, 'undecided'),
        (None, 0.3, ''),
    ],
)
def test_a_claim_is_judged_by_the_border_that_the_mean_is_nearest_to(
    rule, mean, verdict
):
    assert judge(mean + SPREAD, rule) == verdict


@pytest.mark.parametrize(
    ('rule', 'mean', 'bound', 'verdict'),
    [
        (above(0), 0.3, 'at least', 'holds'),
        (above(0), 0.3, 'at most', 'undecided'),
        (above(0), -0.3, 'at most', 'opposite'),
        (above(0), -0.3, 'at least', 'undecided'),
        (below(0), -0.3, 'at most', 'holds'),
        (below(0), 0.3, 'at least', 'opposite'),
        (within(0.1), 0.0, 'at least', 'undecided'),
        (within(0.1), 0.3, 'at least', 'does not hold'),
        (within(0.1), 0.3, 'at most', 'undecided'),
        (above(0), 0.3, 'about', 'undecided'),
    ],
)
def test_a_bound_decides_what_every_number_beyond_it_would(rule, mean, bound, verdict):
    assert judge(mean + SPREAD, rule, bound) == verdict


@pytest.mark.parametrize(
    ('rule', 'value', 'verdict'),
    [
        (above(0), 0.3, 'holds'),
        (above(0), 0.0, 'undecided'),
        (above(0), -0.3, 'opposite'),
        (within(0.1), 0.0, 'holds'),
        (within(0.1), 0.1, 'undecided'),
        (within(0.1), 0.2, 'does not hold'),
    ],
)
def test_equal_values_are_judged_without_a_spread(rule, value, verdict):
    assert judge([value] * 6, rule) == verdict


@pytest.mark.parametrize(('rule', 'needed'), [(above(0), 6), (claims.above(0), 12)])
def test_few_seeds_are_exploratory_and_none_are_not_trained(rule, needed):
    for number, verdict in ((needed, 'holds'), (needed - 1, ''), (0, 'not trained')):
        assert judge(0.3 + np.resize(SPREAD, number), rule) == verdict
    assert judge([], None) == ''


def make_values(p):
    """Six values above 0 whose t test against 0 has this p-value."""
    deviations = np.array([-1, 1, -1, 1, -1, 1])
    error = deviations.std(ddof=1) / np.sqrt(6)
    return pd.Series(deviations + stats.t.isf(p / 2, 5) * error)


@pytest.mark.parametrize(
    ('p_values', 'verdicts'),
    [
        ((0.02,), ['holds']),
        ((0.03,), ['undecided']),
        ((0.01, 0.02), ['holds', 'holds']),
        ((0.02, 0.04), ['undecided', 'undecided']),
        ((0.01, 0.30), ['holds', 'undecided']),
    ],
)
def test_claims_that_are_judged_together_share_the_risk(p_values, verdicts):
    rule = claims.above(0, Day(seeds=6, is_by_figure=True))
    judged = [make_claim(rule) for _ in p_values]
    estimates = [estimate_of(make_values(p)) for p in p_values]
    # What is exploratory takes no part in the correction; what is not trained counts,
    # so that a part of a table says no more than the whole.
    judged += [make_claim(None), make_claim(rule)]
    estimates += [estimate_of(make_values(0.5)), estimate_of(pd.Series(dtype=float))]
    # Nor do claims about another figure, or other networks, whatever comes of them.
    judged += [make_claim(rule)._replace(address='p.fig.other.score')] * 9
    estimates += [estimate_of(make_values(0.9))] * 9
    *_, found = claims.judge(judged, estimates)
    assert found[:-9] == [*verdicts, '', 'not trained']


MEMBERS = pd.DataFrame(
    {
        'run': 'run',
        'side': ['a', 'b', 'a', 'b', 'a', 'a'],
        'seed': [0, 0, 1, 1, 2, 2],
        'rate': [0.1, 0.1, 0.1, 0.2, 0.1, 0.2],
        'score': [0.5, 0.2, 0.7, 0.3, 0.9, 0.7],
        'before': [0.4, 0.4, 0.4, np.nan, 0.4, 0.4],
        'converged': [True, True, False, True, True, True],
    }
)
A, B = Group('a', {'side': 'a'}), Group('b', {'side': 'b'})


def estimate(function):
    return function(MEMBERS).values.to_dict()


def test_an_estimate_is_one_number_per_seed():
    a_score = {0: 0.5, 1: 0.7, 2: 0.8}
    assert estimate(estimates.level('score', A)) == pytest.approx(a_score)
    # Seed 2 has no b.
    gaps = {0: 0.3, 1: 0.4}
    assert estimate(estimates.difference('score', A, B)) == pytest.approx(gaps)
    above_half = {0: 0, 1: 1, 2: 1}
    assert estimate(estimates.fraction_above('score', 0.5, A)) == above_half
    # An unknown number of seed 1 is left out.
    gains = {0: -0.2}
    names = ('now', 'before')
    of_b = estimates.paired_difference('score', 'before', names, B.levels)
    assert estimate(of_b) == pytest.approx(gains)


def test_a_rank_correlation_is_over_the_networks_of_a_seed():
    members = pd.DataFrame(
        {
            'seed': [0, 0, 0, 1, 1, 1, 2, 2, 2],
            'early': [1, 2, 3, 1, 2, np.nan, 5, 5, 5],
            'late': [0.1, 0.9, 0.5, 0.3, 0.2, 0.1, 0.1, 0.2, 0.3],
        }
    )
    found = estimates.rank_correlation('early', 'late', {})(members)
    # Ranks 1 2 3 and 1 3 2; seed 1 has two networks, those of seed 2 are all equal.
    assert found.values.to_dict() == pytest.approx({0: 0.5})


def test_a_ratio_is_of_the_seeds_that_both_groups_have():
    found = estimates.ratio('score', A, B)(MEMBERS)
    np.testing.assert_allclose(np.exp(found.values), [0.5 / 0.2, 0.7 / 0.3])
    assert found.mean.mean == pytest.approx((0.5 / 0.2 * 0.7 / 0.3) ** 0.5)
    assert [side.mean.mean for side in found.sides] == pytest.approx([0.6, 0.25])


def test_a_null_is_of_one_column_alone():
    """What a table of bigrams scores by token is no null of whole answers."""
    members = MEMBERS.assign(null_score=0.1)
    assert estimates.level('score', A)(members).null == pytest.approx(0.1)
    assert np.isnan(estimates.level('rate', A)(members).null)
    assert estimates.difference('score', A, B)(members).null == pytest.approx(0.1)


def test_numbers_match_to_three_digits_and_a_tuple_allows_several():
    assert estimates.select(MEMBERS, {'rate': 0.10001}).index.tolist() == [0, 1, 2, 4]
    assert len(estimates.select(MEMBERS, {'rate': (0.1, 0.2)})) == 6
    assert len(estimates.select(MEMBERS, {'rate': 0.2, 'side': 'a'})) == 1


def test_converged_networks_stand_beside_all_and_decide_nothing():
    claim = make_claim(above(0))._replace(estimate=estimates.level('score', A))
    (row,) = claims.tabulate([claim], MEMBERS).to_dict('records')
    assert (row['n'], row['converged_n'], row['verdict']) == (3, 2, '')
    numbers = [row[name] for name in ('value', 'low', 'high', 'converged_value')]
    assert numbers == pytest.approx([0.6667, 0.2872, 1, 0.65], abs=1e-4)
    elsewhere = claim._replace(runs=('another',))
    (row,) = claims.tabulate([elsewhere], MEMBERS).to_dict('records')
    assert (row['n'], row['run'], row['verdict']) == (0, '', 'not trained')


def test_a_number_that_the_table_does_not_have_is_not_stored():
    claim = make_claim(above(0))._replace(estimate=estimates.level('score', A))
    members = MEMBERS.assign(score=np.nan, null_score=np.nan)
    table = claims.tabulate([claim], members)
    (words,) = claim_words.write_words(table).to_dict('records')
    assert (words['number'], words['verdict'], words['null']) == ('not stored', '', '')


@pytest.mark.parametrize(
    'estimator', [estimates.difference('score', A, B), estimates.ratio('score', A, B)]
)
@pytest.mark.parametrize('axis', ['rate', 'depth'])
def test_what_one_group_lacks_is_no_effect(estimator, axis):
    """Without any effect of the side: what scores more diverged on one side alone."""
    rows = []
    for seed in range(8):
        for side in 'ab':
            for setting, score in ((1, 0.2), (2, 0.8)):
                noise = 0.01 * (-1) ** (seed + (side == 'a'))
                rows.append((setting, side, seed, score + noise))
    members = pd.DataFrame(rows, columns=[axis, 'side', 'seed', 'score'])
    members = members.assign(run='run', converged=True)
    # All networks of a side, of one seed alone, and another of either side.
    for lost in (
        (members.side == 'a') & (members[axis] == 1),
        (members.side == 'a') & (members[axis] == 1) & (members.seed < 5),
    ):
        claim = make_claim(above(0))._replace(estimate=estimator)
        (row,) = claims.tabulate([claim], members[~lost]).to_dict('records')
        assert (row['verdict'], row['left_out']) == ('undecided', lost.sum())


@pytest.mark.parametrize(
    ('untrained', 'verdict'), [(0, 'holds'), (1, 'partly trained')]
)
def test_a_sweep_half_trained_has_no_verdict(untrained, verdict):
    members = pd.DataFrame({'seed': range(8), 'score': 0.3 + SPREAD})
    members = members.assign(run='run', converged=True, untrained=untrained)
    table = claims.tabulate([make_claim(above(0)), make_claim(None)], members)
    expected = [verdict, verdict if untrained else '']
    assert table.verdict.tolist() == expected
    assert table.untrained.tolist() == [untrained] * 2


def test_a_claim_about_two_runs_has_no_verdict_with_one():
    members = MEMBERS[MEMBERS.side == 'a'].assign(run='first')
    compare = estimates.difference('score', A, B)
    claim = make_claim(above(0))._replace(runs=('first', 'second'), estimate=compare)
    assert claims.tabulate([claim], members).verdict.tolist() == ['partly trained']


@pytest.mark.parametrize(('number', 'low', 'high'), [(6, 0.2, 0.35), (12, 0.65, 0.85)])
def test_the_power_stands_beside_the_verdict(number, low, high):
    """Of two rows with the spread of P1's own size: what random draws find."""
    spread = 0.45
    deviations = np.resize([1, -1], number)
    values = 0.2 + deviations * spread / deviations.std(ddof=1)
    members = pd.DataFrame({'seed': range(number), 'score': values})
    members = members.assign(run='run', converged=True)
    rows = [make_claim(above(0)), make_claim(above(0)), make_claim(None)]
    powers = claims.tabulate(rows, members).power
    assert low < powers[0] == powers[1] < high and np.isnan(powers[2])
    draws = np.random.default_rng(0).normal(0.4, spread, (number, 20_000))
    found = stats.ttest_1samp(draws, 0).pvalue < 0.05 / 2
    assert powers[0] == pytest.approx(found.mean(), abs=0.015)
