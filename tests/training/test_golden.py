"""Numbers that may not drift: the first step of a tiny experiment, and the losses by hand."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.config.grid import HParams
from anchorjax.training import losses
from anchorjax.training.step import init_member, train_step
from tests.support import cases

# Loss in nats and gradient norm of step 0, and W_U[2, 3] before and after it.
GOLDEN = (2.87316, 1.29702, -0.0843705, -0.0742862)


def test_first_step():
    experiment = cases.tiny(model__depth=1, optimizer__shape='constant')
    hparams = HParams(*map(jnp.float32, (0.5, 0.01, 0.1)), jnp.int32(0))
    task = tasks.make(experiment.task)
    data = task.make_data(jax.random.key(0))

    @jax.jit
    def first():
        state = init_member(experiment, hparams)
        return state, *train_step(experiment, task, data, state, hparams)

    before, after, loss, norm = first()
    assert (before.step, after.step, after.diverged) == (0, 1, -1)
    entries = [state.params['W_U'][2, 3] for state in (before, after)]
    np.testing.assert_allclose([loss, norm, *entries], GOLDEN, rtol=1e-4)


def test_cross_entropy_by_hand():
    logits_BV = jnp.log(jnp.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]))
    labels_B = jnp.array([0, 1])
    both = (math.log(2), math.log(5))
    assert losses.cross_entropy(logits_BV, labels_B) == pytest.approx(
        sum(both) / 2, rel=1e-5
    )
    weighted = losses.cross_entropy(logits_BV, labels_B, jnp.array([3.0, 1.0]))
    assert weighted == pytest.approx((3 * both[0] + both[1]) / 4, rel=1e-5)
    assert losses.cross_entropy(logits_BV + 100, labels_B) == pytest.approx(
        sum(both) / 2, rel=1e-5
    )
    assert losses.cross_entropy(logits_BV, labels_B, jnp.zeros(2)) == 0


def test_agreement_by_hand():
    labels_RB = jnp.array([[1, 2, 3, 4], [1, 0, 0, 0], [0, 0, 0, 0]])
    ours = losses.agreement(jnp.array([1, 2, 3, 9]), labels_RB)
    np.testing.assert_allclose(ours, [0.75, 0.25, 0.0])


def test_histogram_by_hand():
    values_B = jnp.array([-2, -1, 0, 0, 2, 3, -7, 50])
    ours = losses.histogram(values_B, limit=2)  # -2, -1, 0, 1, 2, beyond
    np.testing.assert_allclose(ours, np.array([1, 1, 2, 0, 1, 3]) / 8)
