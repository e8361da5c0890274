"""What holds of every task: a seed is its data, and a wrong config is one line."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.errors import ConfigError
from anchorjax.tasks import (
    AdditionConfig,
    AnchorPermutationsConfig,
    AnchorsConfig,
    CogsConfig,
    CorpusConfig,
    MemoryReasoningConfig,
    MixtureConfig,
    ModularAdditionConfig,
    ProntoqaConfig,
    ScanConfig,
)

SMALL = [
    AnchorsConfig(split='random', probe_examples=20),
    AdditionConfig(largest=9, square=(3, 5), probe_examples=20),
    AnchorPermutationsConfig(num_keys=3, num_anchors=2, trained_share=0.5),
    ModularAdditionConfig(modulus=5),
    MemoryReasoningConfig(probe_examples=20),
    ScanConfig(probe_examples=20),
    CogsConfig(probe_examples=21),
    ProntoqaConfig(hops=1, num_examples=30, probe_examples=10),
    MixtureConfig(
        hops=1, num_sequences=12, num_heldout=5, seq_len=64, vocab=512, probe_examples=6
    ),
    CorpusConfig(seq_len=8, vocab=257, probe_examples=4),
]
_EVERY_PAIR = tuple((a, b) for a in range(1, 5) for b in range(1, 5))
_ALL_TRAINED = {'noninferential': (), 'unseen': ()}
WRONG = [
    (AnchorsConfig, {'seq_len': 3, 'last_token': 'noise'}, 'seq_len = 3: .*least 4'),
    (AnchorsConfig, {'last_token': 'key'}, "last_token = 'key': must be one of"),
    (
        AnchorsConfig,
        {'order': 'anchors_first', 'last_token': 'pair'},
        "last_token = 'pair': .*where the key comes after the pair",
    ),
    (AnchorsConfig, {'anchors': (1, 1, 2, 3)}, 'anchors = .*: must be distinct tokens'),
    (AnchorsConfig, {'anchors': (1, 2, 3, 30)}, 'anchors = .*: must be outside the'),
    (AnchorsConfig, {'shifts': (1, 2)}, 'shifts = .*: must be 4 shifts'),
    (AnchorsConfig, {'num_anchors': 5}, 'num_anchors = 5: must be at most 4'),
    (AnchorsConfig, {'unseen': ((4, 7),)}, 'unseen = .*: must be pairs made of the'),
    (AnchorsConfig, {'unseen': _EVERY_PAIR}, 'unseen = .*: must be fewer than all'),
    (AnchorsConfig, {'vocab': 109}, 'vocab = 109: must be above 109'),
    (AnchorsConfig, {'keys': (10, 90)}, r'keys\[0\] = 10: must be at least 16'),
    (AnchorsConfig, {'keys': (20, 24)}, "split = 'code': must be one that leaves"),
    (AnchorsConfig, {'split': 'random', 'holdout': 0.001}, 'holdout = .*: must be a'),
    (AnchorsConfig, {'num_examples': 10}, 'num_examples = 10: must be enough for one'),
    (AnchorsConfig, {'complexity': 7, **_ALL_TRAINED}, 'complexity = 7: must be at'),
    (AnchorsConfig, {'complexity': 1}, r'noninferential = .*: must be \(\), with'),
    (
        AnchorsConfig,
        {'complexity': 1, 'shifts': (5, 1, -2, -7), **_ALL_TRAINED},
        'complexity = 1: must be 0 unless the anchors have the shifts',
    ),
    (AdditionConfig, {'square': (600, 400)}, 'square = .*: must be two numbers'),
    (AdditionConfig, {'square': (0, 999)}, 'square = .*: must be smaller than the'),
    (AdditionConfig, {'num_examples': 959_600}, 'num_examples = .*: must be at most'),
    (AdditionConfig, {'largest': 10_000}, 'largest = 10000: .* at most 9,999'),
    (AnchorPermutationsConfig, {'trained_share': 0.001}, 'must be a share that trains'),
    (ModularAdditionConfig, {'trained_share': 1.0}, 'trained_share = 1.0: .*below 1'),
    (MemoryReasoningConfig, {'seq_len': 2}, 'seq_len = 2: must be at least 3'),
    (MemoryReasoningConfig, {'keys': (121, 21)}, 'keys = .*: must be an increasing'),
    (MemoryReasoningConfig, {'memory_anchors': (1, 22)}, 'must be apart from task.ke'),
    (MemoryReasoningConfig, {'masked': ((11, 10),)}, 'must be combinations of 2 reas'),
    (MemoryReasoningConfig, {'masked': ((11, 13), (11, 13))}, 'distinct combinations'),
    (
        MemoryReasoningConfig,
        {'reasoning_anchors': (11, 12), 'masked': ((11, 11),)},
        'must be fewer than all combinations',
    ),
    (
        MemoryReasoningConfig,
        {'memory_labels': 'near', 'label_ranges': ((30, 50),)},
        "memory_labels = 'near': must be 'uniform'",
    ),
    (
        MemoryReasoningConfig,
        {'label_ranges': ((30, 50), (30, 70), (30, 90))},
        'must be of a number that divides the 10 memory anchors evenly',
    ),
    (MemoryReasoningConfig, {'label_ranges': ((30, 162),)}, 'below task.vocab, 161'),
    (MemoryReasoningConfig, {'vocab': 160}, 'vocab = 160: must be above 160'),
    (
        MemoryReasoningConfig,
        {'memory_labels': 'near', 'keys': (61, 161), 'memory_anchors': (31, 41)},
        r'keys\[0\] = 61: must be at least 80',
    ),
    (MemoryReasoningConfig, {'num_examples': 197}, 'must be enough for one example of'),
    (ScanConfig, {'num_examples': 21_891}, 'num_examples = 21891: must be at most'),
    (ScanConfig, {'split': 'simple'}, "split = 'simple': must be one of"),
    (CogsConfig, {'num_examples': 24_156}, 'num_examples = 24156: .* at most 24,155'),
    (ProntoqaConfig, {'pool_examples': 9}, 'pool_examples = 9: must be 0, or at least'),
    (ProntoqaConfig, {'distractor': 'twin', 'ontology': 'true'}, 'only the fictional'),
    (CorpusConfig, {'vocab': 256}, 'vocab = 256: must be at least 257'),
    (CorpusConfig, {'vocab': 257, 'seq_len': 60_000}, 'must be short enough'),
    (CorpusConfig, {'num_examples': 10**6}, 'num_examples = 1000000: must be at most'),
    (CorpusConfig, {'holdout': 1.0}, 'holdout = 1.0: must be above 0, below 1'),
]


def test_every_task_is_its_config():
    assert {type(c) for c in SMALL} == set(tasks.TASKS.values())
    for name, config_class in tasks.TASKS.items():
        assert config_class().name == name


@pytest.mark.parametrize('config', SMALL, ids=[c.name for c in SMALL])
def test_a_data_set_is_its_seed_under_jit_and_vmap(config):
    task = config.make()

    def draw(seed: int | jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(jax.random.key(seed)), jnp.arange(8))

    mapped = jax.jit(jax.vmap(draw))(jnp.array([0, 1]))
    for seed in (0, 1):
        alone = jax.jit(draw)(seed)
        for of_all, of_one in zip(*map(jax.tree.leaves, (mapped, alone)), strict=True):
            np.testing.assert_array_equal(of_all[seed], of_one)
    with jax.disable_jit():
        np.testing.assert_array_equal(draw(1).tokens_BT, mapped.tokens_BT[1])
    is_same = (mapped.tokens_BT[0] == mapped.tokens_BT[1]).all()
    assert is_same == (config.name == 'mixture')  # whose seeds order alike


@pytest.mark.parametrize('config', SMALL, ids=[c.name for c in SMALL])
def test_probes_have_the_shapes_that_a_task_states(config):
    task = config.make()
    probes = jax.eval_shape(lambda: task.probes(task.make_data(jax.random.key(0))))
    num_probes, size, seq_len = probes.tokens_PBT.shape
    assert (num_probes, seq_len) == (len(task.probe_names), task.seq_len)
    num_asked = 1 if task.last_only else seq_len
    shape = (num_probes, len(task.mapping_names), size, num_asked)
    assert probes.targets_PRBQ.shape == shape
    assert (probes.groups_PB is None) == (task.group_names == ())


@pytest.mark.parametrize(
    ('config_class', 'fields', 'line'),
    WRONG,
    ids=[f'{c.name}-{",".join(fields)}' for c, fields, _ in WRONG],
)
def test_a_wrong_config_is_one_line(config_class, fields, line):
    with pytest.raises(ConfigError, match=rf'task\..*{line}') as caught:
        config_class(**fields).make()
    assert '\n' not in str(caught.value)
