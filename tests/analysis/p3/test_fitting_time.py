"""Times to fit are found in the curves of a tiny sweep."""

import numpy as np
import pytest
import xarray as xr

from analysis.p3 import fitting_time
from analysis.p3.members import tabulate


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


@pytest.mark.slow
def test_epochs_of_pairs_are_read_from_the_groups(train_once, monkeypatch):
    run = train_once(
        'complexities',
        task__noninferential=(),
        task__unseen=(),
        task__groups='pair',
        static_axes=(('task.complexity', (0, 1)),),
    )
    monkeypatch.setattr(fitting_time, 'ACCURACY', 1e-9)
    times = fitting_time.compute(run)
    assert times.complexity.values.tolist() == [0] * 4 + [1] * 4
    assert times.is_wrong.sum('pair').values.tolist() == [0] * 4 + [2] * 4
    # A pair that is never answered, not even by chance, has no epoch.
    by_pair = run.curves.agreement_by_group.sel(
        eval_set='seen_train', mapping='assigned'
    )
    best = by_pair.max('step').squeeze(drop=True)
    best = best.transpose('complexity', 'gamma', 'seed', 'group')
    is_answered = best.values.reshape(8, 16) > 0
    np.testing.assert_array_equal(np.isfinite(times.pair_epoch), is_answered)
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
