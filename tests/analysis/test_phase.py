"""The phase diagram is what one computes by hand; drawing it twice gives its bytes."""

import types

import numpy as np
import pytest
import xarray as xr

from analysis import phase
from anchorjax.errors import UserError
from tests.support.sweeps import tree_hash

PROBES = ('seen_heldout', 'unseen')
MAPPINGS = ('inferential', 'symmetric', 'assigned')
RATES, SEEDS = (1.0, 2.0), (0, 1)
# Agreement at gamma 0.3, by learning rate (rows) and seed (columns).
SEEN_ASSIGNED = [[1.0, 1.0], [0.2, 0.4]]
UNSEEN_INFERENTIAL = [[0.9, 0.1], [0.5, 0.3]]
UNSEEN_SYMMETRIC = [[0.0, 0.95], [0.6, 0.6]]


def plant_results() -> xr.Dataset:
    """Results of depth 2 at gamma 0.3; gamma 0.8 is not trained."""
    grid = {
        'depth': [2],
        'gamma': [0.3, 0.8],
        'learning_rate': list(RATES),
        'weight_decay': [0.0],
        'seed': list(SEEDS),
    }
    coordinates = {**grid, 'probe': list(PROBES), 'mapping': list(MAPPINGS)}
    sizes = [len(values) for values in coordinates.values()]
    agreement = xr.DataArray(np.zeros(sizes), coordinates)
    at = {'depth': 2, 'gamma': 0.3, 'weight_decay': 0.0}
    agreement.loc[at | {'probe': 'seen_heldout', 'mapping': 'assigned'}] = SEEN_ASSIGNED
    agreement.loc[at | {'probe': 'unseen', 'mapping': 'inferential'}] = (
        UNSEEN_INFERENTIAL
    )
    agreement.loc[at | {'probe': 'unseen', 'mapping': 'symmetric'}] = UNSEEN_SYMMETRIC
    agreement.loc[{'gamma': 0.8}] = np.nan
    trained = agreement.isel(probe=0, mapping=0, drop=True).notnull()
    return xr.Dataset({'agreement': agreement, 'trained': trained})


def test_the_phase_diagram_is_what_one_computes_by_hand():
    result = phase.compute(plant_results())
    assert result.learning_rate == RATES[0]  # the best one on seen pairs
    assert result.members == 4
    assert result.row_name == 'depth'
    # Over the rates the maximum of each seed, then the mean over the seeds.
    best_inferential = (0.9 + 0.3) / 2
    best_symmetric = (0.6 + 0.95) / 2
    np.testing.assert_allclose(result.best[:, 0, 0], [best_inferential, best_symmetric])
    np.testing.assert_allclose(result.fixed[:, 0, 0], [0.5, 0.475])
    np.testing.assert_allclose(result.seen_best[0, 0], 1.0)
    np.testing.assert_allclose(result.seen_fixed[0, 0], 1.0)
    np.testing.assert_allclose(result.fraction[:, 0, 0], [0.5, 0.5, 0.0, 0.0])


def test_what_is_not_trained_is_nan():
    result = phase.compute(plant_results())
    for values in (result.best, result.fixed, result.fraction):
        assert np.isnan(values[:, 0, 1]).all()


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
