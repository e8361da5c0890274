"""The benchmark of what a run costs besides its steps."""

import re

import pytest

from anchorjax.bench.overhead import measure_sweep
from anchorjax.bench.speed import Size


@pytest.mark.slow
def test_a_step_within_a_sweep_is_measured_beside_a_step_alone():
    size = Size(width=8, head_dim=8, mlp_dim=8, num_steps=1)
    [(name, value)] = measure_sweep(size, num_steps=3)
    assert name == 'width 8, batch 2048: a step within a sweep'
    found = re.match(r'(\S+) s, (\S+)x a step alone; one evaluation in 3 steps', value)
    assert float(found[2]) > 0
