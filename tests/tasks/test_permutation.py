"""An epoch holds every example once; every epoch has another order; no pattern shows."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from anchorjax.tasks.permutation import epoch_batch, permute


def epoch(key, number, batch_size, n):
    """All example numbers of one epoch, in order."""
    steps = number * (n // batch_size) + jnp.arange(n // batch_size)
    batches = jax.vmap(lambda step: epoch_batch(key, step, batch_size, n))(steps)
    return np.asarray(batches).ravel()


def p_value(counts):
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
    image = np.asarray(permute(jax.random.key(0), jnp.arange(759_375), 759_375))
    assert np.bincount(image, minlength=759_375).tolist() == [1] * 759_375


def test_every_example_once_per_epoch_and_the_partial_batch_dropped():
    for n in (96, 100):
        for number in range(3):
            seen = epoch(jax.random.key(1), number, 16, n)
            assert len(seen) == len(set(seen.tolist())) == 96
            assert seen.min() >= 0 and seen.max() < n


def test_the_dropped_examples_change_with_the_epoch():
    key = jax.random.key(1)
    dropped = [set(range(100)) - set(epoch(key, i, 16, 100).tolist()) for i in range(3)]
    assert dropped[0] != dropped[1] != dropped[2]


def test_another_epoch_or_key_is_another_order():
    key, other = jax.random.key(0), jax.random.key(1)
    first, second = epoch(key, 0, 16, 960), epoch(key, 1, 16, 960)
    assert (first == second).mean() < 0.02
    assert (first == epoch(other, 0, 16, 960)).mean() < 0.02


def test_an_example_lands_anywhere_with_equal_probability():
    keys = jax.random.split(jax.random.key(0), 4_000)
    image = jax.vmap(lambda key: permute(key, jnp.arange(20), 20))(keys)
    for i in (0, 7, 19):
        assert p_value(np.bincount(image[:, i], minlength=20)) > 1e-4
    steps = np.asarray(
        (image[:, 1] - image[:, 0]) % 20
    )  # neighbours are not kept together
    assert p_value(np.bincount(steps, minlength=20)[1:]) > 1e-4


def test_a_batch_mixes_pairs_and_regions_of_the_data_set():
    batch = np.asarray(epoch_batch(jax.random.key(2), jnp.int32(5), 8_192, 759_375))
    assert p_value(np.bincount(batch % 15, minlength=15)) > 1e-4
    assert p_value(np.histogram(batch, 32, (0, 759_375))[0]) > 1e-4
