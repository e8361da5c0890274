"""Cross-entropy, exact match and the histogram, by hand."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.training import losses

LOGITS_BV = jnp.log(jnp.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]))
TARGETS_B = jnp.array([0, 1])


def test_cross_entropy():
    expected = (math.log(2) + math.log(5)) / 2
    loss = losses.cross_entropy(LOGITS_BV, TARGETS_B)
    assert loss == pytest.approx(expected, rel=1e-5)
    shifted = losses.cross_entropy(LOGITS_BV + 100, TARGETS_B)
    assert shifted == pytest.approx(expected, rel=1e-5)


def test_cross_entropy_is_a_weighted_mean():
    weights_B = jnp.array([3.0, 1.0])
    weighted = losses.cross_entropy(LOGITS_BV, TARGETS_B, weights_B)
    expected = (3 * math.log(2) + math.log(5)) / 4
    assert weighted == pytest.approx(expected, rel=1e-5)
    assert losses.cross_entropy(LOGITS_BV, TARGETS_B, jnp.zeros(2)) == 0


def test_exact_match_of_the_last_position_alone():
    predictions_BQ = jnp.array([[1], [2], [3], [9]])
    targets_RBQ = jnp.array([[1, 2, 3, 4], [1, 0, 0, 0], [0, 0, 0, 0]])[..., None]
    over_mappings = jax.vmap(losses.exact_match, in_axes=(None, 0))
    shares_R = over_mappings(predictions_BQ, targets_RBQ)
    np.testing.assert_allclose(shares_R, [0.75, 0.25, 0.0])


def test_a_sequence_matches_only_if_every_asked_position_does():
    predictions_BQ = jnp.array([[1, 2], [1, 9], [9, 2], [9, 9]])
    targets_BQ = jnp.array([[1, 2], [1, 2], [1, 2], [1, 2]])
    assert losses.exact_match(predictions_BQ, targets_BQ) == 0.25
    assert losses.exact_match(predictions_BQ, targets_BQ, jnp.ones((4, 2))) == 0.25


def test_positions_that_are_not_asked_do_not_matter():
    predictions_BQ = jnp.array([[1, 2], [1, 9], [9, 2], [9, 9]])
    targets_BQ = jnp.array([[1, 2], [1, 2], [1, 2], [1, 2]])
    first_asked = jnp.array([[0.5, 0.0]] * 4)
    assert losses.exact_match(predictions_BQ, targets_BQ, first_asked) == 0.5
    one_each = jnp.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert losses.exact_match(predictions_BQ, targets_BQ, one_each) == 0.75


def test_a_sequence_of_which_nothing_is_asked_does_not_count():
    predictions_BQ = jnp.array([[1, 2], [1, 2], [1, 9]])
    targets_BQ = jnp.array([[1, 2], [9, 9], [1, 2]])
    weights_BQ = jnp.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    assert losses.exact_match(predictions_BQ, targets_BQ, weights_BQ) == 0.5
    assert losses.exact_match(predictions_BQ, targets_BQ, jnp.zeros((3, 2))) == 0


def test_histogram():
    values_B = jnp.array([-2, -1, 0, 0, 2, 3, -7, 50])
    shares = losses.histogram(values_B, limit=2)  # -2, -1, 0, 1, 2, beyond
    np.testing.assert_allclose(shares, np.array([1, 1, 2, 0, 1, 3]) / 8)
