"""The phase diagram is what one computes by hand; drawing it twice gives its bytes."""

import types

import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from analysis.drawing import style
from analysis.members.solution import SOLUTIONS
from analysis.p1 import phase, solutions
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from anchorjax.training.curves import DEVIATION_LIMIT
from tests.support.sweeps import opened, tree_hash

PROBES = ('seen_heldout', 'unseen')
MAPPINGS = ('inferential', 'symmetric', 'assigned')
RATES, SEEDS = (1.0, 2.0), (0, 1)
# Agreement at gamma 0.3, by learning rate (rows) and seed (columns).
SEEN_ASSIGNED = [[1.0, 1.0], [0.2, 0.4]]
UNSEEN_INFERENTIAL = [[0.9, 0.1], [0.5, 0.3]]
UNSEEN_SYMMETRIC = [[0.0, 0.95], [0.6, 0.6]]


def plant_results(converged: ArrayLike = True) -> xr.Dataset:
    """Results of depth 2 at gamma 0.3; gamma 0.8 is not trained.

    Args:
      converged: which members have, by learning rate and seed.
    """
    grid = {
        'depth': [2],
        'gamma': [0.3, 0.8],
        'learning_rate': list(RATES),
        'weight_decay': [0.0],
        'seed': list(SEEDS),
    }
    scores = {**grid, 'probe': list(PROBES), 'mapping': list(MAPPINGS)}
    agreement = make_zeros(scores)
    at = {'depth': 2, 'gamma': 0.3, 'weight_decay': 0.0}
    agreement.loc[at | {'probe': 'seen_heldout', 'mapping': 'assigned'}] = SEEN_ASSIGNED
    agreement.loc[at | {'probe': 'unseen', 'mapping': 'inferential'}] = (
        UNSEEN_INFERENTIAL
    )
    agreement.loc[at | {'probe': 'unseen', 'mapping': 'symmetric'}] = UNSEEN_SYMMETRIC
    agreement.loc[{'gamma': 0.8}] = np.nan
    trained = agreement.isel(probe=0, mapping=0, drop=True).notnull()
    is_converged = xr.full_like(trained, False)
    is_converged.loc[at] = converged
    by_group = make_zeros({**scores, 'group': ['at_0', 'at_1']})
    offsets = [*range(-DEVIATION_LIMIT, DEVIATION_LIMIT + 1), 'beyond']
    variables = {
        'agreement': agreement,
        'agreement_by_group': by_group.where(trained),
        'deviation': make_zeros({**grid, 'offset': list(map(str, offsets))}),
        'trained': trained,
        'converged': is_converged,
    }
    return xr.Dataset(variables)


def make_zeros(coordinates: dict[str, list]) -> xr.DataArray:
    sizes = [len(values) for values in coordinates.values()]
    return xr.DataArray(np.zeros(sizes), coordinates)


def plant_member(results: xr.Dataset, scores: dict[str, float], **place: float) -> None:
    """Sets what a member answers to the unseen pair, by mapping."""
    for mapping, score in scores.items():
        where = {'probe': 'unseen', 'mapping': mapping, 'gamma': 0.3}
        results.agreement.loc[where | place] = score


def shares_of(result: phase.Result) -> dict[str, float]:
    """The shares of the solutions at gamma 0.3, those above 0."""
    shares = dict(zip(SOLUTIONS, result.fraction[:, 0, 0].tolist(), strict=True))
    return {solution: share for solution, share in shares.items() if share > 0}


def test_the_phase_diagram_is_what_one_computes_by_hand():
    result = phase.compute(plant_results())
    assert result.learning_rate == RATES[0]  # the best one on seen pairs
    assert result.members == result.converged == 4
    assert result.row_name == 'depth'
    # Over the rates the maximum of each seed, then the mean over the seeds.
    best_inferential = (0.9 + 0.3) / 2
    best_symmetric = (0.6 + 0.95) / 2
    np.testing.assert_allclose(result.best[:, 0, 0], [best_inferential, best_symmetric])
    np.testing.assert_allclose(result.fixed[:, 0, 0], [0.5, 0.475])
    np.testing.assert_allclose(result.seen_best[0, 0], 1.0)
    np.testing.assert_allclose(result.seen_fixed[0, 0], 1.0)
    fraction = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(result.fraction[:, 0, 0], fraction)
    assert result.converged_best[0, 0] == result.converged_fixed[0, 0] == 1.0


