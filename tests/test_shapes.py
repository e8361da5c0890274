"""Public functions give the shapes and types of their docstrings; they are only traced.

Batches and eval sets of every task: tests/tasks/test_tasks.py. What a model is made of
has the shapes of the reference, or its logits would not be those (test_reference.py).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax.config import OptimizerConfig
from anchorjax.models import MODELS
from anchorjax.training import losses, optimizers, step
from anchorjax.training.curves import Record, empty_record, record_shapes
from anchorjax.training.evaluation import evaluate
from anchorjax.training.forward import compute_logits
from tests.support import cases
from tests.support.cases import forward
from tests.support.first_steps import HPARAMS
from tests.support.p2_tasks import make_experiment

ARRAYS = (np.ndarray, jax.Array, jax.ShapeDtypeStruct)


def floats(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def ints(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def bools(*shape: int) -> np.ndarray:
    return np.zeros(shape, bool)


B, T, Q, V, R, G = 5, 4, 3, 20, 2, 4
EXPERIMENT = cases.tiny()
TASK = EXPERIMENT.task.make()
DATA = jax.eval_shape(TASK.make_data, jax.random.key(0))
STATE = jax.eval_shape(partial(step.init_member, EXPERIMENT), HPARAMS)
RECORD = Record(*[floats(*shape) for shape in record_shapes(TASK)])
SCORES = {field: getattr(RECORD, field) for field in Record._fields[2:]}
RIGHT, COUNTS, WEIGHTS = bools(R, B), bools(B), floats(B, Q)
OF_TRAINING = [
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


@pytest.mark.parametrize('row', OF_TRAINING, ids=lambda row: row[1].__name__)
def test_a_function_gives_the_shapes_of_its_docstring(row):
    expected, function, *args = row
    given, structure = jax.tree.flatten(args)
    is_array = [isinstance(leaf, ARRAYS) for leaf in given]
    arrays = [leaf for leaf, is_here in zip(given, is_array, strict=True) if is_here]

    def call(*arrays: jax.Array) -> Any:
        rest = iter(arrays)
        pairs = zip(given, is_array, strict=True)
        leaves = [next(rest) if is_here else leaf for leaf, is_here in pairs]
        return function(*jax.tree.unflatten(structure, leaves))

    found = jax.tree.leaves(jax.eval_shape(call, *arrays))
    leaves = jax.tree.leaves(expected)
    chex.assert_trees_all_equal_shapes_and_dtypes(found, leaves)


# By name: an experiment of few numbers, and D, H, K and F of its blocks.
SIZES = {
    'transformer': (cases.tiny(model__heads=2), 6, 2, 4, 9),
    'gpt2': (cases.tiny_gpt2(), 8, 2, 4, 32),
    'emb_mlp': (make_experiment('emb_mlp', task__seq_len=T), 6, 0, 0, 0),
    'one_layer': (make_experiment('one_layer', task__seq_len=T), V, 1, 5, 9),
}


@pytest.mark.parametrize('name', [name for name in MODELS if name != 'planted'])
@pytest.mark.parametrize('last_only', [False, True])
def test_a_model_gives_the_activations_of_its_sizes(name, last_only):
    experiment, D, H, K, F = SIZES[name]
    params = cases.random_params(experiment)

    def run(of: Callable) -> Any:
        compute = partial(of, experiment, last_only=last_only)
        return jax.eval_shape(compute, params, tokens_BT=ints(B, T))

    activations, logits = run(forward), run(compute_logits)
    blocks = activations.blocks
    chex.assert_shape(activations.X_em, (B, T, D))
    chex.assert_shape([activations.logits, logits], (B, 1 if last_only else T, V))
    chex.assert_type(jax.tree.leaves((activations, logits)), float)
    assert len(blocks) == getattr(experiment.model, 'depth', int(name == 'one_layer'))
    for block in blocks:
        Q = 1 if last_only and block is blocks[-1] else T
        chex.assert_shape(block.Q, (B, Q, H, K))
        chex.assert_shape([block.K, block.V], (B, T, H, K))
        chex.assert_shape([block.scores, block.Attn], (B, H, Q, T))
        chex.assert_shape(block.X_qkv, (B, Q, H, K))
        chex.assert_shape([block.hidden_in, block.hidden], (B, Q, F))
        stream = [block.attn_out, block.X_ao, block.mlp_out, block.X_do]
        chex.assert_shape(stream, (B, Q, D))


def test_a_record_has_the_axes_of_its_task():
    P, R, G = len(TASK.eval_set_names), len(TASK.mapping_names), len(TASK.group_names)
    shapes = [(), (), (P,), (P, R), (P, R), (P, R, G), (2 * 32 + 2,)]
    assert list(record_shapes(TASK)) == shapes  # apart by up to 32, then beyond
    empty = empty_record(TASK, 3, 2)
    chex.assert_shape(empty, [(3, 2, *shape) for shape in shapes])
    assert all(np.isnan(field).all() for field in empty)


def test_a_new_member_counts_by_scalars():
    counts, sums = [STATE.step, STATE.diverged], [STATE.loss_sum, STATE.norm_sum]
    chex.assert_shape(counts + sums, ())
    chex.assert_type(counts, np.int32)
