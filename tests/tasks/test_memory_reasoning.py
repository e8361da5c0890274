"""The task of reasoning against memory says what the paper says (PAPERS 2.1)."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.tasks import memory_reasoning
from anchorjax.tasks.memory_reasoning import (
    MemoryReasoningConfig,
    combinations,
    label_ranges,
    memory_groups,
)
from tests.tasks.draws import draw_batch, draw_eval_sets

draw_labels = jax.jit(memory_reasoning.draw_labels, static_argnums=0)
PAPER = MemoryReasoningConfig()
# P2 Fig 8 right: four groups with labels from 30 to 29 + 20 i.
GROUPS = MemoryReasoningConfig(
    memory_anchors=(161, 177),
    label_ranges=((30, 50), (30, 70), (30, 90), (30, 110)),
    vocab=177,
)


class Examples(NamedTuple):
    """Sequences, decoded."""

    position_B: np.ndarray  # of the key
    key_B: np.ndarray
    anchors_Bq: np.ndarray


def decode(config: MemoryReasoningConfig, tokens_BT: np.ndarray) -> Examples:
    """Fails unless every sequence is q anchors of one kind after a key, among keys."""
    tokens_BT = np.asarray(tokens_BT)
    q = config.q
    is_memory_BT = np.isin(tokens_BT, np.arange(*config.memory_anchors))
    is_reasoning_BT = np.isin(tokens_BT, np.arange(*config.reasoning_anchors))
    is_key_BT = np.isin(tokens_BT, np.arange(*config.keys))
    assert (is_memory_BT | is_reasoning_BT | is_key_BT).all()
    assert set(is_memory_BT.sum(1).tolist()) <= {0, q}, 'anchors of both kinds'
    rows, columns = np.nonzero(~is_key_BT)
    np.testing.assert_array_equal(rows, np.repeat(np.arange(len(tokens_BT)), q))
    columns_Bq = columns.reshape(-1, q)
    first_B = columns_Bq[:, 0]
    assert (first_B >= 1).all()
    np.testing.assert_array_equal(columns_Bq, first_B[:, None] + np.arange(q))
    at_B = np.arange(len(tokens_BT))
    anchors_Bq = tokens_BT[at_B[:, None], columns_Bq]
    return Examples(first_B - 1, tokens_BT[at_B, first_B - 1], anchors_Bq)


class Facts(NamedTuple):
    """What a data set holds."""

    label_of: dict[tuple, int]  # {(key, anchors): label}
    count_of: dict[tuple, int]  # {anchors: examples}


def collect_facts(config: MemoryReasoningConfig, batch: tasks.Batch) -> Facts:
    """Fails if one key with the same anchors has two labels."""
    decoded = decode(config, batch.tokens_BT)
    label_of: dict[tuple, int] = {}
    count_of: dict[tuple, int] = {}
    rows = zip(
        decoded.key_B.tolist(),
        map(tuple, decoded.anchors_Bq.tolist()),
        batch.targets_BQ[:, 0].tolist(),
        strict=True,
    )
    for key, anchors, label in rows:
        assert label_of.setdefault((key, anchors), label) == label
        count_of[anchors] = count_of.get(anchors, 0) + 1
    return Facts(label_of, count_of)


@pytest.fixture(scope='module')
def whole() -> tasks.Batch:
    """Every training example of the paper's data set."""
    return draw_batch(PAPER)


@pytest.fixture(scope='module')
def facts(whole) -> Facts:
    return collect_facts(PAPER, whole)


def is_memory(anchors: tuple[int, ...]) -> bool:
    return anchors[0] <= 10


def test_the_paper_trains_198_pairs_equally_often_and_masks_two(facts):
    trained = [(a, b) for a in range(1, 11) for b in range(1, 11)]
    trained += [(a, b) for a in range(11, 21) for b in range(11, 21)]
    trained.remove((11, 13))
    trained.remove((13, 11))
    assert facts.count_of == dict.fromkeys(trained, 1_010)


