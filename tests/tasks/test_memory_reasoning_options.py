"""Options of P2's task for its Figure 8, and the line that names bad input."""

import jax
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.errors import ConfigError
from anchorjax.tasks import MemoryReasoningConfig
from anchorjax.tasks.memory_reasoning.labels import (
    combinations,
    draw_labels,
    label_ranges,
    memory_groups,
)
from tests.tasks.test_memory_reasoning import draw_batch, draw_probes

# P2 Fig 8 right: four groups with labels from 30 to 29 + 20 i.
GROUPS = MemoryReasoningConfig(
    memory_anchors=(161, 177),
    label_ranges=((30, 50), (30, 70), (30, 90), (30, 110)),
    vocab=177,
)


def test_near_labels_are_at_most_the_sum_of_the_anchors_from_the_key():
    config = MemoryReasoningConfig(memory_labels='near')
    label = np.asarray(draw_labels(config, jax.random.key(0)))
    rows = combinations(config)
    assert rows[:3].tolist() == [[1, 1], [1, 2], [1, 3]]
    assert rows[100].tolist() == [11, 11]
    keys = np.arange(21, 121)
    for row, labels in zip(rows.tolist(), label, strict=True):
        if row[0] <= 10:
            distance = np.abs(labels - keys)
            assert distance.max() <= sum(row)
            assert (labels != keys + sum(row)).any()
        else:
            assert (labels == keys + sum(row)).all()
    # (1, 1): five labels from x - 2 to x + 2, each about as often.
    offsets, counts = np.unique(label[0] - keys, return_counts=True)
    assert offsets.tolist() == [-2, -1, 0, 1, 2]
    assert counts.min() >= 8


def test_the_range_of_every_label_by_hand():
    config = MemoryReasoningConfig(
        keys=(5, 7),
        memory_anchors=(1, 3),
        reasoning_anchors=(3, 5),
        masked=((4, 3),),
        memory_labels='near',
        vocab=20,
    )
    assert combinations(config).tolist() == [
        [1, 1],
        [1, 2],
        [2, 1],
        [2, 2],
        [3, 3],
        [3, 4],
        [4, 4],
        [4, 3],
    ]
    low, size = label_ranges(config)
    assert low.tolist() == [
        [3, 4],
        [2, 3],
        [2, 3],
        [1, 2],
        [11, 12],
        [12, 13],
        [13, 14],
        [12, 13],
    ]
    assert size.tolist() == [[5] * 2, [7] * 2, [7] * 2, [9] * 2, *[[1] * 2] * 4]
    uniform = label_ranges(
        MemoryReasoningConfig(
            keys=(5, 7),
            memory_anchors=(1, 3),
            reasoning_anchors=(3, 5),
            masked=((4, 3),),
            vocab=20,
        )
    )
    assert (uniform.low[:4] == 5).all() and (uniform.size[:4] == 2).all()
    np.testing.assert_array_equal(uniform.low[4:], low[4:])


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


