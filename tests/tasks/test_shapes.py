"""What tasks are made of has the shapes and types of its docstrings.

Batches and eval sets of every task: test_tasks.py.
"""

import chex
import jax
import numpy as np
import pytest

from anchorjax.tasks import (
    Batch,
    EvalSets,
    addition,
    anchors,
    index_train_and_rest,
    mixture,
    place_items,
    single_role,
    solution,
    texts,
)
from anchorjax.tasks import anchor_permutations as permuted
from anchorjax.tasks import memory_reasoning as memory
from anchorjax.tasks import modular_addition as modular
from anchorjax.tasks.cogs import task as cogs
from anchorjax.tasks.corpus import task as corpus
from anchorjax.tasks.corpus import token_files
from anchorjax.tasks.scan import grammar
from anchorjax.tasks.scan import task as scan
from tests.support.shapes import assert_shapes, bools, floats, ints

B, T, L, P, Q, V = 5, 9, 12, 2, 3, 6
KEY = jax.random.key(0)
TOKENS, NUMBERS = ints(B, T), ints(B)
ADDITION, FEW = addition.AdditionConfig(), addition.AdditionConfig(eval_examples=6)
ANCHORS = anchors.AnchorsConfig()
# 16 pairs, their first token at one of 7 positions, 80 key items.
OF_ANCHORS = anchors.Data(KEY, ints(16, 7, 80), ints(16, 7))
PERMUTED = permuted.AnchorPermutationsConfig(num_keys=4, num_anchors=3)
OF_PERMUTED = permuted.Data(ints(3, 4), ints(9))
MODULAR = modular.ModularAdditionConfig(modulus=5)
MEMORY = memory.MemoryReasoningConfig()
TEXTS = texts.Texts(ints(B, L), NUMBERS, NUMBERS)
TABLE = texts.Table(np.zeros(40, np.uint8), ints(6), ints(6), ints(6))
ASKED = Batch(TOKENS, ints(B, Q), floats(B, Q))
SCORED = Batch(ints(B, L - 1), ints(B, L - 1), floats(B, L - 1))
OF_TWO = EvalSets(ints(P, B, T), ints(P, 1, B, Q), floats(P, B, Q), ints(P, B))
WINDOWS, CORPUS = ints(B, T + 1), np.arange(100)
rows = len(memory.combinations(MEMORY))
LABELS = ints(rows, MEMORY.num_keys)
THREE = (TOKENS, NUMBERS, NUMBERS)
TRACED = [
    ((ints(2, 8), floats(2, 8)), index_train_and_rest, 3, 11),
    (TOKENS, single_role, TOKENS),
    ((NUMBERS, NUMBERS), addition.pair_outside, ADDITION, NUMBERS),
    ((NUMBERS, NUMBERS), addition.pair_inside, ADDITION, NUMBERS),
    ((NUMBERS, NUMBERS), addition.training_pair, ADDITION, KEY, NUMBERS),
    ((NUMBERS, NUMBERS), addition.test_pair, ADDITION, KEY, NUMBERS),
    (
        TEXTS._replace(tokens_BL=ints(B, ADDITION.seq_len + 1)),
        *(addition.write_digits, ADDITION, NUMBERS, NUMBERS),
    ),
    (
        {name: (ints(6), ints(6), bools(6)) for name in ('seen_train', 'test')},
        *(addition.list_asked_pairs, FEW, KEY),
    ),
    (NUMBERS, addition.find_region, ADDITION, NUMBERS, NUMBERS),
    (OF_PERMUTED, permuted.make_data, PERMUTED, KEY),
    (NUMBERS, permuted.compose, ints(3, 4), NUMBERS, NUMBERS),
    ((ints(B, 3), NUMBERS, NUMBERS), permuted.ask, PERMUTED, OF_PERMUTED, NUMBERS),
    (ints(B, 3), permuted.find_roles, ints(B, 3)),
    (ints(16, 2), anchors.list_pairs, ANCHORS),
    (ints(16, 3), anchors.list_shifts, ANCHORS),
    (bools(16, 7, 80), anchors.draw_training_keys, ANCHORS, KEY),
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
    (NUMBERS, cogs.training_row, KEY, NUMBERS),
    (NUMBERS, scan.training_row, grammar.Lines(ints(30), ints(5), 7), KEY, NUMBERS),
    (TEXTS, texts.read_table, TABLE, NUMBERS, L, 0),
    (SCORED, texts.to_training_batch, TEXTS, 'answer'),
    (SCORED, texts.to_scored_batch, TEXTS, True),
    (OF_TWO, texts.join_eval_sets, [ASKED, ASKED], [bools(B)] * 2, [NUMBERS, NUMBERS]),
    (WINDOWS, corpus.read_on_device, CORPUS, NUMBERS, T),
    (WINDOWS, corpus.read_from_host, CORPUS, NUMBERS, T),
]


SOURCE = mixture.Sequences(ints(2, L), np.array([L, 3]))
BYTES = token_files.Corpus(np.zeros(20, np.uint16), np.array([0, 10]), 257, 256, '', {})
FEW_WINDOWS = corpus.CorpusConfig(seq_len=8, vocab=257, eval_examples=4)
ON_THE_HOST = [
    (WINDOWS, token_files.read_windows, ints(100), NUMBERS, T),
    (np.zeros(V, int), mixture.Sequences.count_labels, SOURCE, V),
    (ints(V), mixture.merge_tokens, np.ones(V), np.ones(2) / 2),
    (bools(B), solution.is_half_and_half, floats(B, 2, 7)),
    (SOURCE, mixture.share_words, SOURCE, ('cat',)),
    (SOURCE, mixture.match_words, SOURCE, SOURCE),
    (np.zeros(9, np.uint16), token_files.read_document, BYTES, 1),
    (np.zeros(3, int), corpus.find_heldout, FEW_WINDOWS),  # one repeats a trained one
]


@pytest.mark.parametrize('row', TRACED, ids=lambda row: row[1].__name__)
def test_a_function_gives_the_shapes_of_its_docstring(row):
    assert_shapes(*row)


@pytest.mark.parametrize('row', ON_THE_HOST, ids=lambda row: row[1].__name__)
def test_a_function_of_numpy_gives_the_shapes_of_its_docstring(row):
    expected, function, *args = row
    found = [x for x in jax.tree.leaves(function(*args)) if isinstance(x, np.ndarray)]
    leaves = jax.tree.leaves(expected)
    chex.assert_trees_all_equal_shapes_and_dtypes(found, leaves)
