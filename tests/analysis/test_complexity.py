"""Whether complexity and outcome go together over a grid is found out."""

import numpy as np
import pytest
from scipy import stats

from analysis import complexity
from analysis.drawing import style
from analysis.members.correlation import correlations
from analysis.spectra.directions import measure_matrices
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from tests.support.drawing import draw_pixels
from tests.support.sweeps import opened


def test_the_measure_is_the_mean_of_both():
    rank_one, identity = np.outer([1.0, 2], [3.0, 4]), np.eye(5)
    np.testing.assert_allclose(measure_matrices([rank_one]), [1, 1], atol=1e-9)
    np.testing.assert_allclose(measure_matrices([identity]), [5, 5])
    np.testing.assert_allclose(measure_matrices([rank_one, identity]), [3, 3])
    np.testing.assert_allclose(measure_matrices([np.diag([2.0, 1.0])]), [1.25, 9 / 5])


def test_a_monotone_relation_is_perfect_and_sure():
    x = np.random.default_rng(0).uniform(1, 9, 30)
    r, p = correlations(np.stack([x, np.exp(x)]), np.stack([x**3, 1 / x]), 500)
    np.testing.assert_allclose(r, [[1, -1], [1, -1]])
    np.testing.assert_allclose(p, 1 / 501)


def test_no_relation_is_not_sure():
    rng = np.random.default_rng(1)
    r, p = correlations(rng.normal(size=(1, 40)), rng.normal(size=(1, 40)), 500)
    assert abs(r[0, 0]) < 0.3 and p[0, 0] > 0.1


def test_the_p_value_is_the_known_one_and_unknown_members_do_not_count():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=25), rng.normal(size=25)
    y = y + 0.5 * x
    expected = stats.spearmanr(x, y)
    x_unknown = np.append(x, np.nan)
    y_unknown = np.append(y, 5.0)
    r, p = correlations(x_unknown[None], y_unknown[None], 4000)
    np.testing.assert_allclose(r, expected.statistic)
    np.testing.assert_allclose(p, expected.pvalue, atol=0.015)


def test_what_does_not_vary_has_no_correlation():
    r, p = correlations(np.arange(6.0)[None], np.stack([np.ones(6), np.arange(6)]), 200)
    assert np.isnan(r[0, 0]) and np.isnan(p[0, 0])
    assert r[0, 1] == pytest.approx(1)
    assert p[0, 1] < 0.05


@pytest.fixture(scope='module')
def result(finished):
    return complexity.compute(finished)


def test_a_finished_sweep(finished, result):
    assert result.row_name == 'depth' and result.complexity_2YG.shape == (2, 2, 2)
    W = [finished.parameter('block_0/W_Q', depth=1, gamma=0.3, seed=s) for s in (0, 1)]
    np.testing.assert_allclose(result.complexity_2YG[:, 0, 0], measure_matrices(W))
    np.testing.assert_allclose(result.complexity_2M[:, 1], measure_matrices(W[1:]))
    at = finished.results.agreement.sel(
        depth=2, gamma=0.8, probe='unseen', mapping='symmetric'
    )
    np.testing.assert_allclose(result.outcome_3YG[1, 1, 1], at.mean())
    assert result.members == 8 and result.left_out == 0


def test_beside_it_is_the_mean_over_the_blocks(finished, result):
    params = finished.params(depth=2, gamma=0.3, seed=0)
    Ws = []
    for block in (params['block_0'], params['block_1']):
        Ws += [W for name, W in block.items() if name.startswith('W_')]
    assert len(Ws) == 12
    np.testing.assert_allclose(result.all_complexity_2M[:, 4], measure_matrices(Ws))
    r, p = correlations(result.all_complexity_2M, result.outcome_3M)
    np.testing.assert_array_equal(result.all_correlation_23, r)
    np.testing.assert_array_equal(result.all_p_value_23, p)


def test_all_alone_is_drawn_once(result):
    alone = result._replace(matrix='all')
    assert [complexity.layout(r).rows for r in (alone, result)] == [2, 3]
    with style.open_figure(2, 3) as (_, axes):
        complexity.draw(alone, axes)
        assert axes[1, 2].get_title() == 'held-out'


def test_a_sweep_with_nothing_trained_is_one_line(tmp_path):
    opened(tmp_path)
    with pytest.raises(UserError, match='no member of this sweep is trained'):
        complexity.compute(open_run(tmp_path))


def test_errors_are_one_line(finished):
    with pytest.raises(UserError, match='no parameter'):
        complexity.compute(finished, 'block_7/W_Q')
    with pytest.raises(UserError, match='b_U is not a matrix: its shape'):
        complexity.compute(finished, 'b_U')


def test_drawn_twice_is_the_same(result):
    empty = result.complexity_2YG.copy()
    empty[:, 0, 0] = np.nan  # a cell without members
    gap = result._replace(complexity_2YG=empty)
    np.testing.assert_array_equal(
        draw_pixels(gap, complexity), draw_pixels(gap, complexity)
    )
