"""Numbers that may not drift: the first step of a tiny experiment."""

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import tasks
from anchorjax.config.grid import HParams
from anchorjax.training.step import TrainState, init_member, train_step
from tests.support import cases

# Loss in nats and gradient norm of step 0, and W_U[2, 3] before and after it.
GOLDEN = (2.87316, 1.29702, -0.0843705, -0.0742862)


def test_first_step():
    experiment = cases.tiny(model__depth=1, optimizer__shape='constant')
    hparams = HParams(
        gamma=jnp.float32(0.5),
        learning_rate=jnp.float32(0.01),
        weight_decay=jnp.float32(0.1),
        seed=jnp.int32(0),
    )
    task = tasks.make(experiment.task)
    data = task.make_data(jax.random.key(0))

    @jax.jit
    def take_first_step() -> tuple[TrainState, TrainState, jax.Array, jax.Array]:
        state = init_member(experiment, hparams)
        return state, *train_step(experiment, task, data, state, hparams)

    before, after, loss, norm = take_first_step()
    assert (before.step, after.step, after.diverged) == (0, 1, -1)
    entries = [state.params['W_U'][2, 3] for state in (before, after)]
    np.testing.assert_allclose([loss, norm, *entries], GOLDEN, rtol=1e-4)
