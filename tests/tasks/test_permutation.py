"""An epoch holds every example once, in an order that is new and shows no pattern."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from anchorjax.permutation import draw_epoch_batch, permute

PAPER_SIZE = 759_375
compiled_permute = jax.jit(permute, static_argnums=2)


@functools.partial(jax.jit, static_argnums=2)
def draw_epoch(key: jax.Array, number: int, n: int) -> jax.Array:
    """All example numbers of one epoch in order, in batches of 16."""
    steps_per_epoch = n // 16
    steps = number * steps_per_epoch + jnp.arange(steps_per_epoch)

    def draw(step: jax.Array) -> jax.Array:
        return draw_epoch_batch(key, step, 16, n)

    return jax.vmap(draw)(steps).ravel()


def p_value(counts: np.ndarray) -> float:
    """Of the counts, if all were equally likely."""
    return stats.chisquare(counts).pvalue


@settings(max_examples=2, deadline=None)
@example(n=1, seed=0)
@example(n=17, seed=0)
@given(n=st.integers(1, 5_000), seed=st.integers(0, 2**31 - 1))
def test_permute_is_a_bijection(n, seed):
    image = compiled_permute(jax.random.key(seed), jnp.arange(n), n)
    np.testing.assert_array_equal(np.sort(image), np.arange(n))


@pytest.mark.slow
def test_permute_is_a_bijection_at_the_size_of_the_paper():
    image = compiled_permute(jax.random.key(0), jnp.arange(PAPER_SIZE), PAPER_SIZE)
    counts = np.bincount(np.asarray(image), minlength=PAPER_SIZE)
    assert counts.tolist() == [1] * PAPER_SIZE


@pytest.mark.parametrize('n', [100, pytest.param(96, marks=pytest.mark.slow)])
def test_every_example_once_per_epoch_and_a_partial_batch_dropped_anew(n):
    dropped = []
    for number in range(3):
        numbers = set(draw_epoch(jax.random.key(1), number, n).tolist())
        assert len(numbers) == 96 and numbers <= set(range(n))
        dropped.append(set(range(n)) - numbers)
    assert n == 96 or dropped[0] != dropped[1] != dropped[2]


def test_an_example_lands_anywhere_with_equal_probability():
    keys = jax.random.split(jax.random.key(0), 4_000)

    @jax.jit
    @jax.vmap
    def permute_twenty(key: jax.Array) -> jax.Array:
        return permute(key, jnp.arange(20), 20)

    image = permute_twenty(keys)
    for i in (0, 7, 19):
        assert p_value(np.bincount(image[:, i], minlength=20)) > 1e-4
    # Neighbours are not kept together.
    distance = np.asarray((image[:, 1] - image[:, 0]) % 20)
    assert p_value(np.bincount(distance, minlength=20)[1:]) > 1e-4


def test_a_batch_mixes_pairs_and_regions_of_the_data_set():
    key = jax.random.key(2)
    draw = jax.jit(draw_epoch_batch, static_argnums=(2, 3))
    batch = np.asarray(draw(key, jnp.int32(5), 8_192, PAPER_SIZE))
    assert p_value(np.bincount(batch % 15, minlength=15)) > 1e-4
    counts, _ = np.histogram(batch, 32, (0, PAPER_SIZE))
    assert p_value(counts) > 1e-4
