"""What holds of every task: a seed is its data, and a wrong config is one line."""

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
from tests.tasks.draws import draw_batch, draw_eval_sets

SMALL = [
    AnchorsConfig(split='random', eval_examples=20),
    AdditionConfig(largest=9, square=(3, 5), eval_examples=20),
    AnchorPermutationsConfig(num_keys=3, num_anchors=2, trained_share=0.5),
    ModularAdditionConfig(modulus=5),
    MemoryReasoningConfig(eval_examples=20),
    ScanConfig(eval_examples=20),
    CogsConfig(eval_examples=21),
    ProntoqaConfig(hops=1, num_examples=30, eval_examples=10),
    MixtureConfig(
        hops=1, num_sequences=12, num_heldout=5, seq_len=64, vocab=512, eval_examples=6
    ),
    CorpusConfig(seq_len=8, vocab=257, eval_examples=4),
]
# Few training examples, short sequences, and eval sets larger than what there is.
FEW = [
    AnchorsConfig(seq_len=4, split='random', num_examples=320, eval_examples=32),
    AnchorsConfig(seq_len=4, split='random', num_examples=320, eval_examples=400),
    AnchorsConfig(split='code', num_examples=9_000, eval_examples=64),
    AnchorsConfig(order='anchors_first', num_examples=899_999, eval_examples=64),
    AdditionConfig(largest=9, square=(3, 5), num_examples=40, eval_examples=60),
    AnchorPermutationsConfig(num_keys=3, num_anchors=2, trained_share=0.5),
    ModularAdditionConfig(modulus=5),
    MemoryReasoningConfig(num_examples=400, eval_examples=300),
    ScanConfig(num_examples=30, eval_examples=40),
    CogsConfig(num_examples=30, eval_examples=42),
    ProntoqaConfig(hops=1, num_examples=30, eval_examples=40),
    MixtureConfig(hops=1, num_sequences=500, num_heldout=60, seq_len=8, vocab=512),
    MixtureConfig(hops=1, num_sequences=90, num_heldout=30, seq_len=64, vocab=512),
    CorpusConfig(seq_len=8, vocab=257),
    CorpusConfig(seq_len=64, vocab=257),
    CorpusConfig(seq_len=512, vocab=257, holdout=0.3),
]
TRAINED = ('seen_train', 'memory', 'reasoning_train', 'prontoqa', 'stories')
_ALL_TRAINED = {'noninferential': (), 'unseen': ()}
# What fields demand of each other, once of each kind.
WRONG = [
    (AnchorsConfig, {'seq_len': 3, 'last_token': 'noise'}, 'seq_len = 3: .*least 4'),
    (AnchorsConfig, {'anchors': (1, 2, 3, 30)}, 'anchors = .*: must be outside the'),
    (AnchorsConfig, {'num_anchors': 5}, 'num_anchors = 5: must be at most 4'),
    (AnchorsConfig, {'vocab': 109}, 'vocab = 109: must be above 109'),
    (AnchorsConfig, {'keys': (20, 24)}, "split = 'code': must be one that leaves"),
    (AnchorsConfig, {'complexity': 1}, r'noninferential = .*: must be \(\), with'),
    (
        AnchorsConfig,
        {'complexity': 1, 'shifts': (5, 1, -2, -7), **_ALL_TRAINED},
        'complexity = 1: must be 0 unless the anchors have the shifts',
    ),
    (
        AnchorsConfig,
        {'exception': 'unseen', 'noninferential': ()},
        r"exception = 'unseen': must be 'trained' where task.noninferential is \(\)",
    ),
    (AnchorsConfig, {'holdout': 0.2}, "holdout = 0.2: .* where task.split is 'code'"),
    (CogsConfig, {'path': 'x', 'sample_seed': 1}, 'seed = 1: .* where task.path is gi'),
    (ProntoqaConfig, {'path': 'x', 'pool_seed': 1}, 'seed = 1: .* where task.path is'),
    (
        AdditionConfig,
        {'encoding': 'numbers', 'loss_on': 'all'},
        "loss_on = 'all': must be the default, .*task.encoding",
    ),
    (
        AdditionConfig,
        {'encoding': 'numbers', 'score_end': False},
        'score_end = False: must be the default, .*task.encoding',
    ),
    (AdditionConfig, {'square': (600, 400)}, 'square = .*: must be two numbers'),
    (AdditionConfig, {'num_examples': 959_600}, 'num_examples = .*: must be at most'),
    (AnchorPermutationsConfig, {'trained_share': 0.001}, 'must be a share that trains'),
    (MemoryReasoningConfig, {'memory_anchors': (1, 22)}, 'must be apart from task.ke'),
    (MemoryReasoningConfig, {'masked': ((11, 10),)}, 'must be combinations of 2 reas'),
    (MemoryReasoningConfig, {'vocab': 160}, 'vocab = 160: must be above 160'),
    (ScanConfig, {'num_examples': 21_891}, 'num_examples = 21891: must be at most'),
    (CogsConfig, {'num_examples': 24_156}, 'num_examples = 24156: .* at most 24,155'),
    (ProntoqaConfig, {'distractor': 'twin', 'ontology': 'true'}, 'only the fictional'),
    (CorpusConfig, {'vocab': 257, 'seq_len': 60_000}, 'must be short enough'),
    (CorpusConfig, {'vocab': 257, 'seq_len': 9, 'holdout': 0.9999}, 'holdout = 0.9999'),
]


