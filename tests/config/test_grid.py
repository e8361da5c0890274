"""Which member lies where: cohorts, rows, and points given by their values."""

import pathlib

import jax
import numpy as np
import pytest

from anchorjax import grid
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_DTYPES, find_point, locate, match_value
from tests.support.sweeps import experiment

LOOP = (('model.depth', (1, 2)), ('model.heads', (1, 3)))


def test_cohorts_are_the_static_combinations_and_members_the_traced_ones():
    sweep = experiment(static_axes=LOOP)
    names = [cohort.name for cohort in sweep.cohorts()]
    one, two = 'depth=1,heads=', 'depth=2,heads='
    assert names == [f'{one}1', f'{one}3', f'{two}1', f'{two}3']
    assert list(sweep.axes) == ['depth', 'heads', *TRACED_DTYPES]
    for cohort in sweep.cohorts():
        assert cohort.size == 4
        gammas = np.array([0.3, 0.3, 0.8, 0.8], np.float32)
        np.testing.assert_array_equal(cohort.hparams.gamma, gammas)
        np.testing.assert_array_equal(cohort.hparams.seed, [0, 1, 0, 1])
        for axis, dtype in TRACED_DTYPES.items():
            assert getattr(cohort.hparams, axis).dtype == dtype


def test_a_members_keys_are_of_one_generator():
    expected = jax.random.bits(grid.random_key(3, grid.DATA))
    with jax.default_prng_impl('rbg'):
        assert jax.random.bits(grid.random_key(3, grid.DATA)) == expected


def test_a_cohorts_experiment_has_its_values_and_no_static_axes():
    sweep = experiment(static_axes=LOOP)
    last = sweep.for_cohort(sweep.cohorts()[-1])
    assert (last.model.depth, last.model.heads) == (2, 3)
    assert last.static_axes == ()
    assert last == experiment(model__depth=2, model__heads=3)
    plain = experiment()
    assert plain.cohorts()[0].name == 'all'
    assert plain.for_cohort(plain.cohorts()[0]) == plain


def test_a_value_with_slashes_is_one_folder_of_its_own():
    values = ('a', 'a/', './a', '../a', '..', '/a', 'a%2F', 'a%', '%')
    cohorts = [grid.Cohort((('task.path', value),), None) for value in values]
    names = [cohort.folder_name for cohort in cohorts]
    assert len(set(names)) == len(values)
    assert all(pathlib.PurePath(name).name == name for name in names)
    assert names[:2] == ['path=a', 'path=a%2F']


def test_every_member_is_where_its_point_says():
    sweep = experiment(static_axes=LOOP)
    for index, cohort in enumerate(sweep.cohorts()):
        for row in range(cohort.size):
            point = {path.split('.')[1]: value for path, value in cohort.static}
            point['gamma'] = float(cohort.hparams.gamma[row])  # rounded to float32
            point['seed'] = int(cohort.hparams.seed[row])
            assert locate(sweep.axes, point) == (index, row)
            found = find_point(sweep.axes, index * cohort.size + row)
            assert locate(sweep.axes, found) == (index, row)


@pytest.mark.parametrize(
    ('point', 'line'),
    [
        ({'gama': 0.3}, "point: unknown axis 'gama', did you mean 'gamma'?"),
        ({'gamma': 0.3}, 'point: seed is missing: give one of (0, 1)'),
        (
            {'gamma': 0.31, 'seed': 0},
            'point: no member has gamma = 0.31; the sweep has',
        ),
    ],
)
def test_a_point_that_is_no_member_is_one_line(point, line):
    with pytest.raises(UserError) as caught:
        locate(experiment().axes, point)
    assert line in str(caught.value)


def test_floats_match_up_to_rounding_and_other_values_exactly():
    assert match_value('gamma', (0.3, 0.8), float(np.float32(0.8))) == 1
    assert match_value('eps', (1e-8, 1e-5), 1.000001e-5) == 1
    assert match_value('weight_decay', (0.0, 1.0), 1) == 1
    assert match_value('norm', ('post', 'pre'), 'pre') == 1
    assert match_value('unseen', (((4, 3),), ((3, 4),)), ((3, 4),)) == 1
    assert match_value('ordered', (False, True), True) == 1
    for values, value in [
        ((0.3,), 0.30001),
        ((0.0, 0.3), 10**400),
        ((0.3,), float('nan')),
        ((1, 2), 1.000001),
        (('post',), 0.3),
    ]:
        with pytest.raises(UserError, match='no member has x'):
            match_value('x', values, value)


WINDOWS = ((), (0, 0), (3, 8, 20, 40))


def test_windows_of_decay_are_an_axis_where_there_are_some():
    plain = experiment()
    assert 'decay_window' not in plain.axes
    assert plain.cohorts()[0].hparams.decay_window is None
    sweep = experiment(grid__decay_window=WINDOWS, static_axes=LOOP)
    assert list(sweep.axes)[-2:] == ['decay_window', 'seed']
    for index, cohort in enumerate(sweep.cohorts()):
        assert cohort.size == 12  # two gammas, three windows, two seeds
        bounds = cohort.hparams.decay_window
        assert bounds[0].tolist() == [0, 2**31 - 1, 0, 0]
        assert bounds[4].tolist() == [3, 8, 20, 40]
        assert cohort.hparams.seed.tolist() == [0, 1] * 6
        point = {path.split('.')[1]: value for path, value in cohort.static}
        point |= {'gamma': 0.8, 'decay_window': WINDOWS[2], 'seed': 1}
        assert locate(sweep.axes, point) == (index, 11)
