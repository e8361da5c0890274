"""Vectors that encode the answer align in the boxes; vectors of the question do not."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from analysis.p1 import cosine
from anchorjax.errors import UserError
from anchorjax.models import Activations
from anchorjax.network import Network
from tests.support.networks import planted

KEYS = (5, 11)
SHIFTS = jnp.array([0, 3, 1, -1, -2])  # of anchors 1 to 4 in cases.tiny


def encode_answer(x, *anchors) -> jax.Array:
    target = x
    for anchor in anchors:
        target = target + SHIFTS[anchor]
    return jax.nn.one_hot(target, 30)


def encode_question(x, *anchors) -> jax.Array:
    number = x
    for anchor in anchors:
        number = 5 * number + anchor
    return jax.nn.one_hot(number, 600)


def make_member(code: Callable, offset: float = 0.0) -> Network:
    """v is code(x, a1, a2) plus an offset, u is code(x, a1), in two heads.

    So it is in the last of three layers; the two before have the question.
    """

    def activate(tokens_BT: jax.Array) -> Activations:
        x, a1, a2 = tokens_BT[:, 0], tokens_BT[:, 1], tokens_BT[:, 2]
        length = tokens_BT.shape[1]
        blocks = []
        for of_layer in (encode_question, encode_question, code):
            v_BD = of_layer(x, a1, a2) + offset
            u_BD = of_layer(x, a1) + offset
            v_BTD = jnp.repeat(v_BD[:, None], length, 1)
            u_BTD = jnp.repeat(u_BD[:, None], length, 1)
            V_BTHK = u_BTD.reshape(*tokens_BT.shape, 2, -1)
            blocks.append(planted.make_block(tokens_BT, V=V_BTHK, X_ao=v_BTD))
        X_em_BTD = jnp.zeros((*tokens_BT.shape, 1))
        logits_BTV = jnp.zeros((*tokens_BT.shape, 20))
        return Activations(X_em_BTD, tuple(blocks), logits_BTV)

    return planted.make_function_member(activate)


def compute_cosine(code: Callable = encode_answer, offset: float = 0.0) -> xr.Dataset:
    return cosine.compute(make_member(code, offset), KEYS, contexts=4)


def test_vectors_of_the_answer_are_parallel_in_the_boxes_only():
    result = compute_cosine()
    assert not result.centred[0]
    raw = result.isel(centred=0)
    np.testing.assert_allclose(raw.inside, 1, rtol=1e-6)
    np.testing.assert_allclose(raw.outside, 0, atol=1e-6)
    np.testing.assert_allclose(raw.difference, 1, rtol=1e-6)
    assert np.isnan(np.diagonal(raw.cosine, axis1=1, axis2=2)).all()


def test_the_layer_is_the_last_or_the_one_that_is_asked_for():
    member = make_member(encode_answer)
    assert compute_cosine().layer == compute_cosine().depth == 3
    second = cosine.compute(member, KEYS, contexts=4, layer=2).isel(centred=0)
    np.testing.assert_allclose(second.difference, 0, atol=1e-6)
    with pytest.raises(UserError, match='layer = 4: must be from 1 to 3'):
        cosine.compute(member, KEYS, contexts=4, layer=4)


def test_the_boxes_are_where_the_answers_agree():
    """Shifts 3, 1, -1, -2.

    v: f(9; 3, 3) = 7 = f(5; 2, 2) below, f(5; 1, 2) = 9 = f(7; 1, 3) above.
    u: g(7; 3) = 6 = g(5; 2) below, g(5; 1) = 8 = g(7; 2) above.
    """
    apart = compute_cosine().apart.values
    assert apart[0, 4, 0] == 0 and apart[0, 0, 2] == 0
    assert apart[1, 2, 0] == 0 and apart[1, 0, 2] == 0
    off_diagonal = ~np.eye(7, dtype=bool)
    counts = [(apart_XX[off_diagonal] == 0).sum() for apart_XX in apart]
    assert counts == [3 + 5, 5 + 5]


def test_vectors_of_the_question_show_nothing():
    raw = compute_cosine(encode_question).isel(centred=0)
    np.testing.assert_allclose(raw.difference, 0, atol=1e-6)


def test_a_common_offset_hides_the_answer_until_it_is_removed():
    result = compute_cosine(offset=3.0)
    assert (result.outside.sel(centred=False) > 0.9).all()
    difference = result.difference.sel(estimate='mean')
    assert (difference.sel(centred=False) < 0.1).all()
    assert (difference.sel(centred=True) > 0.9).all()