def test_every_task_is_its_config():
    assert {c.name for c in SMALL} == set(tasks.TASKS)
    for c in SMALL:
        assert find_class('task', c.name) is type(c)
        assert type(c)().name == c.name


@pytest.mark.parametrize('config', SMALL, ids=[c.name for c in SMALL])
def test_a_data_set_is_its_seed_under_jit_and_vmap(config):
    task = config.make()

    def draw(seed: int | jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(jax.random.key(seed)), jnp.arange(8))

    mapped = jax.device_get(jax.jit(jax.vmap(draw))(np.array([0, 1])))
    draw_alone = jax.jit(draw)
    alone = [draw_alone(seed) for seed in (0, 1)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *alone)
    chex.assert_trees_all_equal(stacked, mapped)
    is_same = np.array_equal(*mapped.tokens_BT)
    assert is_same == (config.name == 'mixture')  # whose seeds order alike


@pytest.mark.parametrize('config', SMALL, ids=[c.name for c in SMALL])
def test_eval_sets_have_the_shapes_that_a_task_states(config):
    task = config.make()
    eval_sets = jax.eval_shape(
        lambda: task.eval_sets(task.make_data(jax.random.key(0)))
    )
    num_eval_sets, size, seq_len = eval_sets.tokens_PBT.shape
    assert (num_eval_sets, seq_len) == (len(task.eval_set_names), task.seq_len)
    num_asked = 1 if task.last_only else seq_len
    shape = (num_eval_sets, len(task.mapping_names), size, num_asked)
    assert eval_sets.targets_PRBQ.shape == shape
    assert (eval_sets.groups_PB is None) == (task.group_names == ())


@pytest.mark.parametrize('config', FEW, ids=lambda config: config.name)
def test_what_is_asked_is_trained_or_held_out_as_its_name_says(config):
    task = config.make()
    eval_sets = draw_eval_sets(config)
    trained = list_sequences(draw_batch(config).tokens_BT)
    for p, name in enumerate(task.eval_set_names):
        is_asked_B = np.ones(eval_sets.tokens_PBT.shape[1], bool)
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
    ('config_class', 'fields', 'line'),
    WRONG,
    ids=[f'{c.name}-{",".join(fields)}' for c, fields, _ in WRONG],
)
def test_a_wrong_config_is_one_line(config_class, fields, line):
    with pytest.raises(ConfigError, match=rf'task\..*{line}') as caught:
        config_class(**fields).make()
    assert '\n' not in str(caught.value)
