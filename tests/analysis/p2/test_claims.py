"""P2's numbers by hand, and its claims planted as the paper says."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from analysis.p2 import learning_order, reasoning_bias, token_cosines
from analysis.p2.claims import lag_grows, tabulate
from analysis.p2.members import COLUMNS
from analysis.p2.networks import list_panels


def test_delta_l_and_cosines_by_hand():
    losses = xr.DataArray([2.0, 3.0], {'source': ['prontoqa', 'stories']})
    assert reasoning_bias.compare_losses(losses) == 0.5
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    half = 0.5**0.5
    assert reasoning_bias.average_cosine(rows) == pytest.approx(2 * half / 3)
    assert reasoning_bias.average_cosine(np.ones((5, 4))) == pytest.approx(1)


def test_a_lag_grows_by_its_ratio_at_both_gammas():
    small = {'gamma': 0.8, 'seed': range(3), 'slow': [60, 60, np.inf], 'fast': 20.0}
    large = {'gamma': 0.3, 'seed': range(3), 'slow': 60.0, 'fast': 30.0}
    table = pd.concat([pd.DataFrame(small), pd.DataFrame(large)], ignore_index=True)
    found = lag_grows('slow', 'fast')(table.assign(num_steps=100))
    np.testing.assert_allclose(np.exp(found.values), [3 / 2, 3 / 2, 5 / 2])
    assert found.note == 'γ 0.8 never: 1 and 0, γ 0.3 never: 0 and 0'
    assert [side.bound for side in found.sides] == ['at least', '']
    assert found.bound == 'at least'
    numbers = [found.sides[0].mean.mean, found.mean.mean]
    assert numbers == pytest.approx([3.56, 1.78], abs=0.01)


def test_a_growth_that_could_be_smaller_does_not_count():
    """Seed 1 never learns the slow part at γ 0.3, seed 2 the fast one at γ 0.8."""
    small = {'gamma': 0.8, 'seed': range(3), 'slow': 60.0, 'fast': [20, 20, np.inf]}
    large = {'gamma': 0.3, 'seed': range(3), 'slow': [60, np.inf, 60], 'fast': 30.0}
    table = pd.concat([pd.DataFrame(small), pd.DataFrame(large)], ignore_index=True)
    found = lag_grows('slow', 'fast')(table.assign(num_steps=100))
    assert np.exp(found.values).to_dict() == pytest.approx({0: 3 / 2})
    assert found.note == 'γ 0.8 never: 0 and 1, γ 0.3 never: 1 and 0'


@pytest.mark.slow
def test_the_curves_are_those_of_the_sweep(open_sweep):
    run = open_sweep('near')
    result = learning_order.compute(run)
    assert result.threshold == pytest.approx(np.log(64) / 2)
    titles = []
    for labels in ('uniform', 'near'):
        titles += [f'γ 0.3, memory_labels={labels}', f'γ 0.8, memory_labels={labels}']
    panels = list_panels(result)
    assert list(panels) == titles
    member = panels['γ 0.8, memory_labels=near'].isel(member=2)
    curve = run.curves.sel(gamma=0.8, seed=2, memory_labels='near').squeeze()
    curve = curve.sel(eval_set=list(learning_order.COLOURS), mapping='assigned')
    losses = curve.eval_set_loss.transpose('step', 'eval_set')
    np.testing.assert_array_equal(member.loss, losses)
    accuracies = curve.agreement.transpose('step', 'eval_set')
    np.testing.assert_array_equal(member.accuracy, accuracies)
    assert member.train_loss == curve.train_loss[-1]


@pytest.mark.slow
def test_delta_l_and_the_columns_are_those_of_the_mixture(open_sweep):
    run = open_sweep('mixture')
    result = reasoning_bias.compute(run)
    loss = run.curves.eval_set_loss.sel(gamma=0.8, eval_set='stories').values.ravel()
    np.testing.assert_array_equal(result.loss[1].sel(source='stories'), loss)
    assert np.abs(result.cosine.sel(snapshot=0)).max() < 0.1  # Gaussian before training
    tokens = token_cosines.compute(run)
    early = result.cosine.sel(snapshot=result.early)
    np.testing.assert_array_equal(tokens['mean'], early)
    assert tokens.early == result.early
    np.testing.assert_allclose(np.einsum('mstt->mst', tokens.cosine), 1, rtol=1e-5)
    table = tabulate(run)
    assert list(table) == list(COLUMNS) and table.gamma.tolist() == [0.3, 0.8]
    gap = table.loss_stories - table.loss_prontoqa
    np.testing.assert_allclose(table.last_delta, gap / table.loss_prontoqa)
    assert np.isnan(table.memory).all()


@pytest.mark.slow
@pytest.mark.parametrize('name', ['transformer', 'flow', 'groups'])
def test_a_run_has_the_columns_that_it_is_about(open_sweep, name):
    run = open_sweep(name)
    table = tabulate(run)
    assert list(table) == list(COLUMNS) and len(table) == 6
    known = table.columns[table.notna().all()]
    own = {'transformer': 'key_blind', 'flow': 'frozen_until', 'groups': 'own_range'}
    assert {'law', 'order_early', 'moment_memory', own[name]} <= set(known)
    assert not set(known) & (set(own.values()) - {own[name]})
    expected = run.results.agreement.sel(eval_set='memory', mapping='assigned')
    np.testing.assert_array_equal(table.memory, expected.values.ravel())
