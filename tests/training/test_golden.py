"""Numbers that may not drift: the first step of tiny experiments."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.support import cases
from tests.support.first_steps import HPARAMS, make_step, start_member

CONSTANT = {'optimizer__shape': 'constant'}
TRANSFORMER = cases.tiny(model__depth=1, **CONSTANT)
GPT2 = cases.tiny_gpt2(**CONSTANT)


@pytest.mark.parametrize(
    ('experiment', 'matrix', 'golden'),
    [
        (TRANSFORMER, 'W_U', (2.87316, 1.29702, -0.0843705, -0.0742862)),
        pytest.param(
            *(GPT2, 'W_embed', (3.48645, 5.90822, -0.569571, -0.559002)),
            marks=pytest.mark.slow,
        ),
    ],
    ids=['transformer', 'gpt2'],
)
def test_first_step(experiment, matrix, golden):
    """Loss in nats and gradient norm of step 0; matrix[2, 3] before and after it."""
    before = start_member(experiment)
    after, loss, norm = make_step(experiment)(before, HPARAMS)
    assert (before.step, after.step, after.diverged) == (0, 1, -1)
    entries = [state.params[matrix][2, 3] for state in (before, after)]
    np.testing.assert_allclose([loss, norm, *entries], golden, rtol=1e-4)


def test_another_seed_takes_the_same_data_in_another_order():
    """From equal parameters: what differs is the batch."""
    take_step, start = make_step(TRANSFORMER), start_member(TRANSFORMER)
    losses = []
    for seed in (0, 1):
        _, loss, _ = take_step(start, HPARAMS.replace(seed=jnp.int32(seed)))
        losses.append(float(loss))
    assert losses[0] != losses[1]
