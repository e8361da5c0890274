"""GPT-2 has its size and the reference's gradient, which few options may change."""

import functools
from typing import Any

import jax
import numpy as np
import pytest

from anchorjax import config
from anchorjax.experiment import Experiment
from anchorjax.sweeps import cost
from anchorjax.training import losses
from anchorjax.training.forward import compute_logits
from tests.support import cases
from tests.support.cases import TOKENS_BT, draw_gpt2, forward
from tests.support.networks import reference

TARGETS_BT = np.array([[5, 2, 9, 9], [1, 3, 0, 19], [4, 4, 7, 2]], np.int32)


@functools.partial(jax.jit, static_argnums=0)
def compute_loss(experiment: Experiment, params: Any) -> jax.Array:
    """Mean cross-entropy at all positions of TOKENS_BT."""
    out = forward(experiment, params, TOKENS_BT, last_only=False)
    return losses.cross_entropy(out.logits, TARGETS_BT).mean()


compute_gradient = functools.partial(jax.jit, static_argnums=0)(
    jax.grad(compute_loss, argnums=1)
)


def flatten(tree: Any) -> np.ndarray:
    leaves = [np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(tree)]
    return np.concatenate(leaves)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('size', 'official'), [('small', 124_439_808), ('medium', 354_823_168)]
)
def test_the_official_number_of_parameters(size, official):
    c = config.default(model='gpt2', size=size)
    c.task.vocab = 50_257
    c.optimizer.warmup_steps = 0
    assert cost.num_parameters(config.resolve(c)) == official


@pytest.mark.slow
def test_the_gradient_is_the_slope_of_the_references_loss():
    experiment, params = draw_gpt2()
    exact = reference.to_float64(params)
    grads = flatten(compute_gradient(experiment, params))
    rng = np.random.default_rng(3)

    for _ in range(6):
        direction = jax.tree.map(lambda p: rng.normal(size=p.shape), exact)

        def loss_at(distance: float, direction: Any = direction) -> float:
            moved = jax.tree.map(lambda p, d: p + distance * d, exact, direction)
            model = experiment.model
            return reference.loss(moved, TOKENS_BT, TARGETS_BT, None, model)

        slope = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5
        scale = np.linalg.norm(grads) * np.linalg.norm(flatten(direction))
        assert abs(grads @ flatten(direction) - slope) < 1e-6 * scale


@pytest.mark.slow
def test_logits_for_training_are_those_of_the_forward_pass():
    for changes in ({}, {'model__remat': True, 'model__depth': 3}):
        experiment = cases.tiny_gpt2(**changes)
        params = cases.random_params(experiment, scale=0.3)
        tokens = np.random.default_rng(0).integers(0, 20, (4, 4))
        for last_only in (True, False):
            expected = cases.run_forward(experiment, params, tokens, last_only).logits
            found = compute_logits(experiment, params, tokens, last_only)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
