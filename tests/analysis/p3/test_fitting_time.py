"""Times to fit are found in the curves of a tiny sweep."""

import numpy as np
import pytest
import xarray as xr

from analysis.p3 import fitting_time
from analysis.p3.members import tabulate
from tests.support.planted_results import plant_curves
from tests.support.sweeps import experiment


def test_times_are_read_from_the_curves(finished):
    curves = finished.curves.squeeze(drop=True)
    middle = float(curves.train_loss.median())
    times = fitting_time.compute(finished, (middle, 1e-9))
    assert times.epoch.shape == (8, 2)
    assert times.epoch.sel(threshold=1e-9).isnull().all()
    steps_per_epoch = 16  # of 270 examples in batches of 16: the last is dropped
    assert times.last_epoch == pytest.approx(40 / steps_per_epoch)
    for of_member in times.epoch.sel(threshold=middle):
        labels = {name: of_member[name].item() for name in ('depth', 'gamma', 'seed')}
        member = curves.sel(labels)
        epoch = of_member.item()
        before = member.train_loss[member.step < epoch * steps_per_epoch - 1e-6]
        assert (before >= middle).all()
        assert np.isfinite(epoch) == (member.train_loss < middle).any()
    assert times.complexity.values.tolist() == [0] * 8
    assert times.pair_epoch.isnull().all()  # its groups are positions


def test_epochs_of_pairs_are_read_from_the_groups(tmp_path):
    """Of two complexities; the pair (1, 2) alone is known, from step 30 on."""
    planned = experiment(
        task__noninferential=(),
        task__unseen=(),
        task__groups='pair',
        static_axes=(('task.complexity', (0, 1)),),
    )
    run = plant_curves(tmp_path, planned)
    known = {'eval_set': 'seen_train', 'mapping': 'assigned', 'group': '12'}
    run.curves.agreement_by_group[:] = 0.5
    run.curves.agreement_by_group.loc[known | {'step': [30, 40], 'complexity': 1}] = 1
    times = fitting_time.compute(run)
    assert times.complexity.values.tolist() == [0] * 4 + [1] * 4
    assert times.is_wrong.sum('pair').values.tolist() == [0] * 4 + [2] * 4
    assert (
        times.pair_epoch.sel(pair='1,2')[4:].values.tolist() == [30 / 18] * 4
    )  # 288 examples
    assert times.pair_epoch.notnull().sum() == 4
    members = tabulate(run)
    assert members.complexity.tolist() == [0] * 4 + [1] * 4
    assert {'epochs_0.05', 'epochs_0.1'} <= set(members)
    assert members.last_epoch.tolist() == [float(times.last_epoch)] * 8


def test_pairs_of_the_wrong_anchors_alone():
    pairs = ['1,1', '1,2', '1,3', '2,1', '2,2', '2,3', '3,3']
    is_wrong = np.isin(pairs, ('1,2', '2,1'))[None]
    times = xr.Dataset({'is_wrong': (('member', 'pair'), is_wrong)}, {'pair': pairs})
    is_near = fitting_time.mark_near(times)[0]
    assert is_near.pair.values[is_near].tolist() == ['1,1', '1,2', '2,1', '2,2']
