"""Planted embeddings: an arc of reasoning anchors, one vector of memory anchors."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis import anchor_cosines
from analysis.anchor_cosines import UNTRAINED
from analysis.bias.cosines import (
    list_pairs,
    match_pairs,
    measure_order,
    rank_pairs,
)
from analysis.bias.readings import embeddings
from analysis.bias.snapshots import choose_step
from analysis.bias.tokens import TASK
from analysis.spectra import measures
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

MEMORY, REASONING = range(2)


def plant_arc(angle=0.3):
    """64 rows: memory anchors 1 to 4 alike, anchor 11 + i at i * angle on a circle."""
    rng = np.random.default_rng(0)
    W_embed = rng.normal(size=(64, 8)).astype(np.float32)
    W_embed[1:5] = W_embed[1] * np.array([[1], [2], [3], [0.5]])
    W_embed[11:15] = 0
    W_embed[11:15, 0] = np.cos(angle * np.arange(4))
    W_embed[11:15, 1] = np.sin(angle * np.arange(4))
    return W_embed


def test_the_correlation_is_that_of_scipy_over_the_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 7, 7))
    x, y = x + x.T, y + y.T
    pairs = list(itertools.combinations(range(7), 2))
    of_x = [x[pair] for pair in pairs]
    of_y = [y[pair] for pair in pairs]
    np.testing.assert_array_equal(list_pairs(x), of_x)
    expected = np.corrcoef(of_x, of_y)[0, 1]
    match = match_pairs(x, y, permutations=50)
    assert match.correlation == pytest.approx(expected)
    assert len(match.by_chance) == 50 and abs(match.by_chance.mean()) < 0.2
    ranked = match_pairs(rank_pairs(x), rank_pairs(y), 0).correlation
    assert ranked == pytest.approx(stats.spearmanr(of_x, of_y).statistic)


def test_an_arc_is_in_order_and_a_shuffled_one_is_not():
    tokens = np.arange(11, 21)
    angles = 0.2 * np.arange(10)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    order = measure_order(measures.cosines(rows), tokens)
    # Equal distances are ties, which rounding breaks among the cosines.
    assert order.rho == pytest.approx(-1, abs=0.02) and order.bound > -0.5
    by_hand = [np.cos(0.2 * (j - i)) for i, j in itertools.combinations(range(10), 2)]
    assert order.mean == pytest.approx(np.mean(by_hand))
    shuffled = rows[np.random.default_rng(3).permutation(10)]
    null = measure_order(measures.cosines(shuffled), tokens)
    assert null.rho > null.bound and null.mean == pytest.approx(order.mean)


def test_too_few_or_equal_rows_have_no_order():
    assert np.isnan(measure_order(np.ones((2, 2)), np.arange(2)).rho)
    assert np.isnan(measure_order(np.ones((5, 5)), np.arange(5)).rho)


def test_a_step_by_its_share_of_training():
    steps = np.array([0, 1, 45, 55, 900, 1000])
    assert choose_step(steps, 1000, 0.05) == 55  # 50 / 45 is more than 55 / 50
    assert choose_step(steps, 1000, 0.9) == 900
    assert choose_step(np.array([0]), 1000, 0.9) == 0


@pytest.mark.slow
def test_a_planted_embedding_is_found_in_a_sweep(open_sweep, plant):
    run = open_sweep('transformer')
    plant(plant_arc())
    result = anchor_cosines.compute(run, early=5, late=20)
    assert (result.early, result.late) == (5, 20)
    assert result.step_S.tolist() == [0, 1, 5, 10, 20]
    np.testing.assert_allclose(result.rho[:, 1:, REASONING], -1, atol=0.1)
    np.testing.assert_allclose(result.mean[:, 1:, MEMORY], 1, atol=1e-6)
    by_hand = np.cos(0.3) * 3 + np.cos(0.6) * 2 + np.cos(0.9)
    found = result.mean[:, 1:, REASONING]
    np.testing.assert_allclose(found, by_hand / 6, rtol=1e-5)
    # The untrained network is the real one: its seeds differ.
    untrained = result.rho[:3, UNTRAINED, REASONING]
    assert len(set(untrained.tolist())) == 3 and (untrained > -1).all()
    np.testing.assert_array_equal(result.rho[3:, UNTRAINED, REASONING], untrained)


@pytest.mark.slow
def test_the_untrained_network_is_the_snapshot_of_step_0(open_sweep):
    run = open_sweep('transformer')
    result = anchor_cosines.compute(run)
    assert (result.early, result.late) == (20, 20)
    for m, point in enumerate(anchor_cosines.list_points(run, TASK)):
        W_embed = run.parameter('W_embed', 0, **point)
        expected = measures.cosines(W_embed[result.anchors_A])
        np.testing.assert_allclose(result.cosine[m, UNTRAINED], expected, atol=1e-6)


@pytest.mark.slow
def test_the_figure_is_drawn(open_sweep):
    result = anchor_cosines.compute(open_sweep('transformer'), permutations=5)
    assert np.ptp(draw_pixels(result, anchor_cosines)) > 0


@pytest.mark.slow
def test_an_unknown_snapshot_is_one_clear_line(open_sweep):
    with pytest.raises(UserError, match=r'early = 3: must be a snapshot step, \[0, 1'):
        anchor_cosines.compute(open_sweep('transformer'), early=3)


def make_result(rho, mean, jitter=0.01):
    """Three seeds at gammas 0.3 and 0.8, with numbers [step, kind] at 0, 50, 900."""
    noise = jitter * np.array([-1, 0, 1] * 2)[:, None, None]
    rho = np.array(rho, float) + noise
    mean = np.array(mean, float) + noise
    members = {
        'gamma': np.repeat([0.3, 0.8], 3),
        'seed': np.tile([0, 1, 2], 2),
        'setting': np.full(6, ''),
        'train_loss': np.full(6, 1.0),
        'converged': np.full(6, False),
    }
    return anchor_cosines.Result(
        members=members,
        step_S=np.array([0, 50, 900]),
        early=50,
        late=900,
        anchors_A=np.array([1, 11]),
        is_reasoning_A=np.array([False, True]),
        cosine=np.zeros((6, 3, 2, 2)),
        rho=rho,
        rho_bound=np.full(rho.shape, -0.3),
        mean=mean,
        mean_abs=np.abs(mean),
    )


NULL = [[0, 0]] * 3


@pytest.mark.parametrize(
    ('rho', 'words'),
    [
        (-0.9, 'holds'),
        (0.0, 'does not hold'),
        (-0.3, 'undecided'),
        (0.9, 'opposite'),
    ],
)
def test_the_order_of_the_anchors_decides_each_way(rho, words):
    result = make_result([[0, 0], [0, rho], [0, 0]], NULL)
    reading = embeddings.read_reasoning_order(result, '', 'early')
    assert reading.verdict.words == words
    assert 'at step 50' in reading.number and 'not required' in reading.note
    late = embeddings.read_reasoning_order(result, '', 'late')
    assert late.verdict.words == 'does not hold' and 'at step 900' in late.number


def test_the_note_says_when_there_is_an_order():
    result = make_result([[0, 0], [0, -0.8], [0, -0.9]], NULL)
    reading = embeddings.read_reasoning_order(result, '', 'late')
    assert 'below them from step 50 to 900' in reading.note
    never = embeddings.read_reasoning_order(make_result(NULL, NULL), '', 'late')
    assert 'below them at no snapshot' in never.note


def test_an_order_that_was_there_before_training_does_not_count():
    result = make_result([[0, -0.7], [0, -0.7], [0, -0.7]], NULL)
    reading = embeddings.read_reasoning_order(result, '', 'early')
    assert reading.verdict.words == 'does not hold'


@pytest.mark.parametrize(
    ('memory', 'reasoning', 'alike', 'less_distinct', 'orthogonal'),
    [
        (0.9, 0.5, 'holds', 'holds', 'does not hold'),
        (0, 0, 'opposite', 'does not hold', 'holds'),
        (0.5, 0.5, 'does not hold', 'does not hold', 'does not hold'),
        (0.5, 0.9, 'does not hold', 'opposite', 'does not hold'),
        (0.9, 0.9, 'holds', 'does not hold', 'opposite'),
        (0.8, 0.7, 'undecided', 'undecided', 'does not hold'),
    ],
)
def test_mean_cosines_decide_each_way(
    memory, reasoning, alike, less_distinct, orthogonal
):
    result = make_result(NULL, [[0, 0], *[[memory, reasoning]] * 2])
    # Both kinds have the same jitter, which the difference does not see.
    result.mean[:, :, MEMORY] += 0.01 * np.array([1, -1, 0] * 2)[:, None]
    for time in ('early', 'late'):
        found = embeddings.read_memory_alike(result, '', time)
        assert found.verdict.words == alike
        found = embeddings.read_memory_less_distinct(result, '', time)
        assert found.verdict.words == less_distinct
    assert embeddings.read_orthogonal(result, '').verdict.words == orthogonal


def test_two_seeds_decide_nothing():
    result = make_result(NULL, [[0, 0], [0.9, 0.5], [0.9, 0.5]])
    rows = [0, 1, 3, 4]
    members = {name: column[rows] for name, column in result.members.items()}
    few = result._replace(members=members, mean=result.mean[rows])
    reading = embeddings.read_memory_alike(few, '', 'early')
    assert reading.verdict.words == 'undecided'
    assert reading.note.startswith('2 seeds, at least 3 needed')
