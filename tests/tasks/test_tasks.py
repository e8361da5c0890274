"""What holds of every task: a seed is its data, and a wrong config is one line."""

import dataclasses
from collections import Counter

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.config.registry import find_class
from anchorjax.errors import ConfigError
from anchorjax.tasks.addition import AdditionConfig
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.cogs import CogsConfig
from anchorjax.tasks.corpus import CorpusConfig
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from anchorjax.tasks.mixture import MixtureConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.scan import ScanConfig
from tests.tasks.draws import draw_batch, draw_both

# Few training examples, short sequences, and eval sets larger than what there is.
FEW = [
    AnchorsConfig(seq_len=4, split='random', num_examples=320, eval_examples=400),
    AnchorsConfig(order='anchors_first', num_examples=89_999, eval_examples=64),
    AdditionConfig(largest=9, square=(3, 5), num_examples=40, eval_examples=60),
    AdditionConfig(largest=9, square=(3, 5), split='random', eval_examples=60),
    AnchorPermutationsConfig(num_keys=3, num_anchors=2, trained_share=0.5),
    ModularAdditionConfig(modulus=5),
    MemoryReasoningConfig(num_examples=400, eval_examples=300),
    ScanConfig(num_examples=30, eval_examples=40),
    CogsConfig(num_examples=30),
    ProntoqaConfig(hops=1, num_examples=30, eval_examples=40),
    MixtureConfig(hops=1, num_sequences=90, num_heldout=30, seq_len=64, vocab=512),
    CorpusConfig(seq_len=8, vocab=257),
    CorpusConfig(seq_len=512, vocab=257, holdout=0.3),
]
# One of each kind; the texts of addition, COGS and PrOntoQA are drawn as those of SCAN.
SAME = ('addition', 'cogs', 'prontoqa')
KINDS = {c.name: c for c in reversed(FEW) if c.name not in SAME}
TRAINED = ('seen_train', 'memory', 'reasoning_train', 'prontoqa', 'stories')
_ALL_TRAINED = {'noninferential': (), 'unseen': ()}
# What fields demand of each other, once of each kind; the first is the wrong one.
WRONG = [
    (AnchorsConfig, {'seq_len': 3, 'last_token': 'noise'}),
    (AnchorsConfig, {'anchors': (1, 2, 3, 30)}),
    (AnchorsConfig, {'num_anchors': 5}),
    (AnchorsConfig, {'vocab': 109}),
    (AnchorsConfig, {'split': 'code', 'keys': (20, 24)}),
    (AnchorsConfig, {'noninferential': ((3, 4, -6),), 'complexity': 1}),
    (AnchorsConfig, {'complexity': 1, 'shifts': (5, 1, -2, -7), **_ALL_TRAINED}),
    (AnchorsConfig, {'exception': 'unseen', 'noninferential': ()}),
    (AnchorsConfig, {'holdout': 0.2}),
    (CogsConfig, {'sample_seed': 1, 'path': 'x'}),
    (ProntoqaConfig, {'pool_seed': 1, 'path': 'x'}),
    (AdditionConfig, {'loss_on': 'all', 'encoding': 'numbers'}),
    (AdditionConfig, {'score_end': False, 'encoding': 'numbers'}),
    (AdditionConfig, {'square': (600, 400)}),
    (AdditionConfig, {'num_examples': 959_600}),
    (AnchorPermutationsConfig, {'trained_share': 0.001}),
    (MemoryReasoningConfig, {'memory_anchors': (1, 22)}),
    (MemoryReasoningConfig, {'masked': ((11, 10),)}),
    (MemoryReasoningConfig, {'vocab': 160}),
    (ScanConfig, {'num_examples': 21_891}),
    (CogsConfig, {'num_examples': 24_156}),
    (ProntoqaConfig, {'distractor': 'twin', 'ontology': 'true'}),
    (CorpusConfig, {'seq_len': 60_000, 'vocab': 257}),
    (CorpusConfig, {'holdout': 0.9999, 'vocab': 257, 'seq_len': 9}),
]


