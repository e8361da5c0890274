"""Kernels that move, and kernels that stay although the parameters move, are told apart."""

import jax
import jax.numpy as jnp
import numpy as np
import planted
import pytest
from conftest import opened

from analysis import lazy, style
from anchorjax import store
from anchorjax.errors import UserError
from anchorjax.models.base import Activations, BlockActivations


class Planted:
    """Logits from params['W'] [V, V] and the last token; hidden as told."""

    def __init__(self, logits, hidden=lambda params, x: x):
        self.logits, self.hidden = logits, hidden

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        params, x_BTV = variables['params'], jax.nn.one_hot(tokens_BT, 20)
        zero = jnp.zeros((*tokens_BT.shape, 1))
        block = BlockActivations(*[zero] * 6, self.hidden(params, x_BTV), zero)
        return Activations(zero, (block,), self.logits(params, x_BTV))


def matrix(seed):
    return {'W': np.random.default_rng(seed).normal(size=(20, 20)).astype(np.float32)}


def pair(module, start, end):
    first = planted.member(module, start)
    return first, first._replace(params=end)


def test_the_kernel_is_the_plain_one(monkeypatch):
    monkeypatch.setattr(lazy, 'BATCH', 4)  # two batches of three
    number = 6
    member = planted.untrained(model__depth=1)
    rng = np.random.default_rng(0)
    tokens_BT, labels_B = (jnp.asarray(rng.integers(0, 20, s)) for s in ((number, 4), number))

    def answer(params, tokens_T, label):
        logits_V = member.apply(params, tokens_T[None]).logits[0, -1]
        return logits_V[label] - logits_V.mean()

    gradient, rows = jax.jit(jax.jacobian(answer)), []
    for tokens_T, label in zip(tokens_BT, labels_B, strict=True):
        leaves = jax.tree.leaves(gradient(member.params, tokens_T, label))
        rows.append(np.concatenate([np.ravel(leaf) for leaf in leaves]))
    plain = np.stack(rows) @ np.stack(rows).T
    kernel = jax.jit(lazy.tangent_kernel, static_argnums=0)
    ours = kernel(member.apply, member.params, tokens_BT, labels_B)
    np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-4 * plain.max())


def test_a_network_that_stands_still_is_lazy():
    member = planted.untrained(model__depth=1)
    distance, pattern = lazy.changes(member, member, 12)
    assert distance == pytest.approx(0, abs=1e-9) and pattern == 0
    found = lazy.movement(member.params, member.params)
    assert found['all'] == found['W_embed'] == 0
    assert np.isnan(found['bias'])  # zero from the start


def test_a_linear_model_moves_and_keeps_its_kernel():
    start, end = matrix(0), matrix(1)
    members = pair(Planted(lambda params, x: x @ params['W']), start, end)
    distance, pattern = lazy.changes(*members, 12)
    assert distance == pytest.approx(0, abs=1e-9) and pattern == 0
    assert lazy.movement(start, end)['all'] > 1


def test_a_quadratic_model_learns_its_kernel_but_not_by_scaling():
    module = Planted(lambda params, x: jnp.tanh(x @ params['W']) @ params['W'])
    quadratic = Planted(lambda params, x: (x @ params['W']) @ params['W'])
    assert lazy.changes(*pair(module, matrix(0), matrix(1)), 12)[0] > 0.1
    twice = {'W': 2 * matrix(0)['W']}  # K becomes 4 K: the same up to a factor
    assert lazy.changes(*pair(quadratic, matrix(0), twice), 12)[0] == pytest.approx(0, abs=1e-6)
    assert lazy.movement(matrix(0), twice)['all'] == pytest.approx(1)


def test_kernels_without_anything_in_common_are_one_apart():
    first, second = np.diag([1.0, 0, 0]), np.diag([0, 1.0, 1])
    assert lazy.kernel_distance(first, second) == 1
    assert lazy.kernel_distance(first, 5 * first) == 0
    assert np.isnan(lazy.kernel_distance(first, 0 * first))


def test_switched_neurons_are_counted():
    def hidden(params, x):  # ten neurons, of which params['n'] are on
        on = jnp.arange(10) < params['n'][0]
        return jnp.broadcast_to(on - 0.5, (*x.shape[:2], 10))

    module = Planted(lambda params, x: x @ params['W'], hidden)
    few, more = (matrix(0) | {'n': np.array([n], np.float32)} for n in (2, 5))
    assert lazy.changes(*pair(module, few, more), 12)[1] == pytest.approx(0.3)


def test_movement_by_name():
    start = {'block_0': {'W_Q': np.ones((2, 2))}, 'block_1': {'W_Q': np.ones((2, 2))}, 'b': [0.0]}
    end = {'block_0': {'W_Q': np.ones((2, 2))}, 'block_1': {'W_Q': np.full((2, 2), 3.0)}, 'b': [3]}
    found = lazy.movement(*({**p, 'b': np.array(p['b'])} for p in (start, end)))
    assert found['W_Q'] == pytest.approx(4 / np.sqrt(8)) and np.isnan(found['b'])
    assert found['all'] == pytest.approx(5 / np.sqrt(8))


@pytest.mark.parametrize(
    'row, name',
    [
        ((0.95, 0.0, 1.0), 'inferential'),
        ((0.0, 0.9, 0.1), 'symmetric'),
        ((0.5, 0.4, 0.89), 'memorizing'),
        ((0.5, 0.4, 0.95), 'other'),
    ],
)
def test_the_solution_is_that_of_the_phase_diagram(row, name):
    assert lazy.solution(*row) == name


@pytest.fixture(scope='module')
def result(finished):
    return lazy.compute(finished, number=6)


def test_a_finished_sweep_has_a_row_for_every_member(finished, result):
    assert len(result.lazy_M) == 8 and result.left_out == ()
    assert (result.start_M == 0).all() and (result.end_M == 40).all()
    assert ((result.lazy_M > 0) & (result.lazy_M < 1)).all() and (result.movement_M > 0).all()
    point = {axis: values[3] for axis, values in result.points.items()}
    start, end = (finished.params(step, **point) for step in (0, 'last'))
    assert result.movement_M[3] == pytest.approx(lazy.movement(start, end)['all'])
    assert result.movement_MG.shape == (8, len(result.group_names))
    agreement = finished.results.agreement.sel(point).sel(probe='unseen', mapping='symmetric')
    assert result.outcome_M3[3, 1] == agreement


def test_a_later_start_and_what_is_left_out(finished, tmp_path):
    points, left_out = lazy._usable(finished, 2)
    assert {first for _, first in points} == {4} and left_out == []
    with pytest.raises(UserError, match=r'depth=1,gamma=0.3,seed=0: a single snapshot'):
        lazy.compute(finished, start=40)
    opened(tmp_path)
    with pytest.raises(UserError, match=r'gamma=0.3,seed=0: not trained yet'):
        lazy.compute(store.open(tmp_path))


def test_drawn_twice_is_the_same_bytes(tmp_path, result):
    one, two = (style.drawn(result, lazy.draw, lazy.layout, tmp_path / name) for name in 'ab')
    for a, b in zip(one, two, strict=True):
        assert a.read_bytes() == b.read_bytes()
