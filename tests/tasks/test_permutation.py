"""An epoch holds every example once, in an order that is new and shows no pattern."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from anchorjax.permutation import draw_epoch_batch, permute

PAPER_SIZE = 759_375


def draw_epoch(key: jax.Array, number: int, batch_size: int, n: int) -> np.ndarray:
    """All example numbers of one epoch, in order."""
    steps_per_epoch = n // batch_size
    steps = number * steps_per_epoch + jnp.arange(steps_per_epoch)

    def draw(step: jax.Array) -> jax.Array:
        return draw_epoch_batch(key, step, batch_size, n)

    return np.asarray(jax.vmap(draw)(steps)).ravel()


def p_value(counts: np.ndarray) -> float:
    """Of the counts, if all were equally likely."""
    return stats.chisquare(counts).pvalue


@settings(max_examples=8, deadline=None)
@example(n=1, seed=0)
@example(n=2, seed=0)
@example(n=17, seed=0)
@given(n=st.integers(1, 5_000), seed=st.integers(0, 2**31 - 1))
def test_permute_is_a_bijection(n, seed):
    image = permute(jax.random.key(seed), jnp.arange(n), n)
    np.testing.assert_array_equal(np.sort(image), np.arange(n))


def test_permute_is_a_bijection_at_the_size_of_the_paper():
    image = permute(jax.random.key(0), jnp.arange(PAPER_SIZE), PAPER_SIZE)
    counts = np.bincount(np.asarray(image), minlength=PAPER_SIZE)
    assert counts.tolist() == [1] * PAPER_SIZE


def test_every_example_once_per_epoch_and_the_partial_batch_dropped():
    for n in (96, 100):
        for number in range(3):
            numbers = draw_epoch(jax.random.key(1), number, 16, n)
            assert len(numbers) == len(set(numbers.tolist())) == 96
            assert numbers.min() >= 0 and numbers.max() < n


def test_the_dropped_examples_change_with_the_epoch():
    key = jax.random.key(1)
    dropped = []
    for number in range(3):
        epoch = draw_epoch(key, number, 16, 100)
        dropped.append(set(range(100)) - set(epoch.tolist()))
    assert dropped[0] != dropped[1] != dropped[2]


def test_another_epoch_or_key_is_another_order():
    key = jax.random.key(0)
    first = draw_epoch(key, 0, 16, 960)
    second = draw_epoch(key, 1, 16, 960)
    other = draw_epoch(jax.random.key(1), 0, 16, 960)
    assert (first == second).mean() < 0.02
    assert (first == other).mean() < 0.02


def test_an_example_lands_anywhere_with_equal_probability():
    keys = jax.random.split(jax.random.key(0), 4_000)

    def permute_twenty(key: jax.Array) -> jax.Array:
        return permute(key, jnp.arange(20), 20)

    image = jax.vmap(permute_twenty)(keys)
    for i in (0, 7, 19):
        assert p_value(np.bincount(image[:, i], minlength=20)) > 1e-4
    # Neighbours are not kept together.
    distance = np.asarray((image[:, 1] - image[:, 0]) % 20)
    assert p_value(np.bincount(distance, minlength=20)[1:]) > 1e-4


def test_a_batch_mixes_pairs_and_regions_of_the_data_set():
    key = jax.random.key(2)
    batch = np.asarray(draw_epoch_batch(key, jnp.int32(5), 8_192, PAPER_SIZE))
    assert p_value(np.bincount(batch % 15, minlength=15)) > 1e-4
    counts, _ = np.histogram(batch, 32, (0, PAPER_SIZE))
    assert p_value(counts) > 1e-4
