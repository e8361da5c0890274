"""Two runs side by side: the settings that differ, and differences by seed."""

import numpy as np

from analysis.p1 import compare
from tests.support.planted_results import plant_curves
from tests.support.sweeps import experiment

SEEDS = {'grid__seed': (0, 1, 2), 'static_axes': (('model.depth', (1, 2)),)}


def test_differences_are_those_of_partners_and_settings_go_by_dotted_name(tmp_path):
    """γ 0.8 and seeds 1, 2 are in both; the rates differ, and one has two depths."""
    other = {'grid__seed': (1, 2, 3), 'grid__gamma': (0.8,)}
    other |= {'model__depth': 2, 'grid__learning_rate': (3e-3,)}
    runs = {
        'a': plant_curves(tmp_path / 'a', experiment(**SEEDS)),
        'b': plant_curves(tmp_path / 'b', experiment(**other)),
    }
    told = compare.list_settings(runs)
    for field in ('grid.gamma', 'grid.learning_rate', 'model.depth', 'static_axes'):
        assert field in told
    assert 'task.' not in told and 'width' not in told
    table = compare.subtract(runs)
    table = table.set_index(table.claim)
    values = []
    for run in runs.values():
        last = run.results.agreement.sel(eval_set='unseen', mapping='composed')
        last = last.sel(gamma=0.8, seed=[1, 2])
        values.append(last.sel(depth=2) if 'depth' in last.dims else last)
    expected = float(values[0].mean() - values[1].mean())
    row = table.loc['depth 2, γ 0.8: composed']
    assert row.n == 2 and np.isclose(row.value, expected)
    assert (row.first_name, row.second_name, row.verdict) == ('a', 'b', '')
    is_paired = table.index.str.startswith('depth 2, γ 0.8: ')
    assert (table.n == 2 * is_paired).all() and is_paired.sum() == 4
    curves = compare.compute(runs)
    last = curves[curves.step == 40].groupby(['setting', 'run', 'seed'])
    found = last.unseen_composed.first()['depth 2, γ 0.8']
    assert np.isclose(found['a'][[1, 2]].mean(), float(values[0].mean()))
