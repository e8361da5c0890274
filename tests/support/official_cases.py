"""What the tests of official checkpoints share."""

import jax
import numpy as np

from tests.support import cases

# Changes to the tiny experiment that make it P3's model.
P3 = {'model__norm': 'pre_query', 'model__activation': 'gelu', 'model__biases': True}


def ours(**fields):
    """(experiment, random parameters)."""
    experiment = cases.tiny(**fields)
    return experiment, cases.random_params(experiment)


def assert_same_bits(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
