"""The task of reasoning against memory says what the paper says (PAPERS 2.1)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax import tasks
from anchorjax.tasks import MemoryReasoningConfig
from anchorjax.tasks.memory_reasoning import task as memory_reasoning
from anchorjax.tasks.memory_reasoning.labels import combinations

PAPER = MemoryReasoningConfig()
# (sequence, key plus anchors)
BY_HAND = [
    ((25, 78, 15, 11, 99, 30, 31, 32, 33), 104),
    ((21, 11, 11, 99, 30, 31, 32, 33, 34), 43),
    ((99, 30, 31, 32, 33, 34, 120, 20, 20), 160),
    ((99, 30, 31, 32, 33, 34, 50, 13, 11), 74),
]


class Examples(NamedTuple):
    """Sequences, decoded."""

    tokens_BT: np.ndarray
    position_B: np.ndarray  # of the key
    key_B: np.ndarray
    anchors_Bq: np.ndarray


def decode(config: MemoryReasoningConfig, tokens_BT: np.ndarray) -> Examples:
    """Fails unless every sequence is q anchors of one kind after a key, among keys."""
    tokens_BT = np.asarray(tokens_BT)
    size, length = tokens_BT.shape
    position_B, key_B, anchors_Bq = [], [], []
    for tokens in tokens_BT.tolist():
        assert len(tokens) == length
        is_key = [config.keys[0] <= token < config.keys[1] for token in tokens]
        assert is_key.count(False) == config.q
        first = is_key.index(False)
        assert first >= 1
        anchors = tokens[first : first + config.q]
        kinds = set()
        for anchor in anchors:
            is_memory = config.memory_anchors[0] <= anchor < config.memory_anchors[1]
            low, end = config.reasoning_anchors
            assert is_memory or low <= anchor < end
            kinds.add(is_memory)
        assert len(kinds) == 1, 'anchors of both kinds'
        position_B.append(first - 1)
        key_B.append(tokens[first - 1])
        anchors_Bq.append(anchors)
    assert len(position_B) == size
    return Examples(
        tokens_BT, np.array(position_B), np.array(key_B), np.array(anchors_Bq)
    )


def draw_batch(
    config: MemoryReasoningConfig, number: int | None = None, seed: int = 0
) -> tasks.Batch:
    """The first training examples, or all, as NumPy arrays."""
    task = tasks.make(config)

    @jax.jit
    def draw(key: jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(key), jnp.arange(number or task.num_train))

    batch = draw(jax.random.key(seed))
    return tasks.Batch(np.asarray(batch.tokens_BT), np.asarray(batch.targets_BQ))


def draw_probes(config: MemoryReasoningConfig, seed: int = 0) -> tasks.Probes:
    task = tasks.make(config)

    @jax.jit
    def draw(key: jax.Array) -> tasks.Probes:
        return task.probes(task.make_data(key))

    return jax.tree.map(np.asarray, draw(jax.random.key(seed)))


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
    assert tasks.make(PAPER).num_train == 198 * 1_010
    assert tasks.make(PAPER).vocab == 161


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
        if not is_memory(anchors):
            assert label == key + sum(anchors)
    assert number > 10_000


def test_positions_keys_and_noise_are_uniform_and_independent_of_the_label(whole):
    decoded = decode(PAPER, whole.tokens_BT[:40_000])
    shares = np.bincount(decoded.position_B) / 40_000
    np.testing.assert_allclose(shares, 1 / 7, rtol=0.06)
    counts = np.bincount(decoded.key_B, minlength=121)[21:]
    assert counts.min() > 300 and counts.max() < 500  # 400 expected
    is_noise = decoded.position_B > 0
    noise = decoded.tokens_BT[is_noise, 0]
    counts = np.bincount(noise, minlength=121)[21:] / len(noise) * 100
    np.testing.assert_allclose(counts, 1, atol=0.25)
    labels = whole.targets_BQ[:40_000, 0][is_noise]
    assert abs(np.corrcoef(noise, labels)[0, 1]) < 0.02


@pytest.mark.parametrize(('sequence', 'answer'), BY_HAND)
def test_sums_by_hand(sequence, answer):
    decoded = decode(PAPER, np.array([sequence]))
    anchors = decoded.anchors_Bq[0].tolist()
    assert decoded.key_B[0] + sum(anchors) == answer
    data = memory_reasoning.make_data(PAPER, jax.random.key(3))
    row = combinations(PAPER).tolist().index(anchors)
    assert data.label[row, decoded.key_B[0] - 21] == answer
    placed = memory_reasoning.place(
        jnp.array([sequence]),
        jnp.array(decoded.position_B),
        jnp.array(decoded.key_B),
        jnp.array([anchors]),
    )
    assert placed.tolist() == [list(sequence)]


def test_place_by_hand():
    noise_BT = jnp.array([[90, 91, 92, 93, 94]] * 3)
    keys = jnp.array([50, 51, 52])
    pairs = jnp.array([(1, 2), (12, 11), (20, 20)])
    placed = memory_reasoning.place(noise_BT, jnp.array([0, 1, 2]), keys, pairs)
    assert placed.tolist() == [
        [50, 1, 2, 93, 94],
        [90, 51, 12, 11, 94],
        [90, 91, 52, 20, 20],
    ]


def test_roles_by_hand():
    task = tasks.make(MemoryReasoningConfig(seq_len=5))
    tokens_BT = jnp.array(
        [[50, 1, 2, 93, 94], [90, 51, 12, 11, 94], [90, 91, 52, 20, 20]]
    )
    role_BT = task.roles(tokens_BT).tolist()
    named = [[task.role_names[i] for i in row] for row in role_BT]
    assert named == [
        ['key', 'anchor_1', 'anchor_2', 'noise', 'last'],
        ['noise', 'key', 'anchor_1', 'anchor_2', 'last'],
        ['noise', 'noise', 'key', 'anchor_1', 'anchor_2'],
    ]


def test_probes_ask_what_they_say(whole, facts):
    task = tasks.make(PAPER)
    assert task.probe_names == ('memory', 'reasoning_train', 'reasoning_test')
    assert task.mapping_names == ('assigned', 'sum')
    assert task.deviation == ('reasoning_test', 'sum')
    probes = draw_probes(PAPER)
    assert probes.tokens_PBT.shape == (3, 8192, 9)
    assert probes.targets_PRBQ.shape == (3, 2, 8192, 1)
    assert probes.groups_PB is None and probes.weights_PBQ is None
    training = set(map(tuple, whole.tokens_BT.tolist()))
    for p, name in enumerate(task.probe_names):
        decoded = decode(PAPER, probes.tokens_PBT[p])
        anchors = list(map(tuple, decoded.anchors_Bq.tolist()))
        sum_B = decoded.key_B + decoded.anchors_Bq.sum(1)
        np.testing.assert_array_equal(probes.targets_PRBQ[p, 1, :, 0], sum_B)
        assigned_B = probes.targets_PRBQ[p, 0, :, 0].tolist()
        if name == 'reasoning_test':
            assert set(anchors) == {(11, 13), (13, 11)}
            np.testing.assert_array_equal(assigned_B, sum_B)
            continue
        assert {is_memory(pair) for pair in anchors} == {name == 'memory'}
        assert len(set(anchors)) == (100 if name == 'memory' else 98)
        assert set(map(tuple, probes.tokens_PBT[p].tolist())) <= training
        facts_B = zip(decoded.key_B.tolist(), anchors, strict=True)
        assert assigned_B == [facts.label_of[fact] for fact in facts_B]


def test_without_masked_pairs_every_pair_is_trained():
    config = MemoryReasoningConfig(masked=())
    task = tasks.make(config)
    assert task.probe_names == ('memory', 'reasoning_train')
    assert task.num_train == 200_000
    assert task.deviation is None
    facts = collect_facts(config, draw_batch(config, 2_000))
    assert len(facts.count_of) == 200


def test_three_tokens_leave_no_room_for_noise():
    config = MemoryReasoningConfig(seq_len=3)
    tokens_BT = draw_batch(config, 1_000).tokens_BT
    assert ((tokens_BT[:, 0] >= 21) & (tokens_BT[:, 0] < 121)).all()
    assert (tokens_BT[:, 1:] < 21).all()


def test_a_data_set_is_its_seed_under_jit_and_vmap():
    task = tasks.make(PAPER)

    def draw(seed: int | jax.Array, index_B: jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(jax.random.key(seed)), index_B)

    index_B = jnp.array([5, 199_979, 0, 77])
    mapped = jax.vmap(draw, in_axes=(0, None))(jnp.array([0, 1]), index_B)
    shuffled = jax.jit(draw)(1, index_B[::-1])
    np.testing.assert_array_equal(mapped.tokens_BT[1], shuffled.tokens_BT[::-1])
    np.testing.assert_array_equal(mapped.targets_BQ[1], shuffled.targets_BQ[::-1])
    assert (mapped.tokens_BT[0] != mapped.tokens_BT[1]).any(1).all()


@st.composite
def configs(draw: st.DrawFn) -> MemoryReasoningConfig:
    """Any valid task: other ranges of tokens, other q, lengths and masked rows."""
    q = draw(st.integers(1, 3))
    num_memory, num_reasoning = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    first = draw(st.integers(0, 5))
    second = first + num_memory + draw(st.integers(0, 3))
    key = second + num_reasoning + draw(st.integers(0, 3))
    anchor = st.integers(second, second + num_reasoning - 1)
    masked = st.lists(st.tuples(*[anchor] * q), max_size=1, unique=True)
    return MemoryReasoningConfig(
        seq_len=q + draw(st.integers(1, 4)),
        q=q,
        keys=(key, key + draw(st.integers(1, 9))),
        memory_anchors=(first, first + num_memory),
        reasoning_anchors=(second, second + num_reasoning),
        masked=tuple(draw(masked)),
        ordered=draw(st.booleans()),
        num_examples=1_000,
        vocab=128,
        probe_examples=8,
    )


@settings(max_examples=8, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**31 - 1))
def test_any_valid_task_labels_its_sequences(config, seed):
    facts = collect_facts(config, draw_batch(config, 100, seed))
    for (key, anchors), label in facts.label_of.items():
        assert anchors not in config.masked
        if anchors[0] >= config.reasoning_anchors[0]:
            assert label == key + sum(anchors)
        else:
            assert config.keys[0] <= label < config.keys[1]
