"""The label law, exact and by counting (P2; PAPERS 2.4)."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.theory import label_law
from anchorjax.tasks import MemoryReasoningConfig
from tests.support import p2_theory

SMALL = {
    'keys': (5, 9),
    'memory_anchors': (1, 3),
    'reasoning_anchors': (3, 5),
    'masked': ((3, 4),),
    'vocab': 20,
    'num_examples': 40_000,
}
OPTIONS = {
    'uniform': {},
    'near': {'memory_labels': 'near'},
    'ranges': {'label_ranges': ((6, 7), (6, 15))},
    'no_noise': {'seq_len': 3},
    'three': {'q': 3, 'masked': ((3, 4, 3), (4, 4, 4)), 'vocab': 24},
    'one': {'q': 1, 'masked': ((4,),)},
}


def count_by_hand(config: MemoryReasoningConfig) -> label_law.LabelLaws:
    """Every combination, key, label and noise token in a loop, with its probability."""
    keys = range(*config.keys)
    memory = list(range(*config.memory_anchors))
    per_group = len(memory) // (len(config.label_ranges) or 1)
    combinations = []
    for row in itertools.product(memory, repeat=config.q):
        groups = {memory.index(anchor) // per_group for anchor in row}
        if len(groups) == 1:
            combinations.append(row)
    for row in itertools.product(range(*config.reasoning_anchors), repeat=config.q):
        if row not in config.masked:
            combinations.append(row)
    mass = np.zeros((config.vocab, config.vocab))
    for row, key in itertools.product(combinations, keys):
        if row[0] not in memory:
            labels = [key + sum(row)]
        elif config.memory_labels == 'near':
            labels = list(range(key - sum(row), key + sum(row) + 1))
        elif config.label_ranges:
            group = memory.index(row[0]) // per_group
            labels = list(range(*config.label_ranges[group]))
        else:
            labels = list(keys)
        probability = 1 / len(combinations) / len(keys) / len(labels)
        for label in labels:
            for token in (key, *row):
                mass[token, label] += probability
            for noise in keys:
                share = (config.seq_len - config.q - 1) / len(keys)
                mass[noise, label] += probability * share
    return p2_theory.make_laws(mass)


@pytest.mark.parametrize('option', OPTIONS)
def test_the_exact_law_is_that_of_counting_every_case(option):
    config = MemoryReasoningConfig(**SMALL | OPTIONS[option])
    exact = p2_theory.expected_laws(config)
    counted = count_by_hand(config)
    np.testing.assert_allclose(exact.rate_V, counted.rate_V, atol=1e-12)
    np.testing.assert_allclose(exact.law_VV, counted.law_VV, atol=1e-12)


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


def test_p2s_convolution_is_the_law_of_anchors_without_a_masked_pair():
    config = MemoryReasoningConfig()
    laws = p2_theory.expected_laws(config)
    for anchor in range(11, 21):
        formula = p2_theory.convolve_law(config, anchor)
        assert formula.sum() == pytest.approx(1)
        difference = np.abs(laws.law_VV[anchor] - formula).max()
        if anchor in (11, 13):
            assert 1e-4 < difference < 2e-3  # nine partners instead of ten
        else:
            assert difference < 1e-12
    every_pair = p2_theory.expected_laws(MemoryReasoningConfig(masked=()))
    formula = p2_theory.convolve_law(config, 11)
    np.testing.assert_allclose(every_pair.law_VV[11], formula, atol=1e-12)
    three = MemoryReasoningConfig(q=3, masked=(), num_examples=10_000, vocab=181)
    formula = p2_theory.convolve_law(three, 17)
    laws_of_three = p2_theory.expected_laws(three)
    np.testing.assert_allclose(laws_of_three.law_VV[17], formula, atol=1e-12)


def test_the_paper_memory_anchors_share_a_law_and_reasoning_anchors_do_not():
    laws = p2_theory.expected_laws(MemoryReasoningConfig())
    keys = np.arange(21, 121)
    uniform = np.zeros(161)
    uniform[keys] = 1 / 100
    for anchor in range(1, 11):
        np.testing.assert_allclose(laws.law_VV[anchor], uniform, atol=1e-12)
    for anchor in (12, *range(14, 21)):
        mean_label = laws.law_VV[anchor] @ np.arange(161)
        # The mean key, the anchor, and 15.5 for its partner.
        assert mean_label == pytest.approx(70.5 + anchor + 15.5)
    np.testing.assert_allclose(laws.rate_V.sum(), 9)
    assert laws.law_VV[0].sum() == 0 and laws.deviation_VV[0].sum() == 0


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


@pytest.mark.parametrize('option', ['uniform', 'near', 'no_noise'])
def test_a_data_set_has_the_expected_law_up_to_its_random_labels(option):
    config = MemoryReasoningConfig(**SMALL | OPTIONS[option])
    exact = p2_theory.expected_laws(config)
    measured = []
    for seed in range(6):
        examples = label_law.read_examples(config, seed)
        laws = label_law.count_laws(*examples, config.vocab)
        np.testing.assert_allclose(laws.rate_V, exact.rate_V, atol=0.02)
        # Reasoning labels are certain: only the draw of keys makes a difference.
        np.testing.assert_allclose(laws.law_VV[3:5], exact.law_VV[3:5], atol=0.02)
        measured.append(laws.law_VV)
    # Memory labels are 16 draws in each data set.
    np.testing.assert_allclose(np.mean(measured, 0), exact.law_VV, atol=0.15)
    assert np.abs(measured[0] - measured[1])[1].max() > 0.05


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5), st.integers(2, 7)
)
def test_counted_laws_are_laws(seed, size, length, vocab):
    rng = np.random.default_rng(seed)
    tokens_BT = rng.integers(0, vocab, (size, length))
    label_B = rng.integers(0, vocab, size)
    laws = label_law.count_laws(tokens_BT, label_B, vocab)
    assert laws.rate_V.sum() == pytest.approx(length)
    np.testing.assert_allclose(laws.law_VV.sum(1), laws.rate_V > 0)
    np.testing.assert_allclose(laws.residual_VV.sum(1), 0, atol=1e-12)
    law_of_all = laws.rate_V @ laws.law_VV / length
    counts = np.bincount(label_B, minlength=vocab)
    np.testing.assert_allclose(law_of_all, counts / size, atol=1e-12)
