"""Times to fit that are put into curves are found, and decide the claims."""

import numpy as np
import pytest

from analysis.families.readings import fitting
from analysis.p3 import fitting_time
from analysis.p3.fitting_time import Result
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels

LAST = 40.0
LARGE, SMALL = 0.5, 0.8  # gammas
PAIRS = np.array([(a, b) for a in (1, 2, 3) for b in (1, 2, 3)])


def make_result(time, depths=(2, 4), levels=(0, 1, 5), seeds=5) -> Result:
    """A member for every gamma, depth, level and seed; it fits at time(...) epochs.

    Seeds differ by factors from 0.98 to 1.02. Pairs of 1 and 2 are learned twice as
    late as others where one pair is wrong and the start is small.
    """
    rng = np.random.default_rng(0)
    rows = []
    for gamma in (LARGE, SMALL):
        for depth in depths:
            for level in levels:
                for seed in range(seeds):
                    epoch = time(gamma, depth, level) * rng.uniform(0.98, 1.02)
                    rows.append((gamma, depth, level, seed, epoch))
    gamma_M, depth_M, level_M, seed_M, epoch_M = map(np.array, zip(*rows, strict=True))
    is_near_A = (PAIRS < 3).all(-1)
    is_late_M1 = ((level_M == 1) & (gamma_M == SMALL))[:, None]
    pair_epoch_MA = np.where(is_late_M1 & is_near_A, 8.0, 4.0) * epoch_M[:, None]
    is_wrong_A = np.isin(PAIRS @ (10, 1), (12, 21))
    members = {
        'gamma': gamma_M,
        'seed': seed_M,
        'setting': np.full(len(rows), ''),
        'train_loss': np.full(len(rows), 0.01),
        'converged': np.full(len(rows), True),
    }
    return Result(
        members=members,
        depth_M=depth_M,
        complexity_M=level_M,
        threshold_X=np.array([0.05, 0.1]),
        epoch_MX=np.stack([epoch_M, epoch_M / 1.1], -1),
        last_epoch=LAST,
        pairs_A2=PAIRS,
        pair_epoch_MA=pair_epoch_MA,
        is_wrong_MA=(level_M[:, None] > 0) & is_wrong_A,
        accuracy=0.99,
    )


def time_as_paper(gamma, depth, level):
    """P3 Fig 8: a small start takes twice as long with five, and less so if deep."""
    return 6.0 if gamma == LARGE else 20.0 * (1 + level / depth / 2.5)


def time_without_effect(gamma, depth, level):
    return 6.0 if gamma == LARGE else 20.0


def time_reversed(gamma, depth, level):
    return (6.0 + level) if gamma == LARGE else 20.0 / (1 + level / depth)


def time_never(gamma, depth, level):
    return np.nan if level == 5 and gamma == SMALL else 20.0


def read_all(time) -> dict[str, str]:
    result = make_result(time)
    readings = {
        'grows': fitting.read_grows(result, '', 0),
        'flat': fitting.read_flat(result, '', 0),
        'depth': fitting.read_less_with_depth(result, '', 0),
        'small': fitting.read_more_when_small(result, '', 0),
        'pairs': fitting.read_pairs_near(result, ''),
    }
    return {name: reading.verdict.words for name, reading in readings.items()}


def test_the_papers_times_make_all_claims_hold():
    assert set(read_all(time_as_paper).values()) == {'holds'}
    number = fitting.read_grows(make_result(time_as_paper), '', 0).number
    assert 'with 0, 1, 5 wrong pairs; ratio depth 2: 2.00 [' in number


def test_without_an_effect_nothing_grows():
    words = read_all(time_without_effect)
    assert words['grows'] == 'does not hold' and words['flat'] == 'holds'
    assert words['depth'] == words['small'] == 'undecided'


def test_the_reversed_pattern_is_the_opposite():
    words = read_all(time_reversed)
    assert words['grows'] == words['small'] == words['depth'] == 'opposite'
    assert words['flat'] == 'does not hold'


def test_a_network_that_never_fits_bounds_the_ratio():
    """The bound itself, 40 / 20, is above the limit: what grows at least so does."""
    words = read_all(time_never)
    assert words['grows'] == 'holds'
    assert words['depth'] == words['small'] == 'undecided'
    shorter = make_result(time_never)._replace(last_epoch=20.0)
    reading = fitting.read_grows(shorter, '', 0)
    assert reading.verdict.words == 'undecided' and '≥ ' in reading.number
    assert '5 networks never fit' in reading.note


