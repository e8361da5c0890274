"""The logits for training: those of the forward pass, in less memory."""

import jax
import numpy as np
import pytest

from anchorjax.training.forward import compute_logits
from tests.support import cases


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


def test_blocks_in_a_loop_keep_one_block_for_the_backward_pass():
    sizes = []
    for depth in (3, 12):
        experiment = cases.tiny_gpt2(model__remat=True, model__depth=depth)
        params = cases.random_params(experiment)
        tokens = np.zeros((512, 4), np.int32)

        def loss(params, experiment=experiment, tokens=tokens):
            return compute_logits(experiment, params, tokens, False).var()

        compiled = jax.jit(jax.grad(loss)).lower(params).compile()
        sizes.append(compiled.memory_analysis().temp_size_in_bytes)
    # Each of the nine blocks more keeps its input, 8 numbers a position, and little
    # else.
    stream = 512 * 4 * 8 * 4
    assert (sizes[1] - sizes[0]) / 9 < 2 * stream
