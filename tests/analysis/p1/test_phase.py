"""The phase diagram is what one computes by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.frame import read_members
from analysis.p1 import answers, phase
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from tests.support.sweeps import opened

# At γ 0.3, by learning rate 1 and 2 and by seed: (held-out, composed, symmetric).
SCORES = {
    (1.0, 0): (1.0, 0.9, 0.0),
    (1.0, 1): (1.0, 0.1, 0.95),
    (2.0, 0): (0.2, 0.5, 0.6),
    (2.0, 1): (0.4, 0.3, 0.6),
}
ALL = (True, True, True, True)


def plant_members(converged: tuple[bool, ...] = ALL) -> pd.DataFrame:
    """Networks of depth 2 at γ 0.3; those at γ 0.8 are not trained.

    Args:
      converged: of SCORES.
    """
    rows = []
    for gamma in (0.3, 0.8):
        for (rate, seed), has in zip(SCORES, converged, strict=True):
            is_trained = gamma == 0.3
            scores = SCORES[rate, seed] if is_trained else (np.nan,) * 3
            row = (2, gamma, rate, 0.0, seed, is_trained, has and is_trained, *scores)
            rows.append(row)
    axes = ['depth', 'gamma', 'learning_rate', 'weight_decay', 'seed']
    scores = ['seen_heldout_assigned', 'unseen_composed', 'unseen_symmetric']
    members = pd.DataFrame(rows, columns=[*axes, 'trained', 'converged', *scores])
    return members.assign(width=400, diverged=-1)


def test_the_best_rates_are_what_one_computes_by_hand():
    cells = phase.compute(plant_members())
    first = cells.iloc[0]
    assert first.trained == first.converged == 4
    assert (first.row_name, first['row'], first.width) == ('depth', '2', 400)
    # Over the rates the maximum of each seed, then the mean over the seeds.
    assert first.composed == pytest.approx((0.9 + 0.3) / 2)
    assert first.symmetric == pytest.approx((0.6 + 0.95) / 2)
    assert first.held_out == 1
    # Of the networks that gave these: seed 0 at rate 1, seed 1 at rate 2; and so on.
    assert first.known_composed == pytest.approx((1.0 + 0.4) / 2)
    assert first.known_symmetric == pytest.approx((0.2 + 1.0) / 2)


def test_the_mean_of_the_rates_is_what_one_computes_by_hand():
    first = phase.compute(plant_members(), 'mean').iloc[0]
    assert first.composed == pytest.approx((0.9 + 0.1 + 0.5 + 0.3) / 4)
    assert first.symmetric == pytest.approx((0.95 + 0.6 + 0.6) / 4)
    assert first.held_out == first.known_composed == pytest.approx(2.6 / 4)


def test_what_is_not_trained_is_nan_and_no_member_that_counts():
    untrained = phase.compute(plant_members()).iloc[1]
    assert untrained.gamma == 0.8
    assert untrained[['composed', 'symmetric', 'held_out']].isna().all()
    assert untrained.trained == untrained.converged == 0


def test_a_task_without_the_eval_set_has_no_diagram():
    members = plant_members().drop(columns='seen_heldout_assigned')
    with pytest.raises(UserError, match='needs an eval set seen_heldout'):
        phase.compute(members)


def test_a_sweep_without_a_second_axis_has_no_diagram():
    members = plant_members()
    with pytest.raises(UserError, match='answers'):
        phase.compute(members[members.learning_rate == 1.0])


def test_two_static_axes_are_one_row_each(tmp_path):
    changes = {'task__noninferential': (), 'task__unseen': ()}
    static_axes = (('model.depth', (1, 2)), ('task.complexity', (0, 3)))
    opened(tmp_path, static_axes=static_axes, **changes)
    cells = phase.compute(read_members(open_run(tmp_path)))
    assert cells['row'].unique().tolist() == ['1, 0', '1, 3', '2, 0', '2, 3']
    assert cells.held_out.isna().all() and len(cells) == 8


@pytest.mark.parametrize('lost', [{'composed', 'symmetric'}, {'symmetric'}])
def test_an_unseen_pair_without_the_two_rules_counts_as_none(lost):
    """A task of one's own may have an eval set `unseen` with other mappings."""
    names = {f'unseen_{mapping}': f'unseen_{mapping}_of_ours' for mapping in lost}
    members = plant_members().rename(columns=names)
    with pytest.raises(UserError, match='no unseen pair'):
        answers.compute(members)
    cells = phase.compute(members[members.learning_rate == 1.0])
    assert not lost & set(cells) and phase.layout(cells).columns == 1
    assert cells.held_out[0] == 1
