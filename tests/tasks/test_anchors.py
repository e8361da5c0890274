"""The anchor task says what the paper says: labels, counts, splits and probes (PAPERS 1.1)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax import tasks
from anchorjax.tasks import AnchorsConfig, anchors
from tests.support import cases

KEYS = np.arange(20, 100)


def batch_of(config, number, seed=0):
    """(tokens, labels) of the first `number` training examples, as NumPy arrays."""
    task = tasks.make(config)
    make = jax.jit(lambda key: task.batch(task.make_data(key), jnp.arange(number)))
    return tuple(map(np.asarray, make(jax.random.key(seed))))


def assigned_shift(pair_B2):
    return np.array([cases.TABLE[tuple(pair)][2] for pair in pair_B2.tolist()])


@pytest.fixture(scope='module')
def whole():
    """Every training example of the paper's data set, decoded."""
    tokens_BT, labels_B = batch_of(AnchorsConfig(), 759_375)
    return tokens_BT, labels_B, *cases.decode(tokens_BT)


def test_truth_table():
    config = AnchorsConfig()
    shifts = anchors.mapping_shifts(config)
    assert anchors.MAPPINGS == ('inferential', 'symmetric', 'assigned')
    rows = zip(anchors.pairs(config).tolist(), shifts.tolist(), strict=True)
    assert {tuple(p): tuple(s) for p, s in rows} == cases.TABLE


@pytest.mark.parametrize(('sequence', 'key', 'pair', 'answer'), cases.EXAMPLES)
def test_examples_of_the_paper(sequence, key, pair, answer):
    _, x, found = cases.decode([sequence])
    assert (x[0], tuple(found[0])) == (key, pair)
    row = [tuple(p) for p in anchors.pairs(AnchorsConfig()).tolist()].index(pair)
    assert (x + anchors.mapping_shifts(AnchorsConfig())[row] == answer).all()


def test_every_training_sequence_holds_its_label(whole):
    tokens_BT, labels_B, _, x, pair_B2 = whole
    assert tokens_BT.shape == (759_375, 9)
    assert (
        (tokens_BT >= 20) & (tokens_BT < 100)
    ).sum() == 759_375 * 7  # keys and noise
    shift = np.zeros((5, 5), int)
    for (a, b), (_, _, assigned) in cases.TABLE.items():
        shift[a, b] = assigned
    np.testing.assert_array_equal(labels_B, x + shift[pair_B2[:, 0], pair_B2[:, 1]])


def test_every_seen_pair_has_50625_examples_and_the_unseen_none(whole):
    pairs, counts = np.unique(whole[-1], axis=0, return_counts=True)
    assert set(map(tuple, pairs.tolist())) == set(cases.TABLE) - {(4, 3)}
    assert (counts == 50_625).all()


def test_official_code_split_trains_where_key_mod_9_is_not_the_position(whole):
    _, _, position, x, _ = whole
    assert set(position.tolist()) == set(range(7))
    assert not (x % 9 == position).any()
    assert len(np.unique(position * 100 + x)) == 7 * 80 - sum((KEYS % 9) < 7)


def test_positions_and_noise_are_uniform(whole):
    tokens_BT, _, position, _, _ = whole
    np.testing.assert_allclose(np.bincount(position) / 759_375, 1 / 7, rtol=0.02)
    noise = tokens_BT[position <= 5, 8]  # the pair ends before the last position
    np.testing.assert_allclose(np.bincount(noise)[20:] / len(noise), 1 / 80, rtol=0.06)


def test_counts():
    assert tasks.make(AnchorsConfig()).num_train == 15 * 50_625 == 759_375
    both = AnchorsConfig(num_examples=200_000, unseen=((3, 4), (4, 3)))
    assert tasks.make(both).num_train == 157_500
    _, _, pair_B2 = cases.decode(batch_of(both, 2_000)[0])
    assert len(np.unique(pair_B2, axis=0)) == 14
    assert not {(3, 4), (4, 3)} & set(map(tuple, pair_B2.tolist()))


@pytest.mark.parametrize(('split', 'modulus'), [('code', 9), ('paper', 7)])
def test_official_splits(split, modulus):
    trained = np.asarray(
        anchors.training_keys(AnchorsConfig(split=split), jax.random.key(0))
    )
    assert trained.shape == (16, 7, 80)
    for position in range(7):
        assert (trained[:, position] == (KEYS % modulus != position)).all()


def test_random_split_holds_8_keys_of_each_pair_at_every_position():
    config = AnchorsConfig(split='random')
    one, two = (
        np.asarray(anchors.training_keys(config, jax.random.key(s))) for s in (0, 1)
    )
    assert ((~one).sum(-1) == 8).all()
    assert (one == one[:, :1]).all()
    assert len(np.unique(one[:, 0], axis=0)) == 16
    assert (one != two).any()


