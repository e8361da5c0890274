"""Tells kernels that move from kernels that stay although the parameters move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.changes.distances import (
    choose_sequences,
    kernel_distance,
    measure_change,
    measure_kernel_distance,
    measure_movement,
)
from analysis.members.untrained import draw_independent
from analysis.p1 import lazy
from anchorjax.models import Activations
from tests.support.networks import planted


def copy_input(params, x_BTV):
    return x_BTV


def multiply(params, x_BTV):
    return x_BTV @ params['W']


def multiply_twice(params, x_BTV):
    return (x_BTV @ params['W']) @ params['W']


class Planted:
    """A model whose logits and hidden neurons are given functions of one-hot tokens."""

    def __init__(self, logits, hidden=copy_input):
        self.logits = logits
        self.hidden = hidden

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        params = variables['params']
        x_BTV = jax.nn.one_hot(tokens_BT, 20)
        block = planted.make_block(tokens_BT, hidden=self.hidden(params, x_BTV))
        return Activations(x_BTV, (block,), self.logits(params, x_BTV))


def matrix(seed):
    rng = np.random.default_rng(seed)
    return {'W': rng.normal(size=(20, 20)).astype(np.float32)}


def pair(module, start, end):
    first = planted.make_member(module, start)
    return first, first._replace(params=end)


NUMBER = 16  # sequences


@pytest.fixture(scope='module')
def result(finished):
    return lazy.compute(finished, NUMBER)


@pytest.fixture(scope='module')
def start(finished):
    return finished.network(0, depth=1, gamma=0.3, seed=0)


def compute_plain_kernel(member, tokens_BT, labels_B):
    """All gradients at once."""

    def answers(params):
        logits_BV = member.apply(params, tokens_BT).logits[:, -1]
        return logits_BV[jnp.arange(NUMBER), labels_B] - logits_BV.mean(-1)

    leaves = jax.tree.leaves(jax.jit(jax.jacrev(answers))(member.params))
    rows = np.concatenate([np.reshape(leaf, (NUMBER, -1)) for leaf in leaves], axis=1)
    return rows @ rows.T


def test_sequences_that_are_too_many_for_memory_have_the_same_kernel(monkeypatch):
    first, second = pair(Planted(multiply_twice), matrix(0), matrix(1))
    whole = measure_kernel_distance(first, second, 6)
    size = first.params['W'].nbytes
    monkeypatch.setattr('analysis.changes.distances.MOST_BYTES', 2 * size)
    assert measure_kernel_distance(first, second, 6) == pytest.approx(whole, rel=1e-6)


@pytest.mark.slow
def test_the_null_is_the_distance_of_two_independent_starts(result, start):
    other = draw_independent(start, 0 + 1_000_003)
    tokens_BT, labels_B = choose_sequences(start, NUMBER)
    plain = compute_plain_kernel(start, tokens_BT, labels_B)
    other_plain = compute_plain_kernel(other, tokens_BT, labels_B)
    expected = kernel_distance(plain, other_plain)
    assert expected > 0.01
    assert result.null[0] == pytest.approx(expected, rel=1e-3)
    # The same network twice has no distance.
    assert measure_kernel_distance(start, start, NUMBER) == pytest.approx(0, abs=1e-9)
    assert len(result.null) == 8 and len(set(result.null)) == 8


def test_a_network_that_stands_still_is_lazy(start):
    same = measure_change(start, start, NUMBER)
    assert same['kernel'] == pytest.approx(0, abs=1e-9) and same['pattern'] == 0
    assert same['movement'] == same['movement_W_embed'] == 0
    assert np.isnan(same['movement_bias'])  # zero from the start


def test_a_linear_model_moves_and_keeps_its_kernel():
    module = Planted(multiply)
    found = measure_change(*pair(module, matrix(0), matrix(1)), 6)
    assert found['kernel'] == pytest.approx(0, abs=1e-9) and found['pattern'] == 0
    assert found['movement'] > 1


def test_a_quadratic_model_learns_its_kernel_but_not_by_scaling():
    quadratic = Planted(multiply_twice)
    found = measure_change(*pair(quadratic, matrix(0), matrix(1)), 6)
    assert found['kernel'] > 0.1
    twice = {'W': 2 * matrix(0)['W']}  # K becomes 4 K: the same up to a factor
    found = measure_change(*pair(quadratic, matrix(0), twice), 6)
    assert found['kernel'] == pytest.approx(0, abs=1e-6)
    assert found['movement'] == pytest.approx(1)


def test_kernels_without_anything_in_common_are_one_apart():
    first, second = np.diag([1.0, 0, 0]), np.diag([0, 1.0, 1])
    assert kernel_distance(first, second) == 1
    assert kernel_distance(first, 5 * first) == 0
    assert np.isnan(kernel_distance(first, 0 * first))


def test_switched_neurons_are_counted():
    def hidden(params, x):  # ten neurons, of which params['n'] are on
        on = jnp.arange(10) < params['n'][0]
        return jnp.broadcast_to(on - 0.5, (*x.shape[:2], 10))

    module = Planted(multiply, hidden)
    two = matrix(0) | {'n': np.array([2], np.float32)}
    five = matrix(0) | {'n': np.array([5], np.float32)}
    found = measure_change(*pair(module, two, five), 6)
    assert found['pattern'] == pytest.approx(0.3)


def test_movement_by_name():
    start = {
        'block_0': {'W_Q': np.ones((2, 2))},
        'block_1': {'W_Q': np.ones((2, 2))},
        'b': np.array([0.0]),
    }
    end = {
        'block_0': {'W_Q': np.ones((2, 2))},
        'block_1': {'W_Q': np.full((2, 2), 3.0)},
        'b': np.array([3]),
    }
    found = measure_movement(start, end)
    assert found['W_Q'] == pytest.approx(4 / np.sqrt(8)) and np.isnan(found['b'])
    assert found['all'] == pytest.approx(5 / np.sqrt(8))


@pytest.mark.slow
def test_a_finished_sweep_has_a_row_for_every_member(finished, result):
    assert len(result) == 8
    assert (result.start == 0).all() and (result.end == 40).all()
    assert ((result.kernel > 0) & (result.kernel < 1)).all()
    assert (result.movement > 0).all()
    point = result.loc[3, [*finished.experiment.axes]].to_dict()
    moved = measure_movement(finished.params(0, **point), finished.params(**point))
    assert result.movement[3] == pytest.approx(moved['all'])
    assert result.movement_W_embed[3] == pytest.approx(moved['W_embed'])