def test_an_upper_bound_does_not_make_times_grow():
    result = make_result(time_as_paper)._replace(last_epoch=30.0)
    is_here = (result.members['gamma'] == SMALL) & (result.depth_M == 2)
    is_here &= (result.complexity_M == 0) & (result.members['seed'] == 0)
    result.epoch_MX[is_here] = np.nan
    reading = fitting.read_grows(result, '', 0)
    assert reading.verdict.words == 'undecided' and '≤ ' in reading.number


def test_growths_are_compared_seed_by_seed():
    """The seed that is missing on one side shifts nothing."""
    ratio = np.array([1.0, 2.0, 4.0])
    first = fitting.Growth(np.array([1, 2, 3]), 2 * ratio, np.zeros(3))
    ratio = np.array([9.0, *ratio])
    second = fitting.Growth(np.arange(4), ratio, np.zeros(4))
    reading = fitting._compare_growths(first, second, ('depth 2', 'depth 4'))
    assert 'quotient 2.00 [2.00, 2.00]' in reading.number
    assert reading.note == '3 seeds'


def test_two_seeds_or_one_gamma_decide_nothing():
    few = make_result(time_as_paper, seeds=2)
    assert fitting.read_grows(few, '', 0).verdict.words == 'undecided'
    one = make_result(time_as_paper)
    one.members['gamma'][:] = SMALL
    assert fitting.read_flat(one, '', 0).note == 'one gamma only'


def test_times_are_read_from_the_curves(finished):
    curves = finished.curves.squeeze(drop=True)
    middle = float(curves.train_loss.median())
    result = fitting_time.compute(finished, (middle, 1e-9))
    assert result.epoch_MX.shape == (8, 2)
    assert np.isnan(result.epoch_MX[:, 1]).all()
    steps_per_epoch = 15 * 18 / 16  # trained pairs, their examples, the batch
    assert result.last_epoch == pytest.approx(40 / steps_per_epoch)
    for m, epoch in enumerate(result.epoch_MX[:, 0]):
        gamma, seed = (result.members[name][m] for name in ('gamma', 'seed'))
        member = curves.sel(depth=result.depth_M[m], gamma=gamma, seed=seed)
        before = member.train_loss[member.step < epoch * steps_per_epoch - 1e-6]
        assert (before >= middle).all()
        assert np.isfinite(epoch) == (member.train_loss < middle).any()
    assert result.complexity_M.tolist() == [0] * 8
    assert np.isnan(result.pair_epoch_MA).all()  # its groups are positions


@pytest.mark.slow
def test_epochs_of_pairs_are_read_from_the_groups(train_once):
    run = train_once(
        'complexities',
        task__noninferential=(),
        task__unseen=(),
        task__groups='pair',
        loop=(('task.complexity', (0, 1)),),
    )
    result = fitting_time.compute(run, accuracy=1e-9)
    assert result.complexity_M.tolist() == [0] * 4 + [1] * 4
    assert result.is_wrong_MA.sum(-1).tolist() == [0] * 4 + [2] * 4
    # A pair that is never answered, not even by chance, has no epoch.
    by_pair = run.curves.agreement_by_group.sel(probe='seen_train', mapping='assigned')
    best = by_pair.max('step').squeeze(drop=True)
    best = best.transpose('complexity', 'gamma', 'seed', 'group')
    is_answered = best.values.reshape(8, 16) > 0
    np.testing.assert_array_equal(np.isfinite(result.pair_epoch_MA), is_answered)


def test_drawn_twice_is_the_same():
    result = make_result(time_never)
    first = draw_pixels(result, fitting_time)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, fitting_time))


def test_bad_input_is_one_clear_line(finished):
    with pytest.raises(UserError, match=r'thresholds = .*: must be above 0 and finite'):
        fitting_time.compute(finished, thresholds=(0.0,))
    with pytest.raises(UserError, match=r'thresholds = .*nan.*: must be above 0'):
        fitting_time.compute(finished, thresholds=(0.1, np.nan))
    with pytest.raises(UserError, match=r'accuracy = 2: must be above 0, at most 1'):
        fitting_time.compute(finished, accuracy=2)


def test_a_model_without_a_depth_is_one_clear_line():
    experiment = config.resolve(config.default(model='emb_mlp'))
    with pytest.raises(UserError, match="model 'emb_mlp': it has no depth"):
        fitting_time._read_depth(experiment)


def test_pairs_of_the_wrong_anchors_alone():
    is_wrong_A = np.isin(PAIRS @ (10, 1), (12, 21))
    near = PAIRS[fitting_time.shares_anchor(PAIRS, is_wrong_A)].tolist()
    assert near == [[1, 1], [1, 2], [2, 1], [2, 2]]
