"""Networks with a planted mechanism: attention, answers by group, and exact paths."""

import numpy as np
import pytest
import xarray as xr

from analysis.members.untrained import make_untrained
from analysis.p2 import first_attention, label_groups, theory_path
from analysis.p2.networks import (
    SINGLE_KINDS,
    average_training,
    find_last_before,
    list_panels,
    list_tokens,
)
from analysis.theory import trajectories
from analysis.theory.label_law import read_examples
from analysis.theory.trajectories import Weights
from anchorjax.errors import UserError
from tests.support.p2_tasks import relative_error

STEPS = [1, 5, 10, 20]


@pytest.mark.parametrize(
    ('moment', 'early'), [(14.6, 10), (10, 5), (0.5, 1), (np.nan, 20)]
)
def test_early_is_the_last_step_before_a_moment(moment, early):
    assert find_last_before(STEPS, moment) == early


def test_the_distance_by_hand():
    mean = np.array([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert first_attention.measure_distance(mean[None]) == pytest.approx(0)
    # Rows that read themselves alone: 1/2 and 2/3 away; the first is left out.
    expected = (1 / 2 + 2 / 3) / 2
    assert first_attention.measure_distance(np.eye(3)[None]) == pytest.approx(expected)
    both = np.stack([mean, np.eye(3)])
    assert first_attention.measure_distance(both) == pytest.approx(7 / 24)


@pytest.mark.parametrize('steps', [[0, 50, 100], [0, 1, 2, 3, 7, 50, 100], [0, 100]])
def test_a_mean_over_training_does_not_depend_on_where_records_are(steps):
    rising = xr.DataArray([steps], {'step': steps}, ('member', 'step')) / 100
    assert average_training(rising).item() == pytest.approx(0.5)


def test_random_rows_are_as_far_as_drawn_ones():
    rng = np.random.default_rng(0)
    rows_BTT = np.zeros((4_000, 5, 5))
    for t in range(5):
        rows_BTT[:, t, : t + 1] = rng.dirichlet(np.ones(t + 1), 4_000)
    drawn = first_attention.measure_distance(rows_BTT)
    assert first_attention.expect_random_distance(5) == pytest.approx(drawn, abs=0.005)


@pytest.mark.parametrize(
    ('rows', 'expected'),
    [
        # In the plane |cos| of a uniform angle: its 95 % quantile is sin(0.475 pi).
        ([[1, 0]], np.sin(0.475 * np.pi)),
        ([[1, 0], [-3, 0]], np.sin(0.475 * np.pi)),
        # (|cos| + |sin|) / 2 = cos(a) / sqrt(2), a uniform in 45 degrees either way.
        ([[1, 0], [0, 1]], np.cos(0.0125 * np.pi) / np.sqrt(2)),
    ],
)
def test_random_directions_by_their_integral(rows, expected):
    bound = first_attention.bound_random_alignment(np.array(rows, float))
    assert bound == pytest.approx(expected, abs=0.003)


@pytest.fixture
def member(open_sweep):
    return open_sweep('transformer').network(gamma=0.8, seed=0)


@pytest.mark.slow
def test_a_planted_direction_is_the_first_vector_of_w_v(member):
    """Reasoning anchors lie along it, memory anchors and keys orthogonal to it."""
    rng = np.random.default_rng(0)
    W_embed = rng.normal(size=(64, 8))
    W_embed[:, 0] = 0
    W_embed[11:15] = np.outer([5, -1, 2, 3], np.eye(8)[0])
    W_V = np.zeros((8, 4))
    W_V[0, 2] = 3
    W_V[1, 3] = 1
    block = member.params['block_0'] | {'W_V': W_V}
    planted = member.params | {'W_embed': W_embed, 'block_0': block}
    planted = member._replace(params=planted)
    sigma, alignment, bound = first_attention.measure_values(planted)
    np.testing.assert_allclose(sigma, [3, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(alignment, [0, 1, 0], atol=1e-12)
    # Only the reasoning anchors are parallel: of the others a mean varies less.
    assert bound.argmax() == 1


@pytest.mark.slow
def test_the_key_is_where_it_was_put(member):
    tokens_BT = np.array([[30, 25, 11, 12, 22], [25, 1, 2, 22, 23]])
    assert first_attention.find_keys(member, tokens_BT).tolist() == [1, 0]
    eval_sets = member.eval_sets.tokens_PBT[0]
    keys = first_attention.find_keys(member, eval_sets)
    assert set(keys.tolist()) == {0, 1, 2}
    row = np.arange(len(eval_sets))
    assert (eval_sets[row, keys] >= 21).all() and (eval_sets[row, keys + 1] < 5).all()


def stare_at_the_second_position(member):
    """Layer 2 of this member reads position 1, by the position embedding alone."""
    width = member.params['W_pos'].shape[1]
    W_pos = np.zeros_like(member.params['W_pos'])
    W_pos[1, 0] = 1
    W_embed = np.zeros_like(member.params['W_embed'])
    W_embed[:, 1] = 1  # a query that is the same everywhere
    first = {}
    for name, leaf in member.params['block_0'].items():
        is_norm = isinstance(leaf, dict)
        first[name] = leaf if is_norm else np.zeros_like(leaf)
    second = dict(member.params['block_1'])
    W_Q, W_K = np.zeros((2, width, second['W_Q'].shape[1]), np.float32)
    W_Q[1, 0] = W_K[0, 0] = 8
    second |= {'W_Q': W_Q, 'W_K': W_K}
    planted = {'W_pos': W_pos, 'W_embed': W_embed, 'block_0': first, 'block_1': second}
    return member._replace(params=member.params | planted)


@pytest.mark.slow
def test_a_network_that_reads_a_position_is_blind_without_positions(member):
    planted = stare_at_the_second_position(member)
    tokens_BT = member.eval_sets.tokens_PBT[0]
    keys = first_attention.find_keys(planted, tokens_BT)
    for position in range(3):
        here_BT = tokens_BT[keys == position]
        found = first_attention.attend_to_key(planted, here_BT)
        assert found > 0.95 if position == 1 else found < 0.02
    blind = first_attention.attend_to_key(
        first_attention.remove_positions(planted), tokens_BT
    )
    assert blind == pytest.approx(1 / 5, abs=1e-4)


@pytest.mark.slow
def test_a_small_start_averages_and_a_sweep_has_all_numbers(open_sweep):
    result = first_attention.compute(open_sweep('transformer'))
    panels = list_panels(result)
    assert list(panels) == ['γ 0.3', 'γ 0.8']
    start = panels['γ 0.8'].sel(step=0)
    assert start.distance.max() < 0.03
    assert panels['γ 0.3'].distance.sel(step=0).min() > 0.05
    np.testing.assert_allclose(start.key, 0.2, atol=0.03)
    np.testing.assert_allclose(result.attention.sum('position'), 1, atol=1e-5)
    assert result.seed.values.tolist() == [0, 1, 2] * 2 and (result.chance == 0.2).all()
    with pytest.raises(UserError, match="model 'emb_mlp': it has no attention"):
        first_attention.compute(open_sweep('flow'))


def test_groups_are_those_of_the_first_anchor():
    tokens = np.array([[22, 1, 2], [22, 3, 4], [30, 4, 4], [30, 2, 1]])
    for order in ([0, 1, 2], [1, 2, 0]):
        found = label_groups.find_groups(tokens[:, order], (1, 5), per_group=2)
        assert found.tolist() == [0, 1, 1, 0]


def answer_by_anchor(member, answers):
    """The member with answers that depend on the anchors alone: {anchor: answer}."""
    W_embed = np.zeros((64, 6), np.float32)
    W_1 = np.eye(6, 9, dtype=np.float32)
    W_2 = np.zeros((9, 64), np.float32)
    for i, (anchor, answer) in enumerate(answers.items()):
        W_embed[anchor, i] = 1
        W_2[i, answer] = 1 + 0.1 * anchor  # of two, the larger anchor decides
    params = {'W_embed': W_embed, 'W_1': W_1, 'W_2': W_2}
    return member._replace(params=params)


@pytest.mark.slow
def test_planted_answers_are_counted_by_group(open_sweep):
    """Anchors 1 and 2 answer 22; of 3 and 4, 4 decides: 24 and 30."""
    run = open_sweep('groups')
    member = run.network(gamma=0.8, seed=0)
    planted = answer_by_anchor(member, {1: 22, 2: 22, 3: 24, 4: 30})
    found = label_groups.measure_answers(planted)
    # The eval set has every combination equally often: (3, 3) is one in four.
    np.testing.assert_allclose(found.own, [1, 1])
    np.testing.assert_allclose(found.null, [1 / 4, np.nan])
    tokens = member.eval_sets.tokens_PBT[0]
    labels = member.eval_sets.labels_PRB[0, 0]
    is_first = np.isin(tokens, (1, 2)).any(-1)
    assert found.accuracy[0] == pytest.approx((labels[is_first] == 22).mean())
    # The curves have the accuracy of every group, too.
    curves = run.curves.agreement_by_group.sel(eval_set='memory', mapping='assigned')
    of_member = curves.sel(gamma=0.3, seed=2, step=20, drop=True).squeeze()
    recorded = of_member.sel(group=['labels_21_24', 'labels_21_32'])
    result = label_groups.compute(run)
    np.testing.assert_allclose(result.accuracy[2, -1], recorded, atol=1e-6)
    with pytest.raises(UserError, match=r'task.label_ranges = \(\): this figure is'):
        label_groups.compute(open_sweep('flow'))


@pytest.mark.parametrize(
    ('accuracy', 'early'),
    [
        ([0, 0, 0, 0, 1], [False, False, True, True, False]),
        ([1, 1, 0, 0.7, 0], [False, False, True, False, False]),
        ([0, 0, 1, 1, 1], [False, False, True, False, False]),
    ],
)
def test_early_answers_end_when_a_group_is_learned(accuracy, early):
    """The early step always counts."""
    accuracies = np.tile(np.array(accuracy)[None, :, None], (1, 1, 2))
    result = xr.Dataset(
        {'accuracy': (('member', 'step', 'group'), accuracies)},
        {'step': [0, *STEPS]},
        {'early': 5},
    )
    assert label_groups.find_early_answers(result).values.tolist() == [early]


def test_a_flow_holds_until_the_step_before_its_first_failure():
    holds = np.array([[True, True, True], [True, False, True], [False, True, True]])
    planted = xr.DataArray(holds, {'step': [1, 5, 10]}, ('member', 'step'))
    assert theory_path.find_last_step(planted).values.tolist() == [10, 1, 0]


def test_the_plane_holds_a_planted_movement():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(8, 2)))[0].T
    moved = rng.normal(size=(4, 5, 2)) @ directions
    plane = theory_path.find_plane(moved)
    np.testing.assert_allclose(plane @ plane.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(moved @ plane.T @ plane, moved, atol=1e-12)


@pytest.mark.slow
def test_the_error_is_that_of_an_integrated_flow(open_sweep):
    run = open_sweep('flow')
    member = run.network(10, gamma=0.8, seed=0)
    start = make_untrained(member)
    weights = Weights(*[start.matrix(name) for name in Weights._fields])
    examples = read_examples(member.experiment.task, 0)
    moments = trajectories.measure_moments(examples, 64)
    # Ten steps of rate 250 / 1,000: time 2.5.
    ends = trajectories.integrate(trajectories.feedback_flow, moments, weights, [2.5])
    tokens_of = list_tokens(member.experiment.task)
    rows = np.concatenate([tokens_of[kind] for kind in SINGLE_KINDS])
    began = weights.W_embed[rows]
    measured = member.matrix('W_embed')[rows] - began
    expected = relative_error(ends[0].W_embed[rows] - began, measured)
    found = theory_path.compute(run).error[3].sel(flow='feedback', step=10)
    assert found == pytest.approx(expected, rel=1e-2)


@pytest.mark.slow
def test_batches_explain_the_error_of_the_frozen_flow(open_sweep):
    """Batches of eight: the deviation falls as 1 / sqrt(step)."""
    result = theory_path.compute(open_sweep('flow'))
    assert result.step.values.tolist() == STEPS
    sampling = result.sampling
    deviation = sampling / np.sqrt(1 - sampling**2)
    ratio = deviation.sel(step=1) / deviation.sel(step=20)
    np.testing.assert_allclose(ratio, np.sqrt(20))
    small = list_panels(result)['γ 0.8']
    measured = small.error.sel(flow='frozen')
    for step, tolerance in ((1, 0.1), (20, 0.5)):
        expected = small.sampling.sel(step=step)
        np.testing.assert_allclose(measured.sel(step=step), expected, rtol=tolerance)
