"""The anchor task says what the paper says: labels, counts, eval sets (PAPERS 1.1)."""

from typing import NamedTuple

import chex
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.training.curves import curve_coordinates
from tests.support import cases
from tests.tasks.draws import draw_batch, draw_eval_sets

NUM_TRAIN = 759_375  # of the paper's data set


class Examples(NamedTuple):
    """Training examples, decoded."""

    tokens_BT: np.ndarray
    answer_B: np.ndarray
    position_B: np.ndarray
    key_B: np.ndarray
    pair_B2: np.ndarray


def draw_examples(
    config: AnchorsConfig, number: int | None = None, seed: int = 0
) -> Examples:
    """The first training examples, or all."""
    batch = draw_batch(config, number, seed)
    assert batch.weights_BQ is None
    decoded = cases.decode(batch.tokens_BT, config.anchors, config.order)
    return Examples(batch.tokens_BT, batch.targets_BQ[:, 0], *decoded)


@pytest.fixture(scope='module')
def whole() -> Examples:
    """Every training example of the paper's data set."""
    return draw_examples(AnchorsConfig())


def look_up(pair_B2: np.ndarray, mapping: int = 2) -> np.ndarray:
    """The shifts of pairs in the table by hand, [B]; mapping 2 is what is trained."""
    shift_AA = np.array(list(cases.TABLE.values()))[:, mapping].reshape(4, 4)
    first_B, second_B = pair_B2.T - 1
    return shift_AA[first_B, second_B]


def test_truth_table():
    config = AnchorsConfig()
    assert anchors.MAPPINGS == ('composed', 'symmetric', 'assigned')
    pairs = anchors.list_pairs(config).tolist()
    assert list(map(tuple, pairs)) == list(cases.TABLE)
    shifts = anchors.list_shifts(config).tolist()
    assert list(map(tuple, shifts)) == list(cases.TABLE.values())


def test_every_training_sequence_holds_its_label(whole):
    is_item = (whole.tokens_BT >= 20) & (whole.tokens_BT < 100)
    assert is_item.sum() == NUM_TRAIN * 7  # keys and noise
    expected = whole.key_B + look_up(whole.pair_B2)
    np.testing.assert_array_equal(whole.answer_B, expected)


def test_every_seen_pair_has_50625_examples_and_the_unseen_none(whole):
    counts_AA = np.zeros((4, 4), int)
    np.add.at(counts_AA, tuple(whole.pair_B2.T - 1), 1)
    expected_AA = np.full((4, 4), 50_625)
    expected_AA[3, 2] = 0  # (4, 3)
    np.testing.assert_array_equal(counts_AA, expected_AA)


def test_positions_and_noise_are_uniform(whole):
    shares = np.bincount(whole.position_B) / NUM_TRAIN
    np.testing.assert_allclose(shares, 1 / 7, rtol=0.02)
    ends_before_the_last = whole.position_B <= 5
    noise = whole.tokens_BT[ends_before_the_last, 8]
    shares = np.bincount(noise)[20:] / len(noise)
    np.testing.assert_allclose(shares, 1 / 80, rtol=0.06)


@pytest.mark.parametrize(
    ('order', 'last_token', 'positions'),
    [
        ('key_first', 'any', range(7)),
        ('anchors_first', 'any', range(7)),
        ('key_first', 'pair', [6]),
    ],
)
def test_eval_sets_ask_what_they_say_with_every_mapping(order, last_token, positions):
    config = AnchorsConfig(order=order, last_token=last_token)
    task = config.make()
    eval_sets = draw_eval_sets(config)
    assert eval_sets.weights_PBQ is None
    chex.assert_shape(eval_sets.targets_PRBQ, (3, 3, 8192, 1))
    assert task.group_names == tuple(f'at_{position}' for position in positions)
    seen = set(cases.TABLE) - {(4, 3)}
    for i, expected_pairs in enumerate((seen, seen, {(4, 3)})):
        position_B, x, pair_B2 = cases.decode(eval_sets.tokens_PBT[i], order=order)
        group_B = position_B - positions[0]
        np.testing.assert_array_equal(eval_sets.groups_PB[i], group_B)
        assert set(map(tuple, pair_B2.tolist())) == expected_pairs
        for r in range(3):
            expected = x + look_up(pair_B2, r)
            np.testing.assert_array_equal(eval_sets.targets_PRBQ[i, r, :, 0], expected)