# Members by learning rate (rows; the first is `fixed`) and seed (columns).
@pytest.mark.parametrize(
    ('converged', 'shares', 'converged_fixed', 'converged_best'),
    [
        ([[1, 1], [1, 0]], {'inferential': 0.5, 'symmetric': 0.5}, 1.0, 0.75),
        ([[1, 1], [0, 0]], {'inferential': 0.5, 'symmetric': 0.5}, 1.0, 0.5),
        ([[1, 0], [1, 1]], {'inferential': 1.0}, 0.5, 0.75),
        ([[0, 1], [0, 0]], {'symmetric': 1.0}, 0.5, 0.25),
    ],
)
def test_the_shares_are_those_of_converged_seeds(
    converged, shares, converged_fixed, converged_best
):
    everyone = phase.compute(plant_results())
    result = phase.compute(plant_results(np.array(converged, bool)))
    assert shares_of(result) == shares
    assert result.fraction[:, 0, 0].sum() == 1
    assert result.converged_fixed[0, 0] == converged_fixed
    assert result.converged_best[0, 0] == converged_best
    assert (result.members, result.converged) == (4, np.sum(converged))
    # The agreement is that of all seeds, as in the paper.
    np.testing.assert_array_equal(result.best, everyone.best)
    np.testing.assert_array_equal(result.fixed, everyone.fixed)
    np.testing.assert_array_equal(result.seen_fixed, everyone.seen_fixed)


def test_where_no_seed_has_converged_there_is_no_share():
    # At the rate of `fixed`; all have at the other one.
    result = phase.compute(plant_results([[False, False], [True, True]]))
    assert np.isnan(result.fraction[:, 0, 0]).all()
    assert result.converged_fixed[0, 0] == 0
    assert result.converged_best[0, 0] == 0.5
    assert result.converged == 2


def test_the_shares_tell_all_solutions_apart():
    results = plant_results()
    first_rate = {'learning_rate': RATES[0]}
    halves = {'inferential': 0.5, 'symmetric': 0.5}
    plant_member(results, halves, seed=0, **first_rate)
    neither = {'inferential': 0.0, 'symmetric': 0.05}
    plant_member(results, neither, seed=1, **first_rate)
    assert shares_of(phase.compute(results)) == {'other': 1.0}

    unseen = {'gamma': 0.3, 'probe': 'unseen', 'seed': 0, **first_rate}
    by_group = results.agreement_by_group
    by_group.loc[unseen | {'mapping': 'inferential'}] = [1.0, 0.0]
    by_group.loc[unseen | {'mapping': 'symmetric'}] = [0.0, 1.0]
    at_third = {'gamma': 0.3, 'seed': 1, 'offset': '-6', **first_rate}
    results.deviation.loc[at_third] = 0.95
    assert shares_of(phase.compute(results)) == {'half and half': 0.5, 'third': 0.5}

    seen = {'probe': 'seen_heldout', 'mapping': 'assigned', 'gamma': 0.3}
    results.agreement.loc[seen | {'seed': 1, **first_rate}] = 0.85
    by_hand = {'half and half': 0.5, 'memorizing': 0.5}
    assert shares_of(phase.compute(results)) == by_hand


def test_what_is_not_trained_is_nan():
    result = phase.compute(plant_results())
    for values in (result.best, result.fixed, result.fraction):
        assert np.isnan(values[:, 0, 1]).all()
    assert np.isnan(result.converged_best[0, 1])
    assert np.isnan(result.converged_fixed[0, 1])


def test_a_member_that_is_not_trained_is_not_one_that_has_not_converged():
    results = plant_results([[True, True], [True, False]])
    missing = {'gamma': 0.3, 'learning_rate': RATES[1], 'seed': 0}
    for name in ('agreement', 'agreement_by_group'):
        results[name].loc[missing] = np.nan
    results.trained.loc[missing] = False
    results.converged.loc[missing] = False
    result = phase.compute(results)
    assert (result.members, result.converged) == (3, 2)
    np.testing.assert_allclose(result.converged_best[0, 0], 2 / 3)
    assert result.converged_fixed[0, 0] == 1.0


