"""Kernels that move, and kernels that stay although the parameters move, are told apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis import lazy
from analysis.changes.distances import Change, _look, change, movement, questions
from analysis.changes.kernels import kernel_distance
from analysis.members.member import member_of
from analysis.members.selection import members, spans_from
from anchorjax.errors import UserError
from anchorjax.models.base import Activations, BlockActivations
from anchorjax.storage.reader import open_run
from tests.support import planted
from tests.support.drawing import pixels
from tests.support.sweeps import opened


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


NUMBER = 16  # sequences: two batches of eight


@pytest.fixture(scope='module')
def result(finished):
    return lazy.compute(finished, NUMBER)


@pytest.fixture(scope='module')
def start(finished):
    return member_of(finished, 0, depth=1, gamma=0.3, seed=0)


def test_the_kernel_is_the_plain_one(finished, start):
    member = member_of(finished, depth=1, gamma=0.3, seed=0)
    tokens_BT, labels_B = questions(member, NUMBER)

    def answers(params):
        logits_BV = member.apply(params, tokens_BT).logits[:, -1]
        return logits_BV[jnp.arange(NUMBER), labels_B] - logits_BV.mean(-1)

    leaves = jax.tree.leaves(jax.jit(jax.jacrev(answers))(member.params))
    rows = np.concatenate([np.reshape(leaf, (NUMBER, -1)) for leaf in leaves], axis=1)
    plain = rows @ rows.T
    look = _look(start.experiment.model, start.experiment.task.vocab)
    ours, _ = look(member.params, tokens_BT, labels_B)
    np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-4 * plain.max())


def test_every_probe_is_asked_as_often(start):
    tokens_BT, labels_B = questions(start, 6)
    tokens_PBT, labels_PRB = start.probes
    assigned = start.task.mapping_names.index('assigned')
    for p in range(3):
        np.testing.assert_array_equal(tokens_BT[p::3], tokens_PBT[p, :2])
        np.testing.assert_array_equal(labels_B[p::3], labels_PRB[p, assigned, :2])


def test_a_network_that_stands_still_is_lazy(start):
    same = change(start, start, NUMBER)
    assert same.kernel == pytest.approx(0, abs=1e-9) and same.pattern == 0
    assert same.movement['all'] == same.movement['W_embed'] == 0
    assert np.isnan(same.movement['bias'])  # zero from the start


def test_a_linear_model_moves_and_keeps_its_kernel():
    module = Planted(lambda params, x: x @ params['W'])
    found = change(*pair(module, matrix(0), matrix(1)), 6)
    assert found.kernel == pytest.approx(0, abs=1e-9) and found.pattern == 0
    assert found.movement['all'] > 1


def test_a_quadratic_model_learns_its_kernel_but_not_by_scaling():
    quadratic = Planted(lambda params, x: (x @ params['W']) @ params['W'])
    assert change(*pair(quadratic, matrix(0), matrix(1)), 6).kernel > 0.1
    twice = {'W': 2 * matrix(0)['W']}  # K becomes 4 K: the same up to a factor
    found = change(*pair(quadratic, matrix(0), twice), 6)
    assert found.kernel == pytest.approx(0, abs=1e-6)
    assert found.movement['all'] == pytest.approx(1)


def test_kernels_without_anything_in_common_are_one_apart():
    first, second = np.diag([1.0, 0, 0]), np.diag([0, 1.0, 1])
    assert kernel_distance(first, second) == 1
    assert kernel_distance(first, 5 * first) == 0
    assert np.isnan(kernel_distance(first, 0 * first))


def test_switched_neurons_are_counted():
    def hidden(params, x):  # ten neurons, of which params['n'] are on
        on = jnp.arange(10) < params['n'][0]
        return jnp.broadcast_to(on - 0.5, (*x.shape[:2], 10))

    module = Planted(lambda params, x: x @ params['W'], hidden)
    few, more = (matrix(0) | {'n': np.array([n], np.float32)} for n in (2, 5))
    assert change(*pair(module, few, more), 6).pattern == pytest.approx(0.3)


def test_movement_by_name():
    start = {
        'block_0': {'W_Q': np.ones((2, 2))},
        'block_1': {'W_Q': np.ones((2, 2))},
        'b': [0.0],
    }
    end = {
        'block_0': {'W_Q': np.ones((2, 2))},
        'block_1': {'W_Q': np.full((2, 2), 3.0)},
        'b': [3],
    }
    found = movement(*({**p, 'b': np.array(p['b'])} for p in (start, end)))
    assert found['W_Q'] == pytest.approx(4 / np.sqrt(8)) and np.isnan(found['b'])
    assert found['all'] == pytest.approx(5 / np.sqrt(8))


def test_a_finished_sweep_has_a_row_for_every_member(finished, result):
    assert len(result.lazy_M) == 8 and result.left_out == ()
    assert (result.start_M == 0).all() and (result.end_M == 40).all()
    assert ((result.lazy_M > 0) & (result.lazy_M < 1)).all() and (
        result.movement_M > 0
    ).all()
    point = {axis: values[3] for axis, values in result.points.items()}
    start, end = (finished.params(step, **point) for step in (0, 'last'))
    assert result.movement_M[3] == pytest.approx(movement(start, end)['all'])
    assert result.movement_MG.shape == (8, len(result.group_names))
    agreement = finished.results.agreement.sel(point).sel(
        probe='unseen', mapping='symmetric'
    )
    assert result.outcome_M3[3, 1] == agreement


def test_the_solution_is_that_of_the_phase_diagram(finished, monkeypatch):
    agreement = np.zeros(finished.results.agreement.shape)
    ended = finished.results.assign(
        agreement=(finished.results.agreement.dims, agreement)
    )
    at = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    ended.agreement.loc[at | {'probe': 'unseen'}] = (
        0.9  # both mappings: the first one counts
    )
    ended.agreement.loc[at | {'depth': 1, 'probe': 'seen_heldout'}] = 0.9
    monkeypatch.setitem(finished.__dict__, 'results', ended)
    monkeypatch.setattr(lazy, 'change', lambda *_: Change(0.0, 0.0, {'all': 0.0}))
    expected = ['memorizing'] * 8
    expected[7], expected[3] = 'inferential', 'other'
    assert list(lazy.compute(finished).solution_M) == expected


def test_a_later_start_and_what_is_left_out(finished, tmp_path):
    spans, left_out = spans_from(finished, 2)
    assert {(first, last) for _, first, last in spans} == {(4, 40)} and left_out == []
    with pytest.raises(UserError, match=r'depth=1,gamma=0.3,seed=0: a single snapshot'):
        lazy.compute(finished, start=40)
    opened(tmp_path)
    with pytest.raises(UserError, match=r'gamma=0.3,seed=0: not trained yet'):
        lazy.compute(open_run(tmp_path))


def test_a_diverged_member_is_left_out(finished, monkeypatch):
    diverged = finished.results.diverged.copy()
    diverged.loc[{'depth': 1, 'gamma': 0.8, 'seed': 1}] = 7
    monkeypatch.setitem(
        finished.__dict__, 'results', finished.results.assign(diverged=diverged)
    )
    spans, left_out = spans_from(finished, 0)
    assert len(spans) == 7 and left_out == ['depth=1,gamma=0.8,seed=1: diverged']
    there = [point for _, point in members(finished)]
    assert there == [point for point, _, _ in spans]


def test_drawn_twice_is_the_same(result):
    np.testing.assert_array_equal(pixels(result, lazy), pixels(result, lazy))