@st.composite
def configs(draw: st.DrawFn) -> AnchorsConfig:
    """Any valid task: anchors below, above or on both sides of the keys; any shifts."""
    low = draw(st.integers(20, 30))
    keys = (low, low + draw(st.integers(6, 30)))
    outside = st.integers(0, low - 1) | st.integers(keys[1], 90)
    tokens = tuple(draw(st.lists(outside, min_size=2, max_size=5, unique=True)))
    shifts = tuple(draw(st.integers(-9, 9)) for _ in tokens)
    pair = st.tuples(st.sampled_from(tokens), st.sampled_from(tokens))
    unseen = tuple(draw(st.lists(pair, max_size=3, unique=True)))
    exceptions = draw(st.dictionaries(pair, st.integers(-18, 18), max_size=3))
    noninferential = tuple((*pair, shift) for pair, shift in exceptions.items())
    order = draw(st.sampled_from(('key_first', 'anchors_first')))
    last_tokens = ('any', 'noise', 'pair') if order == 'key_first' else ('any', 'noise')
    last_token = draw(st.sampled_from(last_tokens))
    return AnchorsConfig(
        seq_len=draw(st.integers(4 if last_token == 'noise' else 3, 12)),
        keys=keys,
        anchors=tokens,
        shifts=shifts,
        noninferential=noninferential,
        unseen=unseen,
        order=order,
        last_token=last_token,
        split='random',
        holdout=0.3,
        vocab=128,
    )


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**31 - 1))
def test_any_valid_task_labels_its_sequences(config, seed):
    examples = draw_examples(config, 50, seed)
    x = examples.key_B
    assert ((x >= config.keys[0]) & (x < config.keys[1])).all()
    exceptions = {(a, b): shift for a, b, shift in config.noninferential}
    shift = dict(zip(config.anchors, config.shifts, strict=True))
    rows = zip(x, examples.pair_B2.tolist(), examples.answer_B, strict=True)
    for key, (a, b), answer in rows:
        assert (a, b) not in config.unseen
        assert answer == key + exceptions.get((a, b), shift[a] + shift[b])


def test_answers_to_the_unseen_pair_are_named_by_the_pair_that_has_them():
    names = anchors.name_offsets(AnchorsConfig())
    # The composed answer to (4, 3) is x - 10; another pair's shift plus 10.
    assert names == {
        0: 'composed',
        4: 'symmetric',  # (3, 4) was trained as x - 6
        20: '(1, 1)',
        16: '(1, 2) or (2, 1)',
        13: '(1, 3) or (3, 1)',
        7: '(1, 4) or (4, 1)',
        12: '(2, 2)',
        9: '(2, 3) or (3, 2)',
        3: '(2, 4) or (4, 2)',
        6: '(3, 3)',
        -6: '(4, 4)',
    }
    both_unseen = AnchorsConfig(noninferential=(), unseen=((4, 3), (3, 4)))
    assert anchors.name_offsets(both_unseen)[0] == 'composed'
    assert 4 not in anchors.name_offsets(both_unseen)


def test_the_exception_may_be_as_unseen_as_the_pair_that_is_asked_about():
    config = AnchorsConfig(exception='unseen')
    assert config.unseen_pairs == ((4, 3), (3, 4))
    pair_B2 = draw_examples(config, 2_000).pair_B2
    assert not {(3, 4), (4, 3)} & set(map(tuple, pair_B2.tolist()))
    task = config.make()
    assert task.eval_set_names == ('seen_train', 'seen_heldout', 'unseen', 'unseen_34')
    assert task.num_train == 14 * 50_625
    # Nobody was taught x - 6, so that it has no name but that of the rule.
    names = anchors.name_offsets(config)
    assert names[0] == 'composed' and names[4] == 'symmetric'
    named_twice = AnchorsConfig(exception='unseen', unseen=((4, 3), (3, 4)))
    assert named_twice.unseen_pairs == ((4, 3), (3, 4))


@pytest.mark.slow
def test_a_number_of_anchors_takes_the_first_ones():
    six = {'anchors': (1, 2, 3, 4, 5, 6), 'shifts': (5, 1, -2, -8, 3, -4)}
    few = AnchorsConfig(eval_examples=64)
    some = AnchorsConfig(**six, num_anchors=4, eval_examples=64)
    assert some.make().num_train == few.make().num_train
    assert anchors.name_offsets(some) == anchors.name_offsets(few)
    batch = draw_batch(few, 64)
    chex.assert_trees_all_equal(batch, draw_batch(some, 64))
    chex.assert_trees_all_equal(draw_eval_sets(few), draw_eval_sets(some))
    roles = [config.make().roles(batch.tokens_BT) for config in (few, some)]
    chex.assert_trees_all_equal(*roles)


