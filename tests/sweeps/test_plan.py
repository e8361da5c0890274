"""What the plan is estimated from."""

import jax
import jax.numpy as jnp
import pytest

from anchorjax.sweeps import plan


@pytest.mark.parametrize('precision', ['float32', 'bfloat16'])
def test_bare_products_have_the_precision_of_training(monkeypatch, precision):
    """By default an accelerator multiplies less exactly than training does."""
    multiply = jnp.matmul
    seen = set()

    def note(a: jax.Array, b: jax.Array) -> jax.Array:
        seen.add(jax.config.jax_default_matmul_precision)
        return multiply(a, b)

    monkeypatch.setattr(jnp, 'matmul', note)
    monkeypatch.setattr(plan, '_MATMUL_SIZE', 8)
    assert plan.measure_matmul_rate(precision, repeats=1) > 0
    assert seen == {precision}
