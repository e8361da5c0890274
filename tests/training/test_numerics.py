"""No setting of JAX in this process changes a network, its data or its answers."""

import contextlib
from collections.abc import Iterator
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.members.lookup import lookup_scores
from analysis.members.untrained import draw_independent, draw_training
from anchorjax import api, numerics
from anchorjax.grid import DATA, INIT
from anchorjax.models import draw_params
from anchorjax.network import Network, draw_eval_sets
from anchorjax.sweeps import trainer
from tests.support import cases
from tests.support.faults import ONE
from tests.support.sweeps import bits, experiment

# All at once: what `numerics.pin` leaves out shows whatever else is set.
SETTINGS = {
    'jax_threefry_partitionable': False,
    'jax_random_seed_offset': 7,
    'jax_default_prng_impl': 'rbg',
    'jax_enable_x64': True,
    'jax_default_matmul_precision': 'BF16_BF16_F32',  # known on a CPU, too
    'jax_numpy_dtype_promotion': 'strict',
    'jax_numpy_rank_promotion': 'raise',
    'jax_softmax_custom_jvp': True,
    'jax_disable_jit': True,
    'jax_debug_nans': True,
    'jax_debug_infs': True,
}


@contextlib.contextmanager
def set_in_process(settings: dict[str, Any] = SETTINGS) -> Iterator[None]:
    before = {name: getattr(jax.config, name) for name in settings}
    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def write_program() -> tuple[str, list[np.ndarray]]:
    """The text and the results of what each setting would change or refuse."""

    @jax.jit
    def compute(x: jax.Array) -> Any:
        noise = jax.random.normal(jax.random.key(0), (3, 2))
        mixed = noise @ x + jnp.arange(2)
        slope = jax.grad(lambda y: jax.nn.softmax(y)[0, 0])(mixed)
        return slope, x / 0, x / 0 - x / 0  # infinite, and not a number

    x = jnp.ones((2, 2))
    return compute.lower(x).as_text(), jax.tree.map(np.asarray, compute(x))


def test_a_pinned_program_is_the_same_under_any_setting():
    # The offset of seeds is recorded; `grid.random_key` makes keys without it.
    others = {name: SETTINGS[name] for name in SETTINGS if 'seed_offset' not in name}
    with numerics.pin():
        text, results = write_program()
    with set_in_process(others), numerics.pin():
        found_text, found = write_program()
    assert found_text == text
    chex.assert_trees_all_equal(found, results)


@pytest.mark.slow
def test_a_sweep_has_the_same_bits(one_member, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, '_trainers', {})  # as in a process of its own
    with set_in_process():
        run = api.train(experiment(**ONE), tmp_path)
        assert run.params()['W_U'].dtype == np.float32
    assert bits(tmp_path) == bits(one_member)


@pytest.mark.slow
def test_data_are_drawn_as_in_training():
    own, seed = cases.tiny(task__eval_examples=20), 3  # in no cache yet
    with set_in_process():
        eval_sets = draw_eval_sets(own.task, seed)
        (batch,) = draw_training(own.task, seed)
        scores = lookup_scores(own.task, seed)
    task = own.task.make()
    data = task.make_data(jax.random.fold_in(jax.random.key(seed), DATA))
    chex.assert_trees_all_equal(eval_sets, task.eval_sets(data))
    chex.assert_trees_all_equal(batch, task.batch(data, jnp.arange(task.num_train)))
    assert scores == lookup_scores.__wrapped__(own.task, seed)


@pytest.mark.slow
def test_networks_start_and_answer_as_in_training():
    own, seed = cases.tiny(model__mlp_dim=11), 3  # in no cache yet
    member = Network(own, {}, {'gamma': 0.5, 'seed': 0}, 0)
    tokens_BT = np.array([[5, 6, 1, 2], [7, 3, 4, 9]])
    with set_in_process():
        untrained = draw_independent(member, seed)
        logits = untrained.activations(tokens_BT).logits
    key = jax.random.fold_in(jax.random.key(seed), INIT)
    params = jax.jit(draw_params, static_argnums=(0, 1))(own.model, 20, 0.5, key)
    chex.assert_trees_all_equal(untrained.params, params)
    with jax.default_matmul_precision(own.train.precision):
        apply = jax.jit(member.apply)
        chex.assert_trees_all_equal(logits, apply(params, tokens_BT).logits)
