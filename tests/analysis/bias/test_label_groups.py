"""Answers by group: planted ones are counted by hand, and decide each way."""

import numpy as np
import pytest

from analysis import label_groups
from analysis.bias.readings import networks
from analysis.members.member import member_of
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

RANGES = np.array([[21, 25], [21, 33]])  # p2_tasks.GROUPS: anchors 1, 2 and 3, 4


def test_groups_are_those_of_the_first_anchor():
    tokens = np.array([[22, 1, 2], [22, 3, 4], [30, 4, 4], [30, 2, 1]])
    found = label_groups.find_groups(tokens, (1, 5), per_group=2)
    assert found.tolist() == [0, 1, 1, 0]
    assert label_groups.find_groups(tokens[:, [1, 2, 0]], (1, 5), 2).tolist() == [
        0,
        1,
        1,
        0,
    ]


def answer_by_bias(member, answers):
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
def test_planted_answers_are_counted(open_sweep):
    """Anchors 1 and 2 answer 22; of 3 and 4, 4 decides: 24 and 30."""
    member = member_of(open_sweep('groups'), gamma=0.8, seed=0)
    planted = answer_by_bias(member, {1: 22, 2: 22, 3: 24, 4: 30})
    share, accuracy = label_groups.measure_answers(planted)
    # The probe has every combination equally often: (3, 3) is one in four.
    np.testing.assert_allclose(share, [[1, 1], [1 / 4, 1]])
    tokens = member.probes.tokens_PBT[0]
    labels = member.probes.labels_PRB[0, 0]
    is_first = np.isin(tokens, (1, 2)).any(-1)
    assert accuracy[0] == pytest.approx((labels[is_first] == 22).mean())


@pytest.mark.slow
def test_a_sweep_is_measured_at_every_snapshot(open_sweep):
    run = open_sweep('groups')
    result = label_groups.compute(run, early=5)
    np.testing.assert_array_equal(result.ranges, RANGES)
    assert result.share.shape == (6, 5, 2, 2) and result.early == 5
    np.testing.assert_allclose(result.chance, [4 / 64, 12 / 64])
    # The curves have the accuracy of every group, too.
    curves = run.curves.agreement_by_group.sel(probe='memory', mapping='assigned')
    of_member = curves.sel(gamma=0.3, seed=2, step=20, drop=True).squeeze()
    names = ['labels_21_24', 'labels_21_32']
    recorded = of_member.sel(group=names).values
    np.testing.assert_allclose(result.accuracy[2, -1], recorded, atol=1e-6)
    assert np.ptp(draw_pixels(result, label_groups)) > 0


@pytest.mark.slow
def test_a_task_without_groups_is_one_clear_line(open_sweep):
    with pytest.raises(UserError, match=r'task.label_ranges = \(\): this figure is'):
        label_groups.compute(open_sweep('flow'))


def make_result(own, of_widest, accuracy=(0, 0, 0, 1)):
    """Three seeds at one gamma; shares at steps 0, 5, 10 and 20, early is 5.

    Args:
      own: share of the first group in its own range.
      of_widest: share of the second group there.
    """
    members = {
        'gamma': np.full(3, 0.8),
        'seed': np.arange(3),
        'setting': np.full(3, ''),
        'train_loss': np.full(3, 1.0),
        'converged': np.full(3, False),
    }
    share = np.ones((3, 4, 2, 2))
    share[:, :, 0, 0] = own - 0.001 * np.arange(3)[:, None]
    share[:, :, 1, 0] = of_widest
    share[:, 0] = 0  # before training nothing is inside: it is no early step
    share[:, 3] = 0  # nor is one at which the labels are learned
    return label_groups.Result(
        members=members,
        step_S=np.array([0, 5, 10, 20]),
        early=5,
        ranges=RANGES,
        share=share,
        accuracy=np.tile(np.array(accuracy)[None, :, None], (3, 1, 2)),
        chance=np.array([0.06, 0.19]),
    )


@pytest.mark.parametrize(
    ('own', 'of_widest', 'words'),
    [
        (1, 0.3, 'holds'),
        (1, 1, 'does not hold'),  # every group gets the same answers
        (0.5, 0.3, 'does not hold'),
        (0.02, 0.3, 'opposite'),
    ],
)
def test_the_range_decides_each_way(own, of_widest, words):
    reading = networks.read_own_range(make_result(own, of_widest), '')
    assert reading.verdict.words == words
    assert 'steps 5 to 10' in reading.note


def test_early_ends_when_a_group_is_learned_and_the_early_step_always_counts():
    result = make_result(1, 0, accuracy=(1, 0, 0.7, 0))
    assert networks.find_early_answers(result, 0).tolist() == [
        False,
        True,
        False,
        False,
    ]
    learned = make_result(1, 0, accuracy=(0, 1, 1, 1))
    assert networks.find_early_answers(learned, 0).tolist() == [
        False,
        True,
        False,
        False,
    ]