@pytest.mark.parametrize(
    ('order', 'sequences', 'roles'),
    [
        (
            'key_first',
            [[50, 3, 4, 23, 24, 25], [20, 51, 1, 2, 24, 25], [20, 21, 22, 52, 4, 4]],
            ('key', 'anchor_1', 'anchor_2'),
        ),
        (
            'anchors_first',
            [[3, 4, 50, 23, 24, 25], [20, 1, 2, 51, 24, 25], [20, 21, 22, 4, 4, 52]],
            ('anchor_1', 'anchor_2', 'key'),
        ),
    ],
)
def test_key_and_anchors_stand_side_by_side_in_their_order(order, sequences, roles):
    noise_BT = jnp.tile(jnp.arange(20, 26), (3, 1))
    keys = jnp.array([50, 51, 52])
    pairs = jnp.array([(3, 4), (1, 2), (4, 4)])
    tokens_BT = anchors.place(noise_BT, jnp.array([0, 1, 3]), keys, pairs, order)
    assert tokens_BT.tolist() == sequences
    role_BT = anchors.find_roles(AnchorsConfig(seq_len=6, order=order), tokens_BT)
    names_BT = np.array(anchors.ROLES)[np.asarray(role_BT)]
    assert names_BT.tolist() == [
        [*roles, 'noise', 'noise', 'last'],
        ['noise', *roles, 'noise', 'last'],
        ['noise', 'noise', 'noise', *roles],
    ]


def test_without_an_unseen_pair_every_pair_is_trained():
    config = AnchorsConfig(unseen=())
    task = config.make()
    assert task.num_train == 16 * 50_625
    assert task.eval_set_names == ('seen_train', 'seen_heldout')
    assert task.deviation is None
    assert curve_coordinates(task)['offset'] == []
    examples = draw_examples(config, 500)
    assert set(map(tuple, examples.pair_B2.tolist())) == set(cases.TABLE)


# The wrong shifts by hand, in P1's order, from the text of PAPERS 1.5.
WRONG = {(1, 2): 4, (1, 3): 1, (1, 4): -5, (2, 3): 5, (2, 4): -9, (3, 4): -6}


def make_complex(complexity: int, **fields) -> AnchorsConfig:
    plain = {'noninferential': (), 'unseen': (), 'eval_examples': 64} | fields
    return AnchorsConfig(complexity=complexity, **plain)


def look_up_shift(pair: tuple[int, int], complexity: int) -> int:
    """What a pair is trained on, by hand."""
    wrong = dict(list(WRONG.items())[:complexity])
    return wrong.get(tuple(sorted(pair)), cases.TABLE[pair][0])


@pytest.mark.parametrize('complexity', range(7))
def test_the_first_pairs_are_wrong_in_both_orders_and_no_other(complexity):
    config = make_complex(complexity)
    pairs = map(tuple, anchors.list_pairs(config).tolist())
    shifts = anchors.list_shifts(config).tolist()
    num_wrong = 0
    for pair, (composed, symmetric, assigned) in zip(pairs, shifts, strict=True):
        assert composed == cases.TABLE[pair][0]
        assert assigned == symmetric == look_up_shift(pair, complexity), pair
        num_wrong += assigned != composed
    assert num_wrong == 2 * complexity


def test_labels_are_those_shifts_and_groups_are_the_pairs():
    complexity = 5
    config = make_complex(complexity, groups='pair', eval_examples=160)
    names = config.make().group_names
    batch, eval_sets = draw_batch(config, 160, seed=1), draw_eval_sets(config, seed=1)
    targets_B = eval_sets.targets_PRBQ[0, anchors.MAPPINGS.index('assigned'), :, 0]
    asked = [(batch.tokens_BT, batch.targets_BQ[:, 0])]
    asked.append((eval_sets.tokens_PBT[0], targets_B))
    for tokens_BT, answers_B in asked:
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        for pair, key, answer in zip(pairs_B2, keys_B, answers_B, strict=True):
            assert answer == key + look_up_shift(tuple(pair.tolist()), complexity)
    for group, (a, b) in zip(eval_sets.groups_PB[0], pairs_B2, strict=True):
        assert names[group] == f'{a}{b}'