def mark_same(configs: list) -> list:
    """Of tasks that are drawn alike one is fast."""
    slow = pytest.mark.slow
    return [pytest.param(c, marks=slow if c.name in SAME else ()) for c in configs]


def test_every_task_is_its_config():
    assert {c.name for c in FEW} == set(tasks.TASKS)
    for c in FEW:
        assert find_class('task', c.name) is type(c)
        assert type(c)().name == c.name


@pytest.mark.parametrize('config', KINDS.values(), ids=KINDS)
def test_a_data_set_is_its_seed_under_jit_and_vmap(config):
    task = config.make()

    def draw(seed: int | jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(jax.random.key(seed)), jnp.arange(8))

    mapped = jax.device_get(jax.jit(jax.vmap(draw))(np.array([0, 1])))
    draw_alone = jax.jit(draw)
    alone = [draw_alone(seed) for seed in (0, 1)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *alone)
    chex.assert_trees_all_equal(stacked, mapped)
    T, Q = task.seq_len, 1 if task.last_only else task.seq_len
    chex.assert_shape([mapped.tokens_BT, task.roles(mapped.tokens_BT[0])], (..., 8, T))
    chex.assert_shape(mapped.targets_BQ, (2, 8, Q))
    chex.assert_type([mapped.tokens_BT, mapped.targets_BQ], np.int32)
    is_same = np.array_equal(*mapped.tokens_BT)
    assert is_same == (config.name == 'mixture')  # whose seeds order alike


NESTED = [
    AdditionConfig(encoding='numbers'),
    AnchorsConfig(),
    CogsConfig(),
    MemoryReasoningConfig(),
    ScanConfig(),
]


@pytest.mark.parametrize('config', mark_same(NESTED), ids=lambda c: c.name)
def test_a_smaller_training_set_begins_a_larger_one(config):
    small, large = (
        draw_batch(dataclasses.replace(config, num_examples=number), 40)
        for number in (400, 2_000)
    )
    chex.assert_trees_all_equal(small, large)


@pytest.mark.parametrize('config', mark_same(FEW), ids=lambda c: c.name)
def test_what_is_asked_is_trained_or_held_out_as_its_name_says(config):
    task = config.make()
    batch, eval_sets = draw_both(config)
    P, B, T = eval_sets.tokens_PBT.shape
    R, Q = len(task.mapping_names), 1 if task.last_only else T
    assert (len(task.eval_set_names), task.seq_len) == (P, T)
    chex.assert_shape(eval_sets.targets_PRBQ, (P, R, B, Q))
    if eval_sets.weights_PBQ is not None:
        chex.assert_shape(eval_sets.weights_PBQ, (P, B, Q))
        chex.assert_type(eval_sets.weights_PBQ, np.float32)
    assert (eval_sets.groups_PB is None) == (task.group_names == ())
    if eval_sets.groups_PB is not None:
        chex.assert_shape(eval_sets.groups_PB, (P, B))
    trained = list_sequences(batch.tokens_BT)
    for p, name in enumerate(task.eval_set_names):
        is_asked_B = np.ones(B, bool)
        if eval_sets.weights_PBQ is not None:
            is_asked_B = (eval_sets.weights_PBQ[p] > 0).any(-1)
        asked = list_sequences(eval_sets.tokens_PBT[p][is_asked_B])
        if name in TRAINED:
            assert set(asked) <= set(trained), name
            # None counts more often than it is trained.
            assert not Counter(asked) - Counter(trained)
        else:
            assert not set(asked) & set(trained), name
        assert asked


def list_sequences(tokens_BT: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.asarray(tokens_BT, np.int32)]


@pytest.mark.parametrize(
    ('config_class', 'fields'),
    WRONG,
    ids=[f'{c.name}-{",".join(fields)}' for c, fields in WRONG],
)
def test_a_wrong_config_is_one_line(config_class, fields):
    with pytest.raises(ConfigError) as caught:
        config_class(**fields).make()
    field, value = next(iter(fields.items()))
    assert str(caught.value).startswith(f'task.{field} = {value!r}: must be ')
    assert '\n' not in str(caught.value)
