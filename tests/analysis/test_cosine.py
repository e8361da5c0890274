"""Vectors that are the answer align in the boxes; vectors that are the question do not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis import cosine
from analysis.members.member import Member
from anchorjax.errors import UserError
from anchorjax.models.base import Activations, BlockActivations
from tests.support import cases, planted
from tests.support.drawing import pixels

KEYS = (5, 11)
SHIFTS = jnp.array([0, 3, 1, -1, -2])  # of anchors 1 to 4 in cases.tiny


def answer(x, *anchors):
    return jax.nn.one_hot(x + sum(SHIFTS[a] for a in anchors), 30)


def question(x, *anchors):
    number = x
    for a in anchors:
        number = 5 * number + a
    return jax.nn.one_hot(number, 600)


class Encoding:
    """Layer 2: v is code(x, a1, a2) plus an offset, u is code(x, a1), in two heads."""

    def __init__(self, code, offset=0.0, depth=2):
        self.code, self.offset, self.depth = code, offset, depth

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        x, a1, a2 = tokens_BT[:, 0], tokens_BT[:, 1], tokens_BT[:, 2]
        everywhere = lambda code_BD: jnp.repeat(code_BD[:, None], tokens_BT.shape[1], 1)
        v, u = (
            everywhere(c + self.offset)
            for c in (self.code(x, a1, a2), self.code(x, a1))
        )
        zero = jnp.zeros((*tokens_BT.shape, 1))
        V = u.reshape(*tokens_BT.shape, 2, -1)
        block = BlockActivations(zero, zero, V, zero, zero, v, zero, zero)
        return Activations(
            zero, (block,) * self.depth, jnp.zeros((*tokens_BT.shape, 20))
        )


def found(code=answer, keys=KEYS, contexts=4, **settings):
    return cosine.compute(planted.member(Encoding(code, **settings)), keys, contexts)


def test_vectors_of_the_answer_are_parallel_in_the_boxes_only():
    result = found()
    np.testing.assert_allclose(result.inside, 1, rtol=1e-6)
    np.testing.assert_allclose(result.outside, 0, atol=1e-6)
    np.testing.assert_allclose(result.difference, 1, rtol=1e-6)
    assert np.isnan(np.diagonal(result.cosine, axis1=1, axis2=2)).all()


def test_the_boxes_are_where_the_answers_agree():
    """Shifts 3, 1, -1, -2: f(9; 3, 3) = 7 = f(5; 2, 2) below, f(5; 1, 2) = 9 = f(7; 1, 3) above."""
    apart = found().apart
    assert apart[0, 4, 0] == 0 and apart[0, 0, 2] == 0
    assert (
        apart[1, 2, 0] == 0 and apart[1, 0, 2] == 0
    )  # g(7; 3) = g(5; 2), g(5; 1) = g(7; 2)
    off = ~np.eye(7, dtype=bool)
    assert [(a[off] == 0).sum() for a in apart] == [3 + 5, 5 + 5]


def test_vectors_of_the_question_show_nothing():
    result = found(question)
    np.testing.assert_allclose(result.difference, 0, atol=1e-6)


def test_a_common_offset_hides_the_answer_until_it_is_removed():
    result = found(offset=3.0)
    assert (result.outside > 0.9).all() and (result.difference[:, 0] < 0.1).all()
    assert (result.difference_centred[:, 0] > 0.9).all()


def test_a_network_of_random_weights_is_at_chance():
    experiment = cases.tiny()
    member = Member(
        experiment, cases.random_params(experiment), {'gamma': 0.5, 'seed': 0}, 0
    )
    assert np.abs(cosine.compute(member, KEYS, 4).difference[:, 0]).max() < 0.25


@pytest.mark.parametrize('keys', [(4, 9), (5, 13), (9, 5), (5, 6, 7)])
def test_keys_outside_the_task_are_one_clear_line(keys):
    with pytest.raises(UserError, match=r'keys = .*: must be lo,hi in \[5, 13\)'):
        found(keys=keys)


def test_what_cannot_be_compared_is_one_clear_line():
    with pytest.raises(
        UserError, match=r'keys = \(5, 7\): must be .* targets that agree'
    ):
        found(keys=(5, 7))
    with pytest.raises(UserError, match='layer = 2: must be from 1 to 1, the depth'):
        found(depth=1)
    with pytest.raises(UserError, match='contexts = 1'):
        found(contexts=1)


def test_made_and_drawn_twice_is_the_same_picture():
    one, two = (pixels(found(), cosine) for _ in range(2))
    assert np.ptp(one) > 0 and one.tobytes() == two.tobytes()
