"""Moments and ratios put into planted curves are found, bounds included."""

import numpy as np
import pytest

from analysis import learning_order
from analysis.bias.readings import learning
from analysis.changes.moments import find_crossings
from analysis.learning_order import PROBES, TEST
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

LAST = 100.0


def test_a_crossing_is_interpolated_between_records():
    steps = np.array([10, 20, 40])
    losses = np.array([[4, 1, 4, 9], [2, 1, 4, 9], [1, 9, 4, 2.5]], float)
    found = find_crossings(steps, losses, threshold=3)
    # 4 to 2 crosses 3 half way; below from the start; never; 9 to 2.5: 6 of 6.5 down.
    expected = [15, 10, np.nan, 20 + 20 * 6 / 6.5]
    np.testing.assert_allclose(found, expected)
    assert np.isnan(find_crossings(steps, np.full((3, 1), np.nan), 3)).all()


def test_ratios_and_their_bounds_by_hand():
    never = np.nan
    moment = np.array(
        [[60, 20, 30], [never, 20, never], [60, never, 30], [never, never, never]]
    )
    ratio, bound = learning_order.divide_moments(moment, LAST)
    np.testing.assert_allclose(ratio[0], [1, 3, 2])
    np.testing.assert_allclose(ratio[1], [never, 5, never])
    np.testing.assert_allclose(ratio[2], [1, 0.6, 2])
    assert np.isnan(ratio[3]).all()
    assert bound.tolist() == [[0, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0]]


@pytest.fixture
def run(open_sweep):
    return open_sweep('transformer')


@pytest.mark.slow
def test_the_curves_are_those_of_the_sweep(run):
    result = learning_order.compute(run)
    assert result.loss_MSP.shape == (6, 4, 3)
    assert result.threshold == pytest.approx(np.log(64) / 2)
    point = {'gamma': 0.8, 'seed': 1}
    curve = run.curves.sel(point).squeeze()
    m = int(((result.members['gamma'] == 0.8) & (result.members['seed'] == 1)).argmax())
    for p, probe in enumerate(PROBES):
        of_probe = curve.sel(probe=probe)
        np.testing.assert_array_equal(result.loss_MSP[m, :, p], of_probe.probe_loss)
        accuracy = of_probe.agreement.sel(mapping='assigned')
        np.testing.assert_array_equal(result.accuracy_MSP[m, :, p], accuracy)
    assert result.members['seed'].tolist() == [0, 1, 2] * 2


@pytest.mark.slow
def test_drawn_twice_is_the_same(run):
    result = learning_order.compute(run, share=0.9)
    first = draw_pixels(result, learning_order)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, learning_order))


@pytest.mark.slow
def test_another_task_or_share_is_one_clear_line(run, finished):
    with pytest.raises(UserError, match="task 'anchors': this figure is about"):
        learning_order.compute(finished)
    with pytest.raises(UserError, match=r'share = 1\.5: must be between 0 and 1'):
        learning_order.compute(run, share=1.5)


def make_result(moments, converged=True, accuracy=0.0):
    """Three seeds at gammas 0.3 and 0.8 with these moments of every probe."""
    moment_MP = []
    for gamma in (0.3, 0.8):
        for seed in range(3):
            jitter = 1 + 0.01 * seed
            row = np.array(moments[gamma], float)
            row[0] *= jitter
            moment_MP.append(row)
    moment_MP = np.array(moment_MP)
    ratio, bound = learning_order.divide_moments(moment_MP, LAST)
    members = {
        'gamma': np.repeat([0.3, 0.8], 3),
        'seed': np.tile([0, 1, 2], 2),
        'setting': np.full(6, ''),
        'train_loss': np.full(6, 0.01),
        'converged': np.full(6, converged),
    }
    return learning_order.Result(
        members=members,
        step_S=np.array([50, 100]),
        loss_MSP=np.zeros((6, 2, 3)),
        accuracy_MSP=np.full((6, 2, 3), accuracy) + 0.001 * np.arange(6)[:, None, None],
        threshold=2.0,
        moment_MP=moment_MP,
        ratio_MP=ratio,
        bound_MP=bound,
    )


AS_PAPER = {0.3: (30, 30, np.nan), 0.8: (60, 20, 20)}
REVERSED = {0.3: (60, 20, 20), 0.8: (20, 60, 60)}
FLAT = {0.3: (30, 25, np.nan), 0.8: (30, 25, 28)}


@pytest.mark.parametrize(
    ('moments', 'read', 'words'),
    [
        (AS_PAPER, learning.read_nearly_identical, 'holds'),
        (REVERSED, learning.read_nearly_identical, 'does not hold'),
        (AS_PAPER, learning.read_sums_first, 'holds'),
        (REVERSED, learning.read_sums_first, 'opposite'),
        (FLAT, learning.read_sums_first, 'does not hold'),
        (AS_PAPER, learning.read_bias_grows, 'holds'),
        (REVERSED, learning.read_bias_grows, 'opposite'),
    ],
)
def test_ratios_decide_each_way(moments, read, words):
    reading = read(make_result(moments), '')
    assert reading.verdict.words == words, reading
    assert '3 of 3 converged, train loss 0.01' in reading.note