def test_reasoning_labels_are_sums_and_memory_labels_are_random_keys(facts):
    labels = []
    for (key, anchors), label in facts.label_of.items():
        if is_memory(anchors):
            labels.append(label)
        else:
            assert label == key + sum(anchors)
    # 10,000 facts, of which a few never come among 10 examples of each on average.
    assert 9_990 < len(labels) <= 10_000
    counts = np.bincount(labels, minlength=161)
    assert counts[:21].sum() == 0 and counts[121:].sum() == 0
    assert (counts[21:121] > 0).all()
    # Uniform: the chi-square statistic has mean 99 and standard deviation 14.
    expected = len(labels) / 100
    assert 50 < ((counts[21:121] - expected) ** 2 / expected).sum() < 160


def test_a_memory_label_depends_on_the_order_of_the_anchors_and_on_the_seed(facts):
    other = collect_facts(PAPER, draw_batch(PAPER, 20_000, seed=1))
    same_reversed, same_other, number = 0, 0, 0
    for (key, anchors), label in other.label_of.items():
        if not is_memory(anchors) or anchors[0] == anchors[1]:
            continue
        number += 1
        same_other += facts.label_of.get((key, anchors)) == label
        same_reversed += other.label_of.get((key, anchors[::-1])) == label
    assert number > 4_000
    assert same_other / number < 0.03 and same_reversed / number < 0.03


def test_without_order_the_reversed_pair_has_the_same_label():
    config = MemoryReasoningConfig(ordered=False)
    facts = collect_facts(config, draw_batch(config, 50_000))
    number = 0
    for (key, anchors), label in facts.label_of.items():
        if (key, anchors[::-1]) in facts.label_of:
            number += 1
            assert facts.label_of[key, anchors[::-1]] == label
    assert number > 10_000


def test_positions_keys_and_noise_are_uniform_and_independent_of_the_label(whole):
    decoded = decode(PAPER, whole.tokens_BT[:40_000])
    shares = np.bincount(decoded.position_B) / 40_000
    np.testing.assert_allclose(shares, 1 / 7, rtol=0.06)
    counts = np.bincount(decoded.key_B, minlength=121)[21:]
    assert counts.min() > 300 and counts.max() < 500  # 400 expected
    is_noise = decoded.position_B > 0
    noise = whole.tokens_BT[:40_000][is_noise, 0]
    counts = np.bincount(noise, minlength=121)[21:] / len(noise) * 100
    np.testing.assert_allclose(counts, 1, atol=0.25)
    labels = whole.targets_BQ[:40_000, 0][is_noise]
    assert abs(np.corrcoef(noise, labels)[0, 1]) < 0.02


def test_place_and_roles_by_hand():
    noise_BT = jnp.array([[90, 91, 92, 93, 94]] * 3)
    items = jnp.array([(50, 1, 2), (51, 12, 11), (52, 20, 20)])
    placed = tasks.place_items(noise_BT, jnp.array([0, 1, 2]), items)
    assert placed.tolist() == [
        [50, 1, 2, 93, 94],
        [90, 51, 12, 11, 94],
        [90, 91, 52, 20, 20],
    ]
    task = MemoryReasoningConfig(seq_len=5).make()
    items = ['key', 'anchor_1', 'anchor_2']
    names_BT = np.array(task.role_names)[np.asarray(task.roles(placed))]
    assert names_BT.tolist() == [
        [*items, 'noise', 'last'],
        ['noise', *items, 'last'],
        ['noise', 'noise', *items],
    ]


