"""Whether complexity and outcome go together over a grid is found out."""

import numpy as np
import pytest
from scipy import stats

from analysis import frame
from analysis.p3 import complexity
from analysis.p3.complexity import correlate, measure_matrices
from tests.support.planted_results import mark_converged, open_planted


def test_the_measure_is_the_mean_of_both():
    rank_one, identity = np.outer([1.0, 2], [3.0, 4]), np.eye(5)
    np.testing.assert_allclose(measure_matrices([rank_one]), [1, 1], atol=1e-9)
    np.testing.assert_allclose(measure_matrices([identity]), [5, 5])
    np.testing.assert_allclose(measure_matrices([rank_one, identity]), [3, 3])
    np.testing.assert_allclose(measure_matrices([np.diag([2.0, 1.0])]), [1.25, 9 / 5])


def test_a_monotone_relation_is_perfect_and_sure():
    x = np.random.default_rng(0).uniform(1, 9, 30)
    x_XM, y_YM = np.stack([x, np.exp(x)]), np.stack([x**3, 1 / x])
    r, p = correlate(x_XM, y_YM, np.zeros(30), 500)
    np.testing.assert_allclose(r, [[1, -1], [1, -1]])
    np.testing.assert_allclose(p, 1 / 501)


def test_the_p_value_is_the_known_one_and_unknown_members_do_not_count():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=25), rng.normal(size=25)
    y = y + 0.5 * x
    expected = stats.spearmanr(x, y)
    x_unknown = np.append(x, np.nan)
    y_unknown = np.append(y, 5.0)
    r, p = correlate(x_unknown[None], y_unknown[None], np.zeros(26), 4000)
    np.testing.assert_allclose(r, expected.statistic)
    np.testing.assert_allclose(p, expected.pvalue, atol=0.015)


@pytest.mark.parametrize('constant', [1.0, np.nan])
def test_what_does_not_vary_has_no_correlation_and_hides_no_other(constant):
    """NaN: a task without an unseen pair has held-out questions all the same."""
    y_YM = np.stack([np.full(6, constant), np.arange(6)])
    r, p = correlate(np.arange(6.0)[None], y_YM, np.zeros(6), 200)
    assert np.isnan(r[0, 0]) and np.isnan(p[0, 0])
    assert r[0, 1] == pytest.approx(1)
    assert p[0, 1] < 0.05


def test_members_of_one_seed_are_compared_with_each_other():
    """Both fall within every seed, and rise from seed to seed: 3, 2, 1 and 13, 12, 11.

    Over all members they would go together.
    """
    seeds = np.repeat([0, 1, 2, 3], 3)
    x = np.tile([1.0, 2, 3], 4) + 10 * seeds
    y = np.tile([3.0, 2, 1], 4) + 10 * seeds
    pooled, _ = correlate(x[None], y[None], np.zeros(12), 200)
    assert pooled[0, 0] > 0.7
    within, p = correlate(x[None], y[None], seeds, 4_000)
    assert within[0, 0] == pytest.approx(-1)
    # |r| = 1 needs the same order, or the reverse, in all four seeds: 2 of 6 ** 4.
    np.testing.assert_allclose(p, 2 / 6**4, atol=0.002)


def test_seeds_with_one_member_say_nothing():
    x = np.arange(5.0)
    r, p = correlate(x[None], x[None], np.arange(5), 100)
    assert np.isnan(r).all() and np.isnan(p).all()


@pytest.fixture(scope='module')
def result(finished):
    return complexity.compute(mark_converged(finished))


def test_a_finished_sweep(finished, result):
    assert result.row_name == 'depth' and result.sizes['member'] == 8
    is_here = ((result.row == '1') & (result.gamma == 0.3)).values
    networks = [finished.params(depth=1, gamma=0.3, seed=s) for s in (0, 1)]
    W = [params['block_0']['W_Q'] for params in networks]
    found = result.complexity[0, :, is_here].mean('member')
    np.testing.assert_allclose(found, measure_matrices(W))
    at = {'depth': 2, 'gamma': 0.8, 'eval_set': 'unseen', 'mapping': 'symmetric'}
    expected = finished.results.agreement.sel(at).values.ravel()
    is_here = ((result.row == '2') & (result.gamma == 0.8)).values
    symmetric = result.agreement.sel(outcome='symmetric')
    np.testing.assert_array_equal(symmetric[is_here], expected)


def test_the_correlations_are_of_one_depth(result):
    """Of as many members as depth 1, depth 2 is the last and counts."""
    assert result.counted_row == '2'
    counted = result.isel(member=np.flatnonzero(result.is_counted))
    assert counted.gamma.values.tolist() == [0.3, 0.3, 0.8, 0.8]
    assert counted.seed.values.tolist() == [0, 1, 0, 1]
    expected, p_values = correlate(
        counted.complexity[1].values, counted.agreement.values, counted.seed.values
    )
    np.testing.assert_allclose(result.rho[1], expected)
    is_known = np.isfinite(p_values)
    assert is_known.any()
    assert (result.p[1].values >= p_values)[is_known].all()


def test_members_of_one_decay_are_compared_with_each_other(tmp_path, monkeypatch):
    """Complexity falls where composition rises; from decay to decay both rise."""
    answers, complexity_of = {}, {}
    for d, decay in enumerate((0.1, 0.2)):
        for g, gamma in enumerate((0.3, 0.5, 0.8)):
            answers[1, gamma, decay] = {'composed': 0.5 * d + 0.1 * g}
            complexity_of[gamma, decay] = np.full(2, 9 + 9 * d - g)
    grid = {'grid__gamma': (0.3, 0.5, 0.8), 'grid__weight_decay': (0.1, 0.2)}
    depths = (('model.depth', (1, 2)),)
    run = open_planted(tmp_path, answers, static_axes=depths, grid__seed=(0,), **grid)

    def read_points(run, members, name):
        return zip(members.index, frame.find_points(run, members), strict=True)

    def measure(point, name):
        return complexity_of[point['gamma'], point['weight_decay']]

    monkeypatch.setattr(frame, 'open_networks', read_points)
    monkeypatch.setattr(complexity, 'measure_directions', measure)
    rho = complexity.compute(run).rho.sel(outcome='composed')
    np.testing.assert_allclose(rho, -1)


def test_the_row_with_the_most_converged_members_is_taken(finished):
    is_shallow = finished.results.depth == 1
    is_counted = is_shallow | (finished.results.seed == 0)
    fewer = complexity.compute(mark_converged(finished, is_counted))
    assert fewer.counted_row == '1' and fewer.is_counted.sum() == 4
    nothing = complexity.compute(finished)
    assert not nothing.is_counted.any() and nothing.rho.isnull().all()


def test_beside_it_is_the_mean_over_the_blocks(finished, result):
    params = finished.params(depth=2, gamma=0.3, seed=0)
    Ws = []
    for block in (params['block_0'], params['block_1']):
        Ws += [W for name, W in block.items() if name.startswith('W_')]
    assert len(Ws) == 12
    first = int(result.is_counted.values.argmax())
    of_member = result.complexity.sel(matrix='all')[:, first]
    np.testing.assert_allclose(of_member, measure_matrices(Ws))
