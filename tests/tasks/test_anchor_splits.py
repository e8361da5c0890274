"""Which keys of the anchor task are trained and which are held out (PAPERS 1.1)."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support import cases
from tests.tasks.draws import draw_batch

KEYS = np.arange(20, 100)
OTHERS = ('paper', 'random')  # splits that the two of a test contain
draw_keys = jax.jit(anchors.draw_training_keys, static_argnums=0)


def draw_training_keys(config: AnchorsConfig, seed: int = 0) -> np.ndarray:
    """[pair, position, key], whether the key is trained there."""
    return np.asarray(draw_keys(config, jax.random.key(seed)))


@pytest.mark.parametrize(('split', 'modulus'), [('code', 9), ('paper', 7)])
def test_official_splits(split, modulus):
    trained = draw_training_keys(AnchorsConfig(split=split))
    for position in range(7):
        assert (trained[:, position] == (KEYS % modulus != position)).all()


def test_random_split_holds_8_keys_of_each_pair_at_every_position():
    config = AnchorsConfig(split='random')
    trained = draw_training_keys(config)
    assert ((~trained).sum(-1) == 8).all()
    assert (trained == trained[:, :1]).all()
    assert len(np.unique(trained[:, 0], axis=0)) == 10  # unordered pairs
    assert (trained != draw_training_keys(config, seed=1)).any()


def test_random_position_split_holds_other_keys_at_every_position():
    trained = draw_training_keys(AnchorsConfig(split='random_position'))
    assert ((~trained).sum(-1) == 8).all()
    rows = trained.reshape(16 * 7, 80)
    assert len(np.unique(rows, axis=0)) == 10 * 7


def test_last_noise_leaves_out_the_last_position():
    config = AnchorsConfig(split='random', seq_len=6, last_token='noise')
    chex.assert_shape(draw_training_keys(config), (16, 3, 80))
    assert config.make().group_names == ('at_0', 'at_1', 'at_2')
    batch = draw_batch(config, 2_000)
    position_B, _, _ = cases.decode(batch.tokens_BT)
    assert set(position_B.tolist()) == {0, 1, 2}
    assert (batch.tokens_BT[:, -1] >= 20).all()  # never an anchor


@pytest.mark.parametrize(('split', 'modulus'), [('code', 6), ('paper', 4)])
def test_last_pair_leaves_one_position_with_its_own_keys(split, modulus):
    config = AnchorsConfig(split=split, seq_len=6, last_token='pair')
    trained = draw_training_keys(config)
    chex.assert_shape(trained, (16, 1, 80))
    # The key stands at position 3 of 0 to 5.
    assert (trained[:, 0] == (KEYS % modulus != 3)).all()
    assert config.make().group_names == ('at_3',)
    tokens_BT = draw_batch(config, 2_000).tokens_BT
    position_B, x_B, _ = cases.decode(tokens_BT)
    assert set(position_B.tolist()) == {3}
    assert (x_B % modulus != 3).all()


@pytest.mark.parametrize(
    ('split', 'order'),
    [
        ('code', 'anchors_first'),
        ('random_position', 'key_first'),
        *(pytest.param(s, 'key_first', marks=pytest.mark.slow) for s in OTHERS),
    ],
)
def test_training_and_heldout_keys_never_meet(split, order):
    config = AnchorsConfig(split=split, order=order)
    task = config.make()
    data = jax.jit(task.make_data)(jax.random.key(3))
    ordered_keys = np.asarray(data.key_items)
    num_trained = np.asarray(data.num_trained)
    # The two parts are disjoint and cover the keys.
    assert (np.sort(ordered_keys, -1) == KEYS).all()
    rows = anchors.list_pairs(config).tolist()

    def list_trained(tokens_BT: jax.Array) -> np.ndarray:
        """Whether the key of each sequence is a trained one of its pair there."""
        position_B, key_B, pair_B2 = cases.decode(tokens_BT, order=order)
        row_B = [rows.index(pair) for pair in pair_B2.tolist()]
        is_key_BK = ordered_keys[row_B, position_B] == key_B[:, None]
        return is_key_BK.argmax(1) < num_trained[row_B, position_B]

    batch = jax.jit(task.batch)(data, jnp.arange(4_000))
    assert list_trained(batch.tokens_BT).all()
    seen, heldout, unseen = jax.jit(task.eval_sets)(data).tokens_PBT
    assert list_trained(seen).all()
    assert list_trained(unseen).all()
    assert not list_trained(heldout).any()
