"""Losses, rates, steps and records have the shapes and types that they state."""

from functools import partial

import jax
import numpy as np
import pytest

from anchorjax.config import OptimizerConfig
from anchorjax.training import losses, optimizers, step
from anchorjax.training.curves import Record, empty_record, record_shapes
from anchorjax.training.evaluation import evaluate
from tests.support import cases
from tests.support.first_steps import HPARAMS
from tests.support.shapes import assert_shapes, bools, floats, ints

B, Q, V, R, G = 5, 3, 7, 2, 4
EXPERIMENT = cases.tiny()
TASK = EXPERIMENT.task.make()
DATA = jax.eval_shape(TASK.make_data, jax.random.key(0))
STATE = jax.eval_shape(partial(step.init_member, EXPERIMENT), HPARAMS)
RECORD = Record(*[floats(*shape) for shape in record_shapes(TASK)])
SCORES = {field: getattr(RECORD, field) for field in Record._fields[2:]}
RIGHT, COUNTS, WEIGHTS = bools(R, B), bools(B), floats(B, Q)
ROWS = [
    (WEIGHTS, losses.cross_entropy, floats(B, Q, V), ints(B, Q)),
    (floats(), losses.weighted_mean, WEIGHTS, WEIGHTS),
    (RIGHT, losses.exact_match, ints(B, Q), ints(R, B, Q), WEIGHTS),
    (COUNTS, losses.is_scored, ints(B, Q), WEIGHTS),
    (floats(R), losses.share, RIGHT, COUNTS),
    (floats(R), losses.token_share, ints(B, Q), ints(R, B, Q), WEIGHTS),
    (floats(R, G), losses.share_by_group, RIGHT, COUNTS, ints(B), G),
    (floats(2 * 10 + 2), losses.histogram, ints(B), 10, COUNTS),
    (floats(), optimizers.learning_rate, OptimizerConfig(), floats(), ints()),
    (floats(), optimizers.decay_shape, OptimizerConfig(), ints(4), ints(), 20),
    (STATE, step.new_state, EXPERIMENT, STATE.params),
    (
        (STATE, floats(), floats()),
        *(step.train_step, EXPERIMENT, TASK, DATA, STATE, HPARAMS),
    ),
    ((STATE, RECORD), step.train_segment, EXPERIMENT, STATE, HPARAMS, ints()),
    (SCORES, evaluate, EXPERIMENT, TASK, DATA, STATE.params),
]


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[1].__name__)
def test_a_function_gives_the_shapes_of_its_docstring(row):
    assert_shapes(*row)


def test_a_record_has_the_axes_of_its_task():
    P, R, G = len(TASK.eval_set_names), len(TASK.mapping_names), len(TASK.group_names)
    shapes = [(), (), (P,), (P, R), (P, R), (P, R, G), (2 * 32 + 2,)]
    assert list(record_shapes(TASK)) == shapes  # apart by up to 32, then beyond
    for field, shape in zip(empty_record(TASK, 3, 2), shapes, strict=True):
        assert field.shape == (3, 2, *shape) and np.isnan(field).all()
