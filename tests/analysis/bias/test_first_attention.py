"""Attention that averages, one that stares, and a W_V that reads planted directions."""

import numpy as np
import pytest

from analysis import first_attention
from analysis.bias.alignment import expect_random_alignment, measure_values
from analysis.bias.attention import (
    attend_to_key,
    average_by_position,
    expect_random_distance,
    find_keys,
    measure_distance,
    remove_positions,
)
from analysis.bias.readings import networks
from analysis.bias.tokens import SINGLE_KINDS as KINDS
from analysis.members.member import member_of
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels


def test_the_distance_by_hand():
    mean = np.array([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert measure_distance(mean[None]) == pytest.approx(0)
    # Rows that read themselves alone: 1/2 and 2/3 away; the first is left out.
    assert measure_distance(np.eye(3)[None]) == pytest.approx((1 / 2 + 2 / 3) / 2)
    both = np.stack([mean, np.eye(3)])
    assert measure_distance(both) == pytest.approx(7 / 24)


def test_random_rows_are_as_far_as_an_integral_says():
    # Of two weights: the mean of |u - 1/2| for uniform u.
    assert expect_random_distance(2) == pytest.approx(1 / 4, abs=0.01)
    assert 0.25 < expect_random_distance(9) < 0.4


def test_a_planted_direction_is_the_first_vector_of_w_v():
    rng = np.random.default_rng(0)
    W_embed = rng.normal(size=(6, 30))
    W_embed[2:4] = [[5] + [0] * 29, [-1] + [0] * 29]
    W_embed[4:, 0] = 0
    W_V = np.zeros((30, 7))
    W_V[0] = 3 * np.eye(7)[2]
    W_V[1] = np.eye(7)[4]
    tokens = {'reasoning': np.array([2, 3]), 'memory': np.array([4, 5])}
    found = measure_values(W_V, W_embed, tokens)
    np.testing.assert_allclose(found.sigma[:3], [3, 1, 0], atol=1e-12)
    np.testing.assert_allclose(found.alignment[:, 0], [1, 0], atol=1e-12)
    assert found.alignment[0, 1] == pytest.approx(0, abs=1e-12)


def test_random_directions_by_their_integral():
    # In the plane |cos| of a uniform angle: mean 2 / pi, 95 % quantile sin(0.475 pi).
    mean, bound = expect_random_alignment(2)
    assert mean == pytest.approx(2 / np.pi, abs=0.01)
    assert bound == pytest.approx(np.sin(0.475 * np.pi), abs=0.01)
    wide, _ = expect_random_alignment(64)
    assert wide == pytest.approx(np.sqrt(2 / np.pi / 64), abs=0.01)


@pytest.fixture
def member(open_sweep):
    return member_of(open_sweep('transformer'), gamma=0.8, seed=0)


def test_the_key_is_where_it_was_put(member):
    tokens_BT = np.array([[30, 25, 11, 12, 22], [25, 1, 2, 22, 23]])
    assert find_keys(member, tokens_BT).tolist() == [1, 0]
    probes = member.probes.tokens_PBT[0]
    keys = find_keys(member, probes)
    assert set(keys.tolist()) == {0, 1, 2}
    row = np.arange(len(probes))
    assert (probes[row, keys] >= 21).all() and (probes[row, keys + 1] < 5).all()


def stare_at_the_second_position(member):
    """Layer 2 of this member reads position 1, by the position embedding alone."""
    params = {
        name: dict(value) if isinstance(value, dict) else value
        for name, value in member.params.items()
    }
    width = params['W_pos'].shape[1]
    W_pos = np.zeros_like(params['W_pos'])
    W_pos[1, 0] = 1
    W_embed = np.zeros_like(params['W_embed'])
    W_embed[:, 1] = 1  # a query that is the same everywhere
    first = {name: np.zeros_like(leaf) for name, leaf in flat(params['block_0'])}
    second = dict(params['block_1'])
    head = second['W_Q'].shape[1]
    W_Q, W_K = np.zeros((2, width, head), np.float32)
    W_Q[1, 0] = W_K[0, 0] = 8
    second |= {'W_Q': W_Q, 'W_K': W_K}
    params |= {'W_pos': W_pos, 'W_embed': W_embed, 'block_1': second}
    first |= {name: params['block_0'][name] for name in ('LN_attn', 'LN_mlp')}
    params['block_0'] = first
    return member._replace(params=params)


def flat(block):
    return [(name, leaf) for name, leaf in block.items() if not isinstance(leaf, dict)]


def test_a_network_that_reads_a_position_is_blind_without_positions(member):
    planted = stare_at_the_second_position(member)
    tokens_BT = member.probes.tokens_PBT[0]
    keys = find_keys(planted, tokens_BT)
    attention = attend_to_key(planted, tokens_BT)
    by_position = average_by_position(attention, keys, 4)
    assert by_position[1] > 0.95 and by_position[[0, 2]].max() < 0.02
    assert np.isnan(by_position[3])  # no key stands there
    blind = attend_to_key(remove_positions(planted), tokens_BT)
    np.testing.assert_allclose(blind, 1 / 5, atol=1e-4)


def test_a_small_start_averages_and_a_sweep_has_all_numbers(open_sweep):
    result = first_attention.compute(open_sweep('transformer'), number=40)
    is_small = result.members['gamma'] == 0.8
    assert result.distance[is_small, 0].max() < 0.03
    assert result.distance[~is_small, 0].min() > 0.05
    assert result.step_S.tolist() == [0, 1, 5, 10, 20]
    np.testing.assert_allclose(result.key[is_small, 0], 0.2, atol=0.03)
    np.testing.assert_allclose(np.nansum(result.attention, -1), 1, atol=1e-5)
    assert result.key_by_position.shape == (6, 3) and (result.chance_M == 0.2).all()
    sums = result.sources.sum(-1)
    np.testing.assert_allclose(sums, 1, atol=1e-5)
    assert np.ptp(draw_pixels(result, first_attention)) > 0


@pytest.mark.slow
def test_a_model_without_attention_is_one_clear_line(open_sweep):
    with pytest.raises(UserError, match="model 'emb_mlp': it has no attention"):
        first_attention.compute(open_sweep('flow'))


def make_result(**numbers):
    """Three seeds at one gamma; numbers at steps 0 and 50, the untrained ones at 0."""
    noise = 0.01 * np.array([-1, 0, 1])

    def spread(value, shape=()):
        planted = np.zeros((3, 2, *shape))
        planted[:, 1] = np.broadcast_to(value, shape)
        return planted + noise.reshape(3, *[1] * (planted.ndim - 1))

    members = {
        'gamma': np.full(3, 0.8),
        'seed': np.arange(3),
        'setting': np.full(3, ''),
        'train_loss': np.full(3, 1.0),
        'converged': np.full(3, False),
    }
    return first_attention.Result(
        members=members,
        step_S=np.array([0, 50]),
        early=50,
        attention=np.zeros((3, 5, 5)),
        distance=spread(numbers.get('distance', 0)),
        random_distance_M=np.full(3, 0.3),
        sigma=np.zeros((3, 4)),
        sigma_ratio=spread(numbers.get('sigma_ratio', 1)),
        alignment=spread(numbers.get('alignment', np.zeros((3, 3))), (3, 3)),
        random_alignment=np.array([0.1, 0.25]),
        key=spread(numbers.get('key', 0)),
        key_by_position=np.zeros((3, 3)),
        key_without_positions=numbers.get('blind', 0.2) * np.ones(3),
        chance_M=np.full(3, 0.2),
        sources=np.full((3, 2, 2), [0.3, 0.7]),
        role_names=('key', 'noise'),
    )


def align(memory, reasoning):
    alignment = np.zeros((3, 3))
    alignment[KINDS.index('memory'), 0] = memory
    alignment[KINDS.index('reasoning'), 0] = reasoning
    return alignment


def test_what_the_last_position_reads_most_is_named():
    reading = networks.read_key(make_result(key=0.9), '')
    expected = 'layer 1 reads most of noise (0.70), layer 2 reads most of noise (0.70)'
    assert expected in reading.note


@pytest.mark.parametrize(
    ('read', 'numbers', 'words'),
    [
        (networks.read_average, {'distance': 0.05}, 'holds'),
        (networks.read_average, {'distance': 0.2}, 'does not hold'),
        (networks.read_average, {'distance': 0.5}, 'opposite'),
        (networks.read_average, {'distance': 0.1}, 'undecided'),
        (networks.read_one_large_value, {'sigma_ratio': 4}, 'holds'),
        (networks.read_one_large_value, {'sigma_ratio': 1.2}, 'does not hold'),
        (networks.read_alignment, {'alignment': align(0.1, 0.9)}, 'holds'),
        (networks.read_alignment, {'alignment': align(0.9, 0.1)}, 'opposite'),
        (networks.read_alignment, {'alignment': align(0.9, 0.9)}, 'does not hold'),
        (networks.read_alignment, {'alignment': align(0.1, 0.5)}, 'undecided'),
        (networks.read_key, {'key': 0.9, 'blind': 0.2}, 'holds'),
        (networks.read_key, {'key': 0.9, 'blind': 0.9}, 'does not hold'),  # by content
        (networks.read_key, {'key': 0.02, 'blind': 0.2}, 'opposite'),
        (networks.read_key, {'key': np.nan, 'blind': 0.2}, 'undecided'),
    ],
)
def test_every_claim_of_fig_6_can_come_out_each_way(read, numbers, words):
    assert read(make_result(**numbers), '').verdict.words == words
