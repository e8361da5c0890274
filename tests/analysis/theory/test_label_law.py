"""The label law, exact and by counting (P2; PAPERS 2.4)."""

import numpy as np
import pytest

from analysis.theory import label_law
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from tests.support import p2_theory

SMALL = {
    'keys': (5, 9),
    'memory_anchors': (1, 3),
    'reasoning_anchors': (3, 5),
    'masked': ((3, 4),),
    'vocab': 20,
    'num_examples': 40_000,
}
OPTIONS = (
    {'memory_labels': 'near'},
    {'label_ranges': ((6, 7), (6, 15)), 'seq_len': 3},
    {'q': 3, 'masked': ((3, 4, 3), (4, 4, 4)), 'vocab': 24},
    {'q': 1, 'masked': ((4,),)},
)


def test_counting_by_hand():
    tokens_BT = np.array([[2, 1, 1], [0, 1, 2]])
    laws = label_law.count_laws(tokens_BT, np.array([3, 0]), vocab=4)
    assert laws.rate_V.tolist() == [0.5, 1.5, 1.0, 0.0]
    assert laws.law_VV[0].tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(laws.law_VV[1], [1 / 3, 0, 0, 2 / 3])
    assert laws.law_VV[2].tolist() == [0.5, 0, 0, 0.5]
    assert not laws.law_VV[3].any() and not laws.residual_VV[3].any()
    np.testing.assert_allclose(laws.residual_VV[1], [0.125, -0.375, -0.375, 0.625])
    last = label_law.count_laws(tokens_BT[:, -1:], np.array([3, 0]), vocab=4)
    assert last.rate_V.tolist() == [0, 0.5, 0.5, 0]


@pytest.mark.parametrize(
    'option',
    [*OPTIONS[:2], *(pytest.param(o, marks=pytest.mark.slow) for o in OPTIONS[2:])],
)
def test_a_data_set_has_the_expected_law_up_to_its_random_labels(option):
    config = MemoryReasoningConfig(**SMALL | option)
    exact = p2_theory.expected_laws(config)
    measured = []
    for seed in range(4):
        examples = label_law.read_examples(config, seed)
        laws = label_law.count_laws(*examples, config.vocab)
        np.testing.assert_allclose(laws.rate_V, exact.rate_V, atol=0.02)
        # Reasoning labels are certain: only the draw of keys makes a difference.
        np.testing.assert_allclose(laws.law_VV[3:5], exact.law_VV[3:5], atol=0.02)
        measured.append(laws.law_VV)
    # Memory labels are 16 draws in each data set.
    np.testing.assert_allclose(np.mean(measured, 0), exact.law_VV, atol=0.15)
    assert np.abs(measured[0] - measured[1])[1:3].max() > 0.05


def test_a_law_by_hand():
    """Keys 5 and 6; memory anchors 1; reasoning anchors 2 and 3, (3, 3) masked."""
    config = MemoryReasoningConfig(
        keys=(5, 7),
        memory_anchors=(1, 2),
        reasoning_anchors=(2, 4),
        masked=((3, 3),),
        seq_len=3,
        num_examples=40,
        vocab=13,
    )
    laws = p2_theory.expected_laws(config)
    # Combinations (1, 1), (2, 2), (2, 3), (3, 2): one in four sequences each.
    assert laws.rate_V[[1, 2, 3, 5, 6]].tolist() == [0.5, 1.0, 0.5, 0.5, 0.5]
    assert laws.rate_V.sum() == 3
    expected = np.zeros((4, 13))
    expected[1, [5, 6]] = 1 / 2
    # Twice in (2, 2): 9 or 10; once each in (2, 3) and (3, 2): 10 or 11.
    expected[2, [9, 10, 11]] = 1 / 4, 1 / 2, 1 / 4
    expected[3, [10, 11]] = 1 / 2
    np.testing.assert_allclose(laws.law_VV[:4], expected, atol=1e-12)
    key_5 = np.zeros(13)
    key_5[[5, 6]] = 1 / 8  # a quarter of its sequences has memory anchors
    key_5[[9, 10]] = 1 / 4, 1 / 2
    np.testing.assert_allclose(laws.law_VV[5], key_5, atol=1e-12)
