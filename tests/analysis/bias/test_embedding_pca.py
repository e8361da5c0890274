"""Tokens on lines and in a heap: order and spread are what was planted."""

import numpy as np
import pytest

from analysis import embedding_pca
from analysis.bias.readings import embeddings
from analysis.bias.tokens import SINGLE_KINDS as KINDS
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

MEMORY, REASONING, KEYS = range(3)


def plant_lines():
    """Keys along one axis, reasoning anchors along another, memory in a heap."""
    rng = np.random.default_rng(0)
    W_embed = 1e-3 * rng.normal(size=(64, 8)).astype(np.float32)
    W_embed[21:33, 0] += np.linspace(-3, 3, 12)
    W_embed[11:15, 1] += np.linspace(-2, 2, 4)
    return W_embed


def test_planted_lines_are_in_order_and_the_heap_is_together(open_sweep, plant):
    run = open_sweep('transformer')
    plant(plant_lines())
    result = embedding_pca.compute(run, step=10)
    np.testing.assert_allclose(result.rho[:, KEYS, 0], 1)
    np.testing.assert_allclose(result.rho[:, REASONING, 1], 1)
    assert (result.spread[:, MEMORY] < 0.01).all()
    assert (result.spread[:, KEYS] > 1).all()
    # Before training they are real networks at random.
    assert (result.untrained[:, KEYS].max(-1) < 0.9).all()
    assert ((result.untrained_spread > 0.6) & (result.untrained_spread < 1.4)).all()
    assert result.explained.sum(1).min() > 0.99
    assert np.ptp(draw_pixels(result, embedding_pca)) > 0


def test_a_shuffled_line_has_no_order(open_sweep, plant):
    W_embed = plant_lines()
    W_embed[21:33] = W_embed[np.random.default_rng(5).permutation(np.arange(21, 33))]
    plant(W_embed)
    result = embedding_pca.compute(open_sweep('transformer'))
    assert result.step == 20
    assert (result.rho[:, KEYS] < result.bound[KEYS]).all()


def test_the_bound_is_that_of_two_random_orders():
    bound = embedding_pca.bound_random_orders(100)
    # The larger of two |N(0, 1/99)|: 95 % are below 2.24 deviations.
    assert bound == pytest.approx(2.24 / np.sqrt(99), abs=0.02)


def test_the_spread_by_hand():
    rows = np.array([[0.0], [2.0], [9.0], [11.0]])
    spread = embedding_pca.measure_spread(rows, np.array([0, 0, 1, 2]))
    # Deviations 1, 0, 0; of all rows sqrt((30.25 + 12.25 + 12.25 + 30.25) / 4).
    np.testing.assert_allclose(spread, [1 / np.sqrt(21.25), 0, 0])


def test_an_unknown_step_is_one_clear_line(open_sweep):
    with pytest.raises(UserError, match='step = 7: must be a snapshot step'):
        embedding_pca.compute(open_sweep('transformer'), step=7)


def make_result(rho, spread, untrained=0.3):
    noise = 0.005 * np.array([-1, 0, 1])[:, None]
    members = {
        'gamma': np.full(3, 0.8),
        'seed': np.arange(3),
        'setting': np.full(3, ''),
        'train_loss': np.full(3, 1.0),
        'converged': np.full(3, False),
    }
    of_kinds = np.full((3, len(KINDS)), rho) + noise
    return embedding_pca.Result(
        members=members,
        step=20,
        tokens=np.zeros(0),
        kind=np.zeros(0),
        scores=np.zeros(0),
        explained=np.zeros(0),
        rho=np.stack([of_kinds, of_kinds / 2], axis=-1),
        bound=np.full(len(KINDS), 0.6),
        untrained=np.full((3, len(KINDS), 2), untrained),
        spread=np.array([spread] * 3) + noise,
        untrained_spread=np.ones((3, len(KINDS))),
    )


@pytest.mark.parametrize(
    ('rho', 'untrained', 'words'),
    [
        (0.99, 0.3, 'holds'),
        (0.5, 0.3, 'does not hold'),
        (0.7, 0.3, 'undecided'),
        (0.8, 0.8, 'does not hold'),
    ],
)
def test_an_order_decides_each_way(rho, untrained, words):
    result = make_result(rho, (1, 1, 1), untrained)
    for kind in ('reasoning', 'keys'):
        assert embeddings.read_value_order(result, '', kind).verdict.words == words


@pytest.mark.parametrize(
    ('spread', 'words'),
    [
        ((0.2, 0.8, 1), 'holds'),
        ((0.2, 0.1, 1), 'does not hold'),  # reasoning anchors even more so
        ((1.5, 0.8, 1), 'opposite'),
        ((0.8, 0.9, 1), 'does not hold'),
    ],
)
def test_the_spread_of_memory_decides_each_way(spread, words):
    reading = embeddings.read_memory_together(make_result(0, spread), '')
    assert reading.verdict.words == words
