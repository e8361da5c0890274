"""Public functions give the shapes and types of their docstrings; they are only traced.

Batches and eval sets of every task: tests/tasks/test_tasks.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax.config import OptimizerConfig
from anchorjax.models import MODELS, gpt2, gradients, shortcuts, transformer
from anchorjax.tasks import (
    Batch,
    EvalSets,
    addition,
    anchors,
    index_train_and_rest,
    mixture,
    place_items,
    single_role,
    texts,
)
from anchorjax.tasks import anchor_permutations as permuted
from anchorjax.tasks import memory_reasoning as memory
from anchorjax.tasks import modular_addition as modular
from anchorjax.tasks.corpus import task as corpus
from anchorjax.tasks.corpus import token_files
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


B, T, L, P, Q, V, R, G = 5, 4, 12, 2, 3, 20, 2, 4
D, H, K, F = 8, 2, 4, 24
KEY = jax.random.key(0)
TOKENS, NUMBERS = ints(B, T), ints(B)
THREE = (TOKENS, NUMBERS, NUMBERS)

ADDITION, FEW = addition.AdditionConfig(), addition.AdditionConfig(eval_examples=6)
ANCHORS = anchors.AnchorsConfig(seq_len=T, split='random')
# 16 pairs, their first token at one of 2 positions, 80 key items.
OF_ANCHORS = anchors.Data(KEY, ints(16, 2, 80), ints(16, 2))
PERMUTED = permuted.AnchorPermutationsConfig(num_keys=4, num_anchors=3)
OF_PERMUTED = permuted.Data(ints(3, 4), ints(9))
MODULAR = modular.ModularAdditionConfig(modulus=5)
MEMORY = memory.MemoryReasoningConfig(seq_len=T)
TEXTS = texts.Texts(ints(B, L), NUMBERS, NUMBERS)
TABLE = texts.Table(np.zeros(40, np.uint8), *[ints(6)] * 4)
ASKED = Batch(TOKENS, ints(B, Q), floats(B, Q))
SCORED = Batch(ints(B, L - 1), ints(B, L - 1), floats(B, L - 1))
OF_TWO = EvalSets(ints(P, B, T), ints(P, 1, B, Q), floats(P, B, Q), ints(P, B))
WINDOWS, CORPUS = ints(B, T + 1), np.arange(100)
rows = len(memory.combinations(MEMORY))
LABELS = ints(rows, MEMORY.num_keys)
OF_TASKS = [
    ((ints(2, 8), floats(2, 8)), index_train_and_rest, 3, 11),
    (TOKENS, single_role, TOKENS),
    (NUMBERS, addition.row_outside, ADDITION, NUMBERS),
    (NUMBERS, addition.row_inside, ADDITION, NUMBERS),
    (NUMBERS, ADDITION.train, KEY, NUMBERS),
    (
        TEXTS._replace(tokens_BL=ints(B, ADDITION.seq_len + 1)),
        *(addition.write_digits, ADDITION, NUMBERS, NUMBERS),
    ),
    (
        {name: (ints(6), bools(6)) for name in ('seen_train', 'test')},
        *(FEW.draw_asked, KEY),
    ),
    (NUMBERS, addition.find_region, ADDITION, NUMBERS, NUMBERS),
    (OF_PERMUTED, permuted.make_data, PERMUTED, KEY),
    (NUMBERS, permuted.compose, ints(3, 4), NUMBERS, NUMBERS),
    ((ints(B, 3), NUMBERS, NUMBERS), permuted.ask, PERMUTED, OF_PERMUTED, NUMBERS),
    (ints(B, 3), permuted.find_roles, ints(B, 3)),
    (ints(16, 2), anchors.list_pairs, ANCHORS),
    (ints(16, 3), anchors.list_shifts, ANCHORS),
    (bools(16, 2, 80), anchors.draw_training_keys, ANCHORS, KEY),
    (OF_ANCHORS, anchors.make_data, ANCHORS, KEY),
    (THREE, anchors.draw_sequences, ANCHORS, OF_ANCHORS, KEY, NUMBERS, NUMBERS, False),
    (TOKENS, place_items, TOKENS, NUMBERS, ints(B, 2)),
    (TOKENS, anchors.place, TOKENS, NUMBERS, NUMBERS, ints(B, 2)),
    (TOKENS, anchors.find_roles, ANCHORS, TOKENS),
    (ints(rows, 2), memory.combinations, MEMORY),
    (ints(rows), memory.memory_groups, MEMORY),
    ((LABELS, LABELS), memory.label_ranges, MEMORY),
    (LABELS, memory.draw_labels, MEMORY, KEY),
    (memory.Data(KEY, LABELS), memory.make_data, MEMORY, KEY),
    (THREE, memory.draw_sequences, MEMORY, KEY, NUMBERS, NUMBERS),
    (TOKENS, memory.roles, MEMORY, TOKENS),
    (Batch(ints(B, 3), ints(B, 1)), modular.ask, MODULAR, NUMBERS),
    (TEXTS, texts.read_table, TABLE, NUMBERS, L),
    (SCORED, texts.to_training_batch, TEXTS, 'answer'),
    (SCORED, texts.to_scored_batch, TEXTS, True),
    (OF_TWO, texts.join_eval_sets, [ASKED, ASKED], [bools(B)] * 2, [NUMBERS, NUMBERS]),
    (WINDOWS, corpus.read_on_device, CORPUS, NUMBERS, T),
    (WINDOWS, corpus.read_from_host, CORPUS, NUMBERS, T),
]

HEADS, ATTENTION, STREAM = floats(B, T, H, K), floats(B, H, T, T), floats(B, T, D)
EMBEDDED = shortcuts.Embedded(ints(B, T), floats(V, D), floats(T, D))
LINEAR = gpt2.Linear(floats(D, F), floats(F))
OF_MODELS = [
    (STREAM, gradients.look_up, floats(V, D), ints(B, T)),
    (STREAM, gradients.relu, STREAM),
    (STREAM, gradients.normalize, STREAM, floats(D), floats(D), 1e-5),
    (floats(B, 2, T), gradients.score_keys, floats(B, 2, K), floats(B, T, K)),
    (floats(B, 2, K), gradients.mix_rows, floats(B, 2, T), floats(B, T, K)),
    (STREAM, shortcuts.Embedded.rows, EMBEDDED),
    (floats(B, T, F), shortcuts.Embedded.project, EMBEDDED, floats(D, F)),
    (floats(B, T, F), shortcuts.project, STREAM, floats(D, F)),
    (
        (floats(B, H, 1, T), floats(B, H, 1, T), floats(B, 1, H * K)),
        *(shortcuts.attend_last, floats(B, 1, H, K), STREAM),
        *(floats(D, H * K), floats(D, H * K)),
    ),
    (STREAM, transformer.add_bias, STREAM, floats(D)),
    *[(STREAM, transformer.activate, a, STREAM) for a in transformer.ACTIVATIONS],
    (ATTENTION, transformer.score_past, HEADS, HEADS),
    (ATTENTION, transformer.attention_weights, ATTENTION),
    (HEADS, transformer.mix_values, ATTENTION, HEADS),
    (HEADS, transformer.split_heads, floats(B, T, H * K), H),
    (floats(B, T, H * K), transformer.merge_heads, HEADS),
    (HEADS, gpt2.attend_fused, HEADS, HEADS, HEADS),
    (floats(B, T, F), gpt2.multiply_rows, STREAM, floats(D, F), 'float32', 'float32'),
    (floats(B, T, F), gpt2.Linear.apply, LINEAR, STREAM, 'float32'),
]

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

SOURCE = mixture.Sequences(ints(2, L), np.array([L, 3]))
BYTES = token_files.Corpus(np.zeros(20, np.uint16), np.array([0, 10]), 257, 256, '', {})
FEW_WINDOWS = corpus.CorpusConfig(seq_len=8, vocab=257, eval_examples=4)
ON_THE_HOST = [
    (WINDOWS, token_files.read_windows, ints(100), NUMBERS, T),
    (np.zeros(V, int), mixture.Sequences.count_labels, SOURCE, V),
    (ints(V), mixture.merge_tokens, np.ones(V), np.ones(2) / 2),
    (SOURCE, mixture.share_words, SOURCE, ('cat',)),
    (SOURCE, mixture.match_words, SOURCE, SOURCE),
    (np.zeros(9, np.uint16), token_files.read_document, BYTES, 1),
    (np.zeros(3, int), corpus.find_heldout, FEW_WINDOWS),  # one repeats a trained one
]


@pytest.mark.parametrize(
    'row', OF_TASKS + OF_MODELS + OF_TRAINING, ids=lambda row: row[1].__name__
)
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


@pytest.mark.parametrize('row', ON_THE_HOST, ids=lambda row: row[1].__name__)
def test_a_function_of_numpy_gives_the_shapes_of_its_docstring(row):
    expected, function, *args = row
    found = [x for x in jax.tree.leaves(function(*args)) if isinstance(x, np.ndarray)]
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