def test_eval_sets_ask_what_they_say(facts):
    task = PAPER.make()
    eval_sets = draw_eval_sets(PAPER)
    assert eval_sets.groups_PB is None and eval_sets.weights_PBQ is None
    for p, name in enumerate(task.eval_set_names):
        decoded = decode(PAPER, eval_sets.tokens_PBT[p])
        anchors = list(map(tuple, decoded.anchors_Bq.tolist()))
        sum_B = decoded.key_B + decoded.anchors_Bq.sum(1)
        np.testing.assert_array_equal(eval_sets.targets_PRBQ[p, 1, :, 0], sum_B)
        assigned_B = eval_sets.targets_PRBQ[p, 0, :, 0].tolist()
        if name == 'reasoning_test':
            assert set(anchors) == {(11, 13), (13, 11)}
            np.testing.assert_array_equal(assigned_B, sum_B)
            continue
        assert {is_memory(pair) for pair in anchors} == {name == 'memory'}
        assert len(set(anchors)) == (100 if name == 'memory' else 98)

        facts_B = zip(decoded.key_B.tolist(), anchors, strict=True)
        assert assigned_B == [facts.label_of[fact] for fact in facts_B]


@pytest.mark.parametrize('q', [1, 3])
def test_any_number_of_anchors_is_added_up(q):
    small = {'keys': (9, 14), 'memory_anchors': (1, 3), 'reasoning_anchors': (3, 6)}
    config = MemoryReasoningConfig(
        q=q, **small, masked=((4,) * q,), seq_len=q + 3, num_examples=1_000, vocab=64
    )
    facts = collect_facts(config, draw_batch(config, 300))
    for (key, anchors), label in facts.label_of.items():
        assert anchors not in config.masked
        if anchors[0] >= 3:
            assert label == key + sum(anchors)
        else:
            assert 9 <= label < 14


def test_the_range_of_every_label_by_hand():
    config = MemoryReasoningConfig(
        keys=(5, 7),
        memory_anchors=(1, 3),
        reasoning_anchors=(3, 5),
        masked=((4, 3),),
        memory_labels='near',
        vocab=20,
    )
    memory = [[1, 1], [1, 2], [2, 1], [2, 2]]
    reasoning = [[3, 3], [3, 4], [4, 4], [4, 3]]
    assert combinations(config).tolist() == memory + reasoning
    low, size = label_ranges(config)
    assert low[:4].tolist() == [[3, 4], [2, 3], [2, 3], [1, 2]]
    assert low[4:].tolist() == [[11, 12], [12, 13], [13, 14], [12, 13]]
    assert size.tolist() == [[5] * 2, [7] * 2, [7] * 2, [9] * 2, *[[1] * 2] * 4]
    uniform = dataclasses.replace(config, memory_labels='uniform')
    low_of_uniform, size = label_ranges(uniform)
    assert (low_of_uniform[:4] == 5).all() and (size[:4] == 2).all()
    np.testing.assert_array_equal(low_of_uniform[4:], low[4:])


def test_groups_of_memory_anchors_have_labels_of_their_own_range():
    assert GROUPS.anchors_per_group == 4 and GROUPS.num_memory == 4 * 16
    rows = combinations(GROUPS)
    group = memory_groups(GROUPS)
    label = np.asarray(draw_labels(GROUPS, jax.random.key(0)))
    for i in range(4):
        first = 161 + 4 * i
        assert set(rows[group == i].ravel().tolist()) == set(range(first, first + 4))
        labels = label[group == i]
        assert labels.min() == 30 and labels.max() == 29 + 20 * (i + 1)
        assert len(np.unique(labels)) == 20 * (i + 1)
    assert (rows[group == 4] <= 20).all()


@pytest.mark.slow
def test_eval_sets_name_the_group_of_every_sequence():
    task = GROUPS.make()
    assert task.group_names == (
        'labels_30_49',
        'labels_30_69',
        'labels_30_89',
        'labels_30_109',
        'reasoning',
    )
    eval_sets = draw_eval_sets(GROUPS)
    memory, train, test = eval_sets.groups_PB
    assert (train == 4).all() and (test == 4).all()
    assert set(memory.tolist()) == {0, 1, 2, 3}
    # Of all tokens those of memory anchors are the largest.
    largest_B = eval_sets.tokens_PBT[0].max(1)
    np.testing.assert_array_equal(memory, (largest_B - 161) // 4)