def test_probes_name_the_group_of_every_sequence():
    task = tasks.make(GROUPS)
    assert task.group_names == (
        'labels_30_49',
        'labels_30_69',
        'labels_30_89',
        'labels_30_109',
        'reasoning',
    )
    probes = draw_probes(GROUPS)
    memory, train, test = probes.groups_PB
    assert (train == 4).all() and (test == 4).all()
    assert set(memory.tolist()) == {0, 1, 2, 3}
    anchor_B = np.where(probes.tokens_PBT[0] >= 161, probes.tokens_PBT[0], 0).max(1)
    np.testing.assert_array_equal(memory, (anchor_B - 161) // 4)


def test_options_change_labels_alone():
    base = draw_batch(MemoryReasoningConfig(), 500)
    for fields in ({'memory_labels': 'near'}, {'ordered': False}):
        other = draw_batch(MemoryReasoningConfig(**fields), 500)
        np.testing.assert_array_equal(base.tokens_BT, other.tokens_BT)
        is_memory_B = np.isin(base.tokens_BT, range(1, 11)).any(1)
        changed_B = (base.targets_BQ != other.targets_BQ)[:, 0]
        assert not changed_B[~is_memory_B].any()
        assert changed_B[is_memory_B].mean() > 0.3


def test_who_cannot_see_the_order_knows_0_555_of_the_memory_labels():
    """The limits that configs/memory_reasoning.py states for the Emb-MLP."""
    accuracies, losses = [], []
    for seed in range(5):
        key = jax.random.key(seed)
        label = np.asarray(draw_labels(MemoryReasoningConfig(), key))[:100]
        first = label.reshape(10, 10, 100)
        is_same = first == first.swapaxes(0, 1)
        # One label for both orders, or two that are equally likely.
        accuracies.append(np.where(is_same, 1, 0.5).mean())
        losses.append(np.where(is_same, 0, np.log(2)).mean())
    assert abs(np.mean(accuracies) - 0.555) < 0.002
    assert abs(np.mean(losses) - 0.62) < 0.005
    assert abs(np.mean(losses) * 100 / 198 - 0.31) < 0.005
    unordered = MemoryReasoningConfig(ordered=False)
    label = np.asarray(draw_labels(unordered, jax.random.key(0)))[:100]
    both = label.reshape(10, 10, 100)
    np.testing.assert_array_equal(both, both.swapaxes(0, 1))


MISTAKES = [
    ({'seq_len': 2}, 'task.seq_len = 2: must be at least 3: a key and 2 anchors'),
    ({'q': 0}, 'task.q = 0: must be at least 1, at most 16'),
    ({'q': 5, 'masked': ()}, 'task.q = 5: must be small enough for 100,000'),
    ({'keys': (121, 21)}, 'task.keys = (121, 21): must be an increasing pair'),
    ({'keys': (-1, 0)}, 'task.keys = (-1, 0): must be an increasing pair'),
    ({'keys': (21, 2**40)}, 'must be an increasing pair of tokens, at most'),
    (
        {'memory_anchors': (1, 22)},
        'task.memory_anchors = (1, 22): must be apart from task.keys, (21, 121)',
    ),
    (
        {'reasoning_anchors': (10, 21)},
        'task.reasoning_anchors = (10, 21): must be apart from task.memory_anchors',
    ),
    ({'reasoning_anchors': (11, 11)}, 'must be an increasing pair'),
    (
        {'masked': ((11, 10),)},
        'task.masked = ((11, 10),): must be combinations of 2 reasoning anchors, 11 to',
    ),
    ({'masked': ((11,),)}, 'must be combinations of 2 reasoning anchors'),
    ({'masked': ((11, 13), (11, 13))}, 'must be distinct combinations'),
    (
        {'reasoning_anchors': (11, 12), 'masked': ((11, 11),)},
        'must be fewer than all combinations',
    ),
    ({'memory_labels': 'far'}, "task.memory_labels = 'far': must be one of"),
    (
        {'memory_labels': 'near', 'label_ranges': ((30, 50),)},
        "task.memory_labels = 'near': must be 'uniform' where task.label_ranges",
    ),
    (
        {'label_ranges': ((30, 50), (30, 70), (30, 90), (30, 110))},
        'must be of a number that divides the 10 memory anchors evenly',
    ),
    ({'label_ranges': ((30, 50), (30, 50))}, 'must be distinct ranges'),
    ({'label_ranges': ((50, 30),)}, 'must be increasing pairs of tokens below'),
    ({'label_ranges': ((30, 162),)}, 'below task.vocab, 161'),
    ({'vocab': 160}, 'task.vocab = 160: must be above 160, the largest token or'),
    ({'vocab': 160}, 'must be above 160, the largest token or label'),
    (
        {'memory_labels': 'near', 'keys': (61, 161), 'memory_anchors': (31, 41)},
        'task.keys[0] = 61: must be at least 80: every label',
    ),
    ({'num_examples': 197}, 'must be enough for one example of all 198 trained'),
    ({'num_examples': -5}, 'must be enough for one example'),
    ({'ordered': 1}, 'task.ordered = 1: must be of type bool'),
]


@pytest.mark.parametrize(
    ('fields', 'line'), MISTAKES, ids=[line for _, line in MISTAKES]
)
def test_bad_input_is_one_line(fields, line):
    with pytest.raises(ConfigError) as caught:
        MemoryReasoningConfig(**fields)
    message = str(caught.value)
    assert line in message and '\n' not in message
