"""What the tests of official checkpoints share."""

from typing import Any

import jax
import numpy as np

from anchorjax.config import Experiment
from tests.support import cases

# Changes to the tiny experiment that make its model P3's.
P3 = {'model__norm': 'pre_query', 'model__activation': 'gelu', 'model__biases': True}


def draw_member(**fields: Any) -> tuple[Experiment, Any]:
    """(tiny experiment, random parameters)."""
    experiment = cases.tiny(**fields)
    return experiment, cases.random_params(experiment)


def assert_same_bits(a: Any, b: Any) -> None:
    """Fails unless two trees have the same structure, dtypes and numbers."""
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