@pytest.mark.parametrize(
    ('converged', 'is_dotted', 'explanation'),
    [
        ([[1, 1], [1, 1]], (False, False, False), 'not all converged (4 of 4 have)'),
        ([[1, 1], [1, 0]], (True, False, False), 'not all converged (3 of 4 have)'),
        ([[1, 0], [1, 1]], (True, True, True), 'not all converged (3 of 4 have)'),
        ([[0, 0], [0, 0]], (True, True, True), 'none of the 4 trained members has'),
    ],
)
def test_dots_mark_cells_that_have_not_all_converged(converged, is_dotted, explanation):
    result = phase.compute(plant_results(np.array(converged, bool)))
    with style.open_figure(2, 3) as (figure, axes):
        phase.draw(result, axes)
        assert f'dots: {explanation}' in figure.get_suptitle()
        for column, expected in enumerate(is_dotted):
            for row in (0, 1):
                dotted = find_hatched(axes[row, column], '....')
                # The cell at gamma 0.8 is empty: nothing is known of it.
                assert dotted == ([(0, 0)] if expected else [])
                assert find_hatched(axes[row, column], '////') == []


def test_dots_and_lines_stand_in_the_same_cell():
    results = plant_results(False)
    seen = {'probe': 'seen_heldout', 'mapping': 'assigned', 'gamma': 0.3}
    results.agreement.loc[seen] = 0.5
    with style.open_figure(2, 3) as (_, axes):
        phase.draw(phase.compute(results), axes)
        for axis in axes.flat:
            assert find_hatched(axis, '....') == find_hatched(axis, '////') == [(0, 0)]


def test_one_learning_rate_has_no_best_one():
    results = plant_results().isel(learning_rate=[0])
    result = phase.compute(results)
    np.testing.assert_array_equal(result.best, result.fixed)
    assert phase.layout(phase.compute(plant_results())).columns == 3
    assert phase.layout(result).columns == 2
    with style.open_figure(2, 2) as (_, axes):
        phase.draw(result, axes)
        titles = [axis.get_title() for axis in axes[0]]
    assert titles == [
        'inferential: learning rate 1',
        'inferential: share of converged seeds',
    ]


def find_hatched(axis: Axes, pattern: str) -> list[tuple[int, int]]:
    """The cells (column, row) of a panel with this hatch."""
    cells = []
    for patch in axis.patches:
        if patch.get_hatch() == pattern:
            assert (patch.get_width(), patch.get_height()) == (1, 1)
            cells.append((patch.get_x() + 0.5, patch.get_y() + 0.5))
    return cells


@pytest.mark.slow
def test_drawing_twice_gives_the_same_bytes(finished, tmp_path):
    first = phase.save(finished, tmp_path / 'first')
    second = phase.save(finished, tmp_path / 'second')
    assert {path.suffix for path in first} == {'.png', '.pdf', '.npz'}
    assert len(first) == len(second)
    hashes = tree_hash(tmp_path)
    for path in first:
        if path.suffix != '.npz':  # it holds the time at which it was written
            twin = tmp_path / 'second' / path.name
            assert hashes[str(path)] == hashes[str(twin)]


def test_a_task_without_the_probe_has_no_diagram(tmp_path):
    """Its sweep still ends well: launch/sweep.py draws what there is."""
    results = plant_results().drop_sel(probe='seen_heldout')
    run = types.SimpleNamespace(results=results)
    assert phase.save(run, tmp_path) == [] and not list(tmp_path.iterdir())
    with pytest.raises(UserError, match='needs a probe seen_heldout'):
        phase.compute(results)


def test_the_table_of_an_untrained_run_is_refused(tmp_path, capsys):
    opened(tmp_path)
    with pytest.raises(UserError, match='no member is trained yet'):
        solutions.command([f'--run={tmp_path}'])


def test_two_static_axes_without_an_unseen_pair_are_one_row_each(tmp_path):
    """Such a sweep has no deviations: an array of size 0, which xarray cannot stack."""
    changes = {'task__noninferential': (), 'task__unseen': ()}
    loop = (('model.depth', (1, 2)), ('task.complexity', (0, 3)))
    opened(tmp_path, loop=loop, **changes)
    result = phase.compute(open_run(tmp_path).results)
    assert result.rows.tolist() == ['1, 0', '1, 3', '2, 0', '2, 3']
    assert result.seen_fixed.shape == (4, 2) and np.isnan(result.seen_fixed).all()


def test_an_unseen_pair_without_the_two_rules_counts_as_none():
    """A task of one's own may have a probe `unseen` with mappings of other names."""
    renamed = plant_results().assign_coords(mapping=['swapped', 'lost', 'assigned'])
    result = phase.compute(renamed)
    assert result.fixed.shape == (0, 1, 2)
    expected = phase.compute(plant_results()).seen_fixed
    np.testing.assert_array_equal(result.seen_fixed, expected)
