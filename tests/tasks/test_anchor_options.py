"""Options of the anchor task that the paper does not use: order, no unseen pair."""

import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.tasks import AnchorsConfig, anchors
from anchorjax.training.curves import curve_coordinates
from tests.support import cases
from tests.tasks.draws import draw_batch

ALL_PAIRS = tuple(cases.TABLE)


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
    assert [[anchors.ROLES[i] for i in row] for row in role_BT.tolist()] == [
        [*roles, 'noise', 'noise', 'last'],
        ['noise', *roles, 'noise', 'last'],
        ['noise', 'noise', 'noise', *roles],
    ]


@pytest.mark.parametrize('split', ['code', 'random'])
def test_the_order_moves_three_tokens_and_changes_no_answer(split):
    key_first = draw_batch(AnchorsConfig(split=split), 500)
    anchors_first = draw_batch(AnchorsConfig(split=split, order='anchors_first'), 500)
    np.testing.assert_array_equal(key_first.targets_BQ, anchors_first.targets_BQ)
    position_B, key_B, pair_B2 = cases.decode(key_first.tokens_BT)
    decoded = cases.decode(anchors_first.tokens_BT, order='anchors_first')
    np.testing.assert_array_equal(decoded[0], position_B)
    np.testing.assert_array_equal(decoded[1], key_B)
    np.testing.assert_array_equal(decoded[2], pair_B2)
    shifts = np.array([cases.TABLE[tuple(pair)][2] for pair in pair_B2.tolist()])
    np.testing.assert_array_equal(anchors_first.targets_BQ[:, 0], key_B + shifts)
    offset_BT = np.arange(9) - position_B[:, None]
    is_noise_BT = (offset_BT < 0) | (offset_BT > 2)
    np.testing.assert_array_equal(
        np.asarray(anchors_first.tokens_BT)[is_noise_BT],
        np.asarray(key_first.tokens_BT)[is_noise_BT],
    )


def test_without_an_unseen_pair_every_pair_is_trained():
    config = AnchorsConfig(unseen=())
    task = config.make()
    assert task.num_train == 16 * 50_625
    assert task.probe_names == ('seen_train', 'seen_heldout')
    assert task.deviation is None
    assert curve_coordinates(task)['offset'] == []
    batch = draw_batch(config, 500)
    _, key_B, pair_B2 = cases.decode(batch.tokens_BT)
    assert set(map(tuple, pair_B2.tolist())) == set(ALL_PAIRS)
    shifts = np.array([cases.TABLE[tuple(pair)][2] for pair in pair_B2.tolist()])
    np.testing.assert_array_equal(batch.targets_BQ[:, 0], key_B + shifts)
