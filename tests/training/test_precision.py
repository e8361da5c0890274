"""What a precision of training rounds, and what an accelerator computes differently."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import config
from anchorjax.experiment import Experiment
from anchorjax.training.evaluation import evaluate
from anchorjax.training.step import TrainState, init_member, train_step
from tests.support import cases
from tests.support.cases import assert_same_but_rounding
from tests.support.first_steps import HPARAMS, make_step, start_member

MODELS = {'transformer': cases.tiny, 'gpt2': cases.tiny_gpt2}


def take_steps(experiment: Experiment, num_steps: int) -> tuple[TrainState, list]:
    """The state after some steps of a new member, and their losses in nats."""
    take_step = make_step(experiment)
    state, losses = start_member(experiment), []
    for _ in range(num_steps):
        state, loss, _ = take_step(state, HPARAMS)
        losses.append(float(loss))
    return state, losses


@pytest.mark.slow
@pytest.mark.parametrize('model', MODELS)
def test_bfloat16_rounds_a_step_and_keeps_float32_weights(model):
    # Not Adam: it enlarges what rounding leaves of a gradient that is zero.
    make, sgd = MODELS[model], {'optimizer__method': 'sgd'}
    exact, losses = take_steps(make(**sgd), 3)
    mixed, mixed_losses = take_steps(make(**sgd, train__precision='bfloat16'), 3)
    for leaf in jax.tree.leaves((mixed.params, mixed.opt_state)):
        assert leaf.dtype == jnp.float32
    # bfloat16 keeps 8 bits: 0.4 % a rounding.
    np.testing.assert_allclose(mixed_losses, losses, rtol=0.02)
    assert mixed_losses != losses
    assert_same_but_rounding(mixed.params, exact.params, tolerance=0.05)


@pytest.mark.slow
def test_evaluation_is_float32_at_any_precision():
    scores = []
    for precision in ('float32', 'bfloat16'):
        experiment = cases.tiny(train__precision=precision)
        state, _ = take_steps(experiment, 0)
        task = experiment.task.make()
        data = task.make_data(jax.random.key(0))
        run = jax.jit(functools.partial(evaluate, experiment, task))
        scores.append(run(data, state.params))
    jax.tree.map(np.testing.assert_array_equal, *scores)


@pytest.mark.parametrize('model', ['emb_mlp', 'one_layer'])
def test_a_model_without_mixed_precision_refuses_it(model):
    c = config.default(task='anchors', model=model)
    c.train.precision = 'bfloat16'
    with pytest.raises(config.ConfigError, match=r"train\.precision = 'bfloat16'"):
        config.resolve(c)


@pytest.mark.slow
@pytest.mark.parametrize('precision', ['float32', 'bfloat16'])
def test_an_accelerator_sums_in_a_fixed_order(precision):
    experiment = cases.tiny(train__precision=precision)
    task = experiment.task.make()

    def take_first_step(seed: jax.Array) -> TrainState:
        hparams = HPARAMS.replace(seed=seed)
        data = task.make_data(jax.random.key(0))
        state = init_member(experiment, hparams)
        return train_step(experiment, task, data, state, hparams)[0]

    def count_scatters(platform: str) -> int:
        traced = jax.jit(take_first_step).trace(jnp.int32(0))
        return traced.lower(lowering_platforms=(platform,)).as_text().count('scatter"')

    assert count_scatters('cpu') > 0
    assert count_scatters('cuda') == count_scatters('tpu') == 0


@pytest.mark.slow
def test_a_step_of_an_accelerator_is_that_of_a_cpu(monkeypatch):
    expected, losses = take_steps(cases.tiny(), 2)

    def choose_default(*args, cpu, default):
        return default(*args)

    monkeypatch.setattr(jax.lax, 'platform_dependent', choose_default)
    found, found_losses = take_steps(cases.tiny(), 2)
    np.testing.assert_allclose(found_losses, losses, rtol=1e-5)
    assert_same_but_rounding(found.params, expected.params, tolerance=1e-4)
