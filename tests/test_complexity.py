"""A grid whose complexity and outcome go together, or do not, is told apart."""

import numpy as np
import pytest
from conftest import opened
from scipy import stats

from analysis import complexity, style
from anchorjax import store
from anchorjax.errors import UserError


def test_measured_is_the_mean_of_both():
    rank_one, identity = np.outer([1.0, 2], [3.0, 4]), np.eye(5)
    np.testing.assert_allclose(complexity.measured([rank_one]), [1, 1], atol=1e-9)
    np.testing.assert_allclose(complexity.measured([identity]), [5, 5])
    np.testing.assert_allclose(complexity.measured([rank_one, identity]), [3, 3])
    np.testing.assert_allclose(complexity.measured([np.diag([2.0, 1.0])]), [1.25, 9 / 5])


def test_a_monotone_relation_is_perfect_and_sure():
    x = np.random.default_rng(0).uniform(1, 9, 30)
    r, p = complexity.correlations(np.stack([x, np.exp(x)]), np.stack([x**3, 1 / x]), 500)
    np.testing.assert_allclose(r, [[1, -1], [1, -1]])
    np.testing.assert_allclose(p, 1 / 501)


def test_no_relation_is_not_sure():
    rng = np.random.default_rng(1)
    r, p = complexity.correlations(rng.normal(size=(1, 40)), rng.normal(size=(1, 40)), 500)
    assert abs(r[0, 0]) < 0.3 and p[0, 0] > 0.1


def test_the_p_value_is_the_known_one_and_unknown_members_do_not_count():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=25), rng.normal(size=25)
    y = y + 0.5 * x
    expected = stats.spearmanr(x, y)
    missing = [np.append(v, extra)[None] for v, extra in ((x, np.nan), (y, 5.0))]
    r, p = complexity.correlations(*missing, 4000)
    np.testing.assert_allclose(r, expected.statistic)
    np.testing.assert_allclose(p, expected.pvalue, atol=0.015)


def test_what_does_not_vary_has_no_correlation():
    r, p = complexity.correlations(np.arange(6.0)[None], np.stack([np.ones(6), np.arange(6)]), 200)
    assert np.isnan([r[0, 0], p[0, 0]]).all() and r[0, 1] == pytest.approx(1) and p[0, 1] < 0.05


def test_a_finished_sweep(finished):
    result = complexity.compute(finished)
    assert result.row_name == 'depth' and result.complexity_2YG.shape == (2, 2, 2)
    W = [finished.parameter('block_0/W_Q', depth=1, gamma=0.3, seed=s) for s in (0, 1)]
    np.testing.assert_allclose(result.complexity_2YG[:, 0, 0], complexity.measured(W))
    np.testing.assert_allclose(result.complexity_2M[:, 1], complexity.measured(W[1:]))
    at = finished.results.agreement.sel(depth=2, gamma=0.8, probe='unseen', mapping='symmetric')
    np.testing.assert_allclose(result.outcome_3YG[1, 1, 1], at.mean())
    assert result.members == 8 and result.left_out == 0


def test_all_is_the_mean_over_the_blocks(finished):
    result = complexity.compute(finished, 'all')
    blocks = finished.params(depth=1, gamma=0.3, seed=0)['block_0']
    matrices = [W for name, W in blocks.items() if name.startswith('W_')]
    np.testing.assert_allclose(result.complexity_2M[:, 0], complexity.measured(matrices))


def test_a_sweep_with_nothing_trained_is_one_line(tmp_path):
    opened(tmp_path)
    with pytest.raises(UserError, match='no member of this sweep is trained'):
        complexity.compute(store.open(tmp_path))


def test_errors_are_one_line(finished):
    with pytest.raises(UserError, match='no parameter'):
        complexity.compute(finished, 'block_7/W_Q')
    with pytest.raises(UserError, match='no matrix'):
        complexity.compute(finished, 'b_U')


def test_drawn_twice_is_the_same_bytes(tmp_path, finished):
    result = complexity.compute(finished)
    empty = result.complexity_2YG.copy()
    empty[:, 0, 0] = np.nan  # a cell without members
    result = result._replace(complexity_2YG=empty)
    one, two = (
        style.drawn(result, complexity.draw, complexity.layout, tmp_path / name) for name in 'ab'
    )
    for a, b in zip(one, two, strict=True):
        assert a.read_bytes() == b.read_bytes()