@pytest.mark.parametrize('split', ['code', 'paper', 'random'])
def test_training_and_heldout_keys_never_meet(split):
    config = AnchorsConfig(split=split)
    task = tasks.make(config)
    data = jax.jit(task.make_data)(jax.random.key(3))
    order, count = np.asarray(data.order), np.asarray(data.count)
    assert (
        np.sort(order, -1) == KEYS
    ).all()  # the two parts are disjoint and cover the keys
    key_at = {tuple(p): i for i, p in enumerate(anchors.pairs(config).tolist())}

    def trained(tokens_BT):
        position, x, pair_B2 = cases.decode(tokens_BT)
        number = [key_at[tuple(p)] for p in pair_B2.tolist()]
        rows = zip(number, position, x, strict=True)
        return np.array([k in order[p, at, : count[p, at]] for p, at, k in rows])

    assert trained(jax.jit(task.batch)(data, jnp.arange(4_000)).tokens_BT).all()
    seen, heldout, unseen = jax.jit(task.probes)(data).tokens_PBT
    assert trained(seen).all() and trained(unseen).all() and not trained(heldout).any()


def test_probes_ask_what_they_say_with_every_mapping():
    task = tasks.make(AnchorsConfig())
    probes = jax.jit(lambda key: task.probes(task.make_data(key)))(jax.random.key(0))
    assert task.probe_names == ('seen_train', 'seen_heldout', 'unseen')
    seen = set(cases.TABLE) - {(4, 3)}
    for tokens_BT, labels_RB, asked in zip(
        *probes, (seen, seen, {(4, 3)}), strict=True
    ):
        _, x, pair_B2 = cases.decode(tokens_BT)
        rows = list(map(tuple, pair_B2.tolist()))
        assert set(rows) == asked
        shifts = np.array([cases.TABLE[pair] for pair in rows])
        np.testing.assert_array_equal(labels_RB, x + shifts.T)


def test_a_data_set_is_its_seed_under_jit_and_vmap():
    task = tasks.make(AnchorsConfig(split='random'))

    def batch(seed):
        return task.batch(task.make_data(jax.random.key(seed)), jnp.arange(64))

    seeds = (0, 1)
    mapped = jax.jit(jax.vmap(batch))(jnp.array(seeds))
    for s, jitted in zip(seeds, map(jax.jit(batch), seeds), strict=True):
        np.testing.assert_array_equal(jitted.tokens_BT, mapped.tokens_BT[s])
        np.testing.assert_array_equal(jitted.labels_B, mapped.labels_B[s])
    with jax.disable_jit():
        plain = batch(0)
    np.testing.assert_array_equal(plain.tokens_BT, mapped.tokens_BT[0])
    np.testing.assert_array_equal(plain.labels_B, mapped.labels_B[0])
    assert (np.asarray(mapped.tokens_BT[0] != mapped.tokens_BT[1])).any(1).all()


@st.composite
def configs(draw):
    """Any valid task: anchors below, above or on both sides of the keys; any shifts."""
    low = draw(st.integers(20, 30))
    keys = (low, low + draw(st.integers(6, 30)))
    outside = st.integers(0, low - 1) | st.integers(keys[1], 90)
    chosen = tuple(draw(st.lists(outside, min_size=2, max_size=5, unique=True)))
    shifts = tuple(draw(st.integers(-9, 9)) for _ in chosen)
    pair = st.tuples(st.sampled_from(chosen), st.sampled_from(chosen))
    unseen = tuple(draw(st.lists(pair, min_size=1, max_size=3, unique=True)))
    odd = draw(st.dictionaries(pair, st.integers(-18, 18), max_size=3))
    return AnchorsConfig(
        seq_len=draw(st.integers(3, 12)),
        keys=keys,
        anchors=chosen,
        shifts=shifts,
        noninferential=tuple((*p, s) for p, s in odd.items()),
        unseen=unseen,
        split='random',
        holdout=0.3,
        vocab=128,
    )


@settings(max_examples=8, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**31 - 1))
def test_any_valid_task_labels_its_sequences(config, seed):
    tokens_BT, labels_B = batch_of(config, 50, seed)
    _, x, pair_B2 = cases.decode(tokens_BT, config.anchors)
    assert tokens_BT.shape == (50, config.seq_len)
    assert ((x >= config.keys[0]) & (x < config.keys[1])).all()
    odd = {(a, b): s for a, b, s in config.noninferential}
    shift = dict(zip(config.anchors, config.shifts, strict=True))
    for key, (a, b), label in zip(x, pair_B2.tolist(), labels_B, strict=True):
        assert (a, b) not in config.unseen
        assert label == key + odd.get((a, b), shift[a] + shift[b])
