"""Rates follow the official schedule, decay reaches every parameter (PAPERS 1.3)."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.config.grid import HParams
from anchorjax.training import optimizers
from anchorjax.training.optimizers import OptimizerConfig
from anchorjax.training.step import new_state, train_step
from tests.support import cases

BASE, MULTIPLIER, WARMUP, COSINE = 1e-5, 25, 40, 200
STEPS = np.arange(WARMUP + COSINE + 1)


def rates(shape, peak=MULTIPLIER * BASE, steps=STEPS):
    config = OptimizerConfig(
        shape=shape, warmup_steps=WARMUP, schedule_steps=WARMUP + COSINE, floor=BASE
    )
    return optimizers.learning_rate(config, peak, jnp.asarray(steps))


def official(t):
    """GradualWarmupScheduler, then CosineAnnealingLR in closed form."""
    if t < WARMUP:
        return BASE * (1 + (MULTIPLIER - 1) * t / WARMUP)
    wave = 1 + math.cos(math.pi * (t - WARMUP) / COSINE)
    return BASE + (MULTIPLIER * BASE - BASE) * wave / 2


def test_warmup_cosine_is_the_official_formula():
    np.testing.assert_allclose(
        rates('warmup_cosine'), [official(t) for t in STEPS], rtol=1e-4
    )


def test_warmup_cosine_by_hand():
    by_hand = [1e-5, 1.6e-5, 2.44e-4, 2.5e-4, 1.3e-4, 1e-5, 1e-5]
    steps = [0, 1, 39, 40, 140, 240, 999]
    np.testing.assert_allclose(rates('warmup_cosine', steps=steps), by_hand, rtol=1e-4)


def test_cosine_is_pytorchs():
    torch = pytest.importorskip('torch')
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=MULTIPLIER * BASE)
    annealing = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, COSINE, eta_min=BASE
    )
    theirs = []
    for _ in range(COSINE + 1):
        theirs.append(annealing.get_last_lr()[0])
        optimizer.step()
        annealing.step()
    np.testing.assert_allclose(rates('warmup_cosine')[WARMUP:], theirs, rtol=1e-4)


def test_warmup_drop_falls_to_the_floor_and_stays():
    ours = rates('warmup_drop')
    np.testing.assert_allclose(
        ours[:WARMUP], [official(t) for t in range(WARMUP)], rtol=1e-5
    )
    np.testing.assert_allclose(ours[WARMUP:], BASE, rtol=1e-6)


def test_constant_is_the_peak():
    np.testing.assert_allclose(rates('constant'), 2.5e-4, rtol=1e-6)


def test_no_warmup_starts_at_the_peak():
    config = OptimizerConfig(warmup_steps=0, schedule_steps=100, floor=0.0)
    ours = optimizers.learning_rate(config, 1.0, jnp.array([0, 50, 100]))
    np.testing.assert_allclose(ours, [1.0, 0.5, 0.0], atol=1e-6)


def test_a_cosine_longer_than_training_is_not_cut_short():
    experiment = cases.tiny(optimizer__schedule_steps=40)
    assert experiment.train.num_steps == 20
    assert (
        cases.tiny().optimizer.schedule_steps == 20
    )  # 0 stands for the whole training
    rate = optimizers.learning_rate(experiment.optimizer, 1.0, jnp.int32(22))
    np.testing.assert_allclose(rate, (1 + 1e-4) / 2, rtol=1e-5)


def test_the_peak_may_be_traced():
    peaks = jnp.array([1e-4, 3e-4])
    traced = jax.jit(jax.vmap(lambda peak: rates('warmup_cosine', peak)))(peaks)
    plain = jnp.stack([rates('warmup_cosine', float(peak)) for peak in peaks])
    np.testing.assert_allclose(traced, plain, rtol=1e-5)


def test_decay_reaches_every_parameter_biases_and_layer_norms_included():
    experiment = cases.tiny(model__biases=True, optimizer__shape='constant')
    params = cases.random_params(experiment)
    state = new_state(experiment, params)
    task = tasks.make(experiment.task)
    data = task.make_data(jax.random.key(0))

    @jax.jit
    def after(decay):
        hparams = HParams(jnp.float32(0.5), jnp.float32(0.01), decay, jnp.int32(0))
        return train_step(experiment, task, data, state, hparams)[0].params

    without, with_decay = after(jnp.float32(0)), after(jnp.float32(20))
    for p, a, b in zip(
        *map(jax.tree.leaves, (params, without, with_decay)), strict=True
    ):
        np.testing.assert_allclose(a - b, 0.01 * 20 * p, rtol=1e-3, atol=1e-6)


def test_clip_norm_is_that_of_all_parameters_together():
    tx = optimizers.make_tx(OptimizerConfig(b1=0.0, b2=0.0, eps=1e6))
    grads = {'a': jnp.array([3.0, 0.0]), 'b': jnp.array([[4.0]])}
    updates, _ = tx.update(
        grads, tx.init(grads)
    )  # eps dwarfs the rest: the clipped gradient
    np.testing.assert_allclose(updates['a'] * 1e6, [0.6, 0.0], rtol=1e-5)
    np.testing.assert_allclose(updates['b'] * 1e6, [[0.8]], rtol=1e-5)
    np.testing.assert_allclose(optimizers.global_norm(grads), 5.0, rtol=1e-6)
