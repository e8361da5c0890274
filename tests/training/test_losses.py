"""Cross-entropy, exact match, shares and the histogram, by hand."""

import math

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.training import losses

LOGITS_BQV = jnp.log(jnp.array([[[0.5, 0.25, 0.25]], [[0.1, 0.2, 0.7]]]))
TARGETS_BQ = jnp.array([[0], [1]])

# Compiled as in training; alone, each of their operations would be compiled.
cross_entropy = jax.jit(losses.cross_entropy)
token_share = jax.jit(losses.token_share)
share_by_group = jax.jit(losses.share_by_group, static_argnums=3)
histogram = jax.jit(losses.histogram, static_argnames='limit')


def test_cross_entropy():
    expected = [[math.log(2)], [math.log(5)]]
    loss_BQ = cross_entropy(LOGITS_BQV, TARGETS_BQ)
    np.testing.assert_allclose(loss_BQ, expected, rtol=1e-5)
    shifted = cross_entropy(LOGITS_BQV + 100, TARGETS_BQ)
    np.testing.assert_allclose(shifted, expected, rtol=1e-5)


def test_weighted_mean():
    values_BQ = jnp.array([[2.0], [6.0]])
    assert losses.weighted_mean(values_BQ) == 4
    assert losses.weighted_mean(values_BQ, jnp.array([[3.0], [1.0]])) == 3
    assert losses.weighted_mean(values_BQ, jnp.zeros((2, 1))) == 0


def test_the_share_of_right_tokens_by_hand():
    predictions_BQ = jnp.array([[1, 2], [1, 9], [9, 2], [9, 9]])
    targets_RBQ = jnp.array([[[1, 2]] * 4, [[1, 9]] * 4])
    shares_R = token_share(predictions_BQ, targets_RBQ)
    np.testing.assert_allclose(shares_R, [4 / 8, 4 / 8])
    # Not asked: the first token of the second row, and the last row.
    weights_BQ = jnp.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.5], [0.0, 0.0]])
    shares_R = token_share(predictions_BQ, targets_RBQ, weights_BQ)
    np.testing.assert_allclose(shares_R, [3 / 5, 2 / 5])
    nothing_asked = token_share(predictions_BQ, targets_RBQ, jnp.zeros((4, 2)))
    assert nothing_asked.tolist() == [0, 0]


PREDICTIONS_BQ = jnp.array([[1, 2], [1, 9], [9, 2], [9, 9]])


@pytest.mark.parametrize(
    ('weights_BQ', 'share'),
    [
        (None, 1 / 4),  # a sequence matches only if every asked position does
        ([[1, 1], [1, 1], [1, 1], [1, 1]], 1 / 4),
        ([[0.5, 0], [0.5, 0], [0.5, 0], [0.5, 0]], 2 / 4),
        ([[1, 1], [1, 0], [0, 1], [1, 0]], 3 / 4),
        ([[1, 1], [0, 0], [1, 1], [0, 0]], 1 / 2),  # of which nothing is asked: none
        ([[0, 0], [0, 0], [0, 0], [0, 0]], 0),
    ],
)
def test_exact_match_is_of_the_asked_positions(weights_BQ, share):
    targets_RBQ = jnp.array([[[1, 2]] * 4])
    if weights_BQ is not None:
        weights_BQ = jnp.array(weights_BQ)
    right_RB = losses.exact_match(PREDICTIONS_BQ, targets_RBQ, weights_BQ)
    counts_B = losses.is_scored(PREDICTIONS_BQ, weights_BQ)
    assert losses.share(right_RB, counts_B).tolist() == [share]


def test_shares_by_group():
    right_RB = jnp.array([[1, 1, 0, 0, 1], [0, 0, 0, 1, 1]], bool)
    group_B = jnp.array([0, 0, 0, 2, 2])
    shares_RG = share_by_group(right_RB, jnp.ones(5, bool), group_B, 4)
    third, nan = 1 / 3, np.nan
    expected = [[2 * third, nan, 0.5, nan], [0, nan, 1, nan]]
    np.testing.assert_allclose(shares_RG, expected, rtol=1e-6)
    counts_B = jnp.array([0, 1, 1, 1, 0], bool)
    shares_RG = share_by_group(right_RB, counts_B, group_B, 4)
    np.testing.assert_allclose(shares_RG, [[0.5, nan, 0, nan], [0, nan, 1, nan]])
    chex.assert_shape(share_by_group(right_RB, counts_B, group_B, 0), (2, 0))


def test_histogram():
    values_B = jnp.array([-2, -1, 0, 0, 2, 3, -7, 50])
    shares = histogram(values_B, limit=2)  # -2, -1, 0, 1, 2, beyond
    np.testing.assert_allclose(shares, np.array([1, 1, 2, 0, 1, 3]) / 8)
    counts_B = jnp.array([0, 1, 1, 1, 1, 0, 0, 0], bool)
    shares = histogram(values_B, limit=2, counts_B=counts_B)
    np.testing.assert_allclose(shares, np.array([0, 1, 2, 0, 1, 0]) / 4)
