"""Numbers that may not drift: the first step of a tiny experiment."""

import numpy as np

from tests.support import cases
from tests.support.first_steps import measure_first_step

# Loss in nats and gradient norm of step 0, and W_U[2, 3] before and after it.
GOLDEN = (2.87316, 1.29702, -0.0843705, -0.0742862)


def test_first_step():
    experiment = cases.tiny(model__depth=1, optimizer__shape='constant')
    numbers = measure_first_step(experiment, 'W_U')
    np.testing.assert_allclose(numbers, GOLDEN, rtol=1e-4)