@pytest.mark.parametrize(
    ('moments', 'words', 'number'),
    [
        ((np.nan, 20, np.nan), 'holds', 'ratio ≥ 5.00'),
        ((np.nan, 90, np.nan), 'undecided', 'ratio ≥ 1.11'),  # it may be larger
        ((60, np.nan, np.nan), 'opposite', 'ratio ≤ 0.61'),
        ((np.nan, np.nan, np.nan), 'undecided', 'ratio nan'),
    ],
)
def test_a_bound_decides_only_what_it_can(moments, words, number):
    result = make_result({0.3: (30, 30, 30), 0.8: moments})
    reading = learning.read_sums_first(result, '')
    assert reading.verdict.words == words
    assert number in reading.number


def test_a_loss_that_never_falls_is_not_nearly_identical():
    """The last step is within the limit of the other moment; the moment is later."""
    result = make_result({0.3: (np.nan, 90, np.nan), 0.8: (30, 30, 30)})
    reading = learning.read_nearly_identical(result, '')
    assert reading.verdict.words == 'undecided'
    assert 'ratio ≥ 1.11' in reading.number


def test_moments_in_words():
    describe = learning.describe_moments
    assert describe(np.array([1000.0, 2000.0])) == 'at step 1,500'
    assert describe(np.array([1000.0, np.nan])) == 'at step 1,000 (1 of 2 never)'
    assert describe(np.array([np.nan])) == 'never'


def test_moments_need_no_convergence_and_say_so():
    reading = learning.read_sums_first(make_result(AS_PAPER, converged=False), '')
    assert reading.verdict.words == 'holds'
    assert '0 of 3 converged, train loss 0.01 (not required: moments' in reading.note
    assert 'ratio 3.03 [2.96, 3.11]' in reading.number


def test_without_convergence_nothing_is_said_of_the_end_but_the_number_is_shown():
    result = make_result(AS_PAPER, converged=False, accuracy=0.95)
    for read in (learning.read_test_unlearned, learning.read_test_learned):
        reading = read(result, '')
        assert reading.verdict.words == 'undecided'
        assert 'converged at γ 0.' in reading.note
        assert 'at least 3 needed' in reading.note
        assert reading.number.startswith('test accuracy 0.95 [')


@pytest.mark.parametrize(
    ('accuracy', 'unlearned', 'learned'),
    [
        (0.01, 'holds', 'opposite'),
        (0.5, 'does not hold', 'does not hold'),
        (0.95, 'opposite', 'holds'),
    ],
)
def test_accuracies_decide_each_way(accuracy, unlearned, learned):
    result = make_result(AS_PAPER, accuracy=accuracy)
    assert learning.read_test_unlearned(result, '').verdict.words == unlearned
    assert learning.read_test_learned(result, '').verdict.words == learned


def test_masked_combinations_have_a_ratio_of_their_own():
    reading = learning.read_sums_first(make_result(AS_PAPER), '', probe=TEST)
    assert reading.verdict.words == 'holds'
    assert 'reasoning test at step 20' in reading.number


def test_near_labels_are_compared_with_uniform_ones_seed_by_seed():
    result = make_result(AS_PAPER)
    settings = np.repeat(['memory_labels=uniform', 'memory_labels=near'], 3)
    members = result.members | {'setting': settings, 'gamma': np.full(6, 0.8)}
    moments = result.moment_MP.copy()
    moments[:3, 0], moments[3:, 0] = (80, 82, 84), (40, 40, 41)
    result = result._replace(members=members, moment_MP=moments)
    reading = learning.read_near_labels(result, '')
    assert reading.verdict.words == 'holds'
    assert reading.number.startswith(
        'uniform at step 82, near at step 40; ratio 2.03 ['
    )
    exchanged = result._replace(moment_MP=np.roll(moments, 3, axis=0))
    assert learning.read_near_labels(exchanged, '').verdict.words == 'opposite'
    never = moments.copy()
    never[:3, 0] = np.nan  # uniform labels are not learned by the last step: a bound
    reading = learning.read_near_labels(result._replace(moment_MP=never), '')
    assert reading.verdict.words == 'holds' and 'ratio ≥ 2.48' in reading.number
    reading = learning.read_near_labels(
        result._replace(moment_MP=np.roll(never, 3, axis=0)), ''
    )
    assert reading.verdict.words == 'opposite' and 'ratio ≤ 0.40' in reading.number
    alone = result._replace(members=members | {'setting': np.full(6, '')})
    assert learning.read_near_labels(alone, '').verdict.words == 'undecided'
