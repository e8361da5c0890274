"""The phase diagram is what one computes by hand."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.frame import read_members
from analysis.p1 import phase, solutions
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from anchorjax.storage.solution import SOLUTIONS
from tests.support.sweeps import opened

# At γ 0.3, by learning rate 1 and 2 and by seed: (held-out, inferential, symmetric).
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
    scores = ['seen_heldout_assigned', 'unseen_inferential', 'unseen_symmetric']
    members = pd.DataFrame(rows, columns=[*axes, 'trained', 'converged', *scores])
    return members.assign(width=400)


def set_scores(members: pd.DataFrame, rate: float, seed: int, **scores: float) -> None:
    """Sets columns of one network at γ 0.3."""
    is_here = (members.gamma == 0.3) & (members.learning_rate == rate)
    for name, score in scores.items():
        members.loc[is_here & (members.seed == seed), name] = score


def read_shares(cells: pd.DataFrame) -> dict[str, float]:
    """The shares of the solutions at γ 0.3, those above 0."""
    found = {}
    for solution in SOLUTIONS:
        share = cells[f'share_{solution}'][0]
        if share > 0:
            found[solution] = share
    return found


def test_the_phase_diagram_is_what_one_computes_by_hand():
    cells = phase.compute(plant_members())
    first = cells.iloc[0]
    assert first.learning_rate == 1.0  # the best one on seen pairs
    assert first.trained == first.converged == 4
    assert (first.row_name, first['row'], first.width) == ('depth', '2', 400)
    # Over the rates the maximum of each seed, then the mean over the seeds.
    assert first.best_inferential == pytest.approx((0.9 + 0.3) / 2)
    assert first.best_symmetric == pytest.approx((0.6 + 0.95) / 2)
    assert first.fixed_inferential == pytest.approx(0.5)
    assert first.fixed_symmetric == pytest.approx(0.475)
    assert first.best_held_out == first.fixed_held_out == 1
    assert first.best_converged == first.fixed_converged == 1
    assert read_shares(cells) == {'inferential': 0.5, 'symmetric': 0.5}


@pytest.mark.parametrize(
    ('converged', 'shares', 'fixed', 'best'),
    [
        ((True, True, True, False), {'inferential': 0.5, 'symmetric': 0.5}, 1, 0.75),
        ((True, False, True, True), {'inferential': 1.0}, 0.5, 0.75),
        ((False, True, False, False), {'symmetric': 1.0}, 0.5, 0.25),
        ((False, False, True, True), {}, 0, 0.5),
    ],
)
def test_the_shares_are_those_of_converged_seeds(converged, shares, fixed, best):
    everyone = phase.compute(plant_members())
    cells = phase.compute(plant_members(converged))
    assert read_shares(cells) == shares
    assert cells.fixed_converged[0] == fixed and cells.best_converged[0] == best
    assert cells.converged[0] == sum(converged) and cells.trained[0] == 4
    if not shares:
        assert np.isnan(cells.share_inferential[0])
    # The agreement is that of all seeds, as in the paper.
    for name in ('best_inferential', 'fixed_symmetric', 'fixed_held_out'):
        pd.testing.assert_series_equal(cells[name], everyone[name])


def test_what_is_not_trained_is_nan_and_not_unconverged():
    members = plant_members((True, True, True, False))
    untrained = phase.compute(members).iloc[1]
    assert untrained.gamma == 0.8
    assert untrained.filter(regex='^(best|fixed|share)_').isna().all()
    set_scores(members, 2.0, 0, trained=False, converged=False)
    set_scores(members, 2.0, 0, unseen_inferential=np.nan)
    first = phase.compute(members).iloc[0]
    assert (first.trained, first.converged) == (3, 2)
    assert first.best_converged == pytest.approx(2 / 3)
    assert first.fixed_converged == 1


@pytest.mark.parametrize(
    ('converged', 'is_dotted'),
    [
        (ALL, (False, False, False)),
        ((True, True, True, False), (True, False, False)),
        ((True, False, True, True), (True, True, True)),
        ((False,) * 4, (True, True, True)),
    ],
)
@pytest.mark.parametrize('held_out', [1.0, 0.5])
def test_dots_mark_cells_that_have_not_all_converged_and_lines_unsure_ones(
    converged, is_dotted, held_out
):
    """The cell at γ 0.8 is empty: nothing is known of it."""
    members = plant_members(converged)
    for rate, seed in SCORES:
        set_scores(members, rate, seed, seen_heldout_assigned=held_out)
    cells = phase.compute(members)
    with style.draw_figure(cells, phase.draw, phase.layout) as figure:
        axes = np.reshape(figure.axes, (2, 3))
        for (_, column), axis in np.ndenumerate(axes):
            assert find_hatched(axis, '....') == [(0, 0)] * is_dotted[column]
            assert find_hatched(axis, '////') == [(0, 0)] * (held_out < 0.9)


def test_one_learning_rate_has_no_best_one():
    members = plant_members()
    assert phase.layout(phase.compute(members)).columns == 3
    cells = phase.compute(members[members.learning_rate == 1.0])
    np.testing.assert_array_equal(cells.best_inferential, cells.fixed_inferential)
    assert phase.layout(cells).columns == 2


@pytest.mark.parametrize('decays', [(0.0,), (0.0, 0.1)])
def test_an_axis_that_is_averaged_is_named(decays):
    tables = [plant_members().assign(weight_decay=decay) for decay in decays]
    cells = phase.compute(pd.concat(tables, ignore_index=True))
    with style.draw_figure(cells, phase.draw, phase.layout) as figure:
        title = figure.get_suptitle()
    is_named = 'means over seeds and weight decay' in title
    assert is_named == (len(decays) > 1)


def find_hatched(axis: Axes, pattern: str) -> list[tuple[int, int]]:
    """The cells (column, row) of a panel with this hatch."""
    cells = []
    for patch in axis.patches:
        if patch.get_hatch() == pattern:
            assert (patch.get_width(), patch.get_height()) == (1, 1)
            cells.append((patch.get_x() + 0.5, patch.get_y() + 0.5))
    return cells


def test_a_task_without_the_probe_has_no_diagram():
    members = plant_members().drop(columns='seen_heldout_assigned')
    with pytest.raises(UserError, match='needs a probe seen_heldout'):
        phase.compute(members)


def test_the_table_of_an_untrained_run_is_refused(tmp_path):
    opened(tmp_path)
    with pytest.raises(UserError, match='no member is trained yet'):
        solutions.command([f'--run={tmp_path}'])


def test_two_static_axes_are_one_row_each(tmp_path):
    changes = {'task__noninferential': (), 'task__unseen': ()}
    loop = (('model.depth', (1, 2)), ('task.complexity', (0, 3)))
    opened(tmp_path, loop=loop, **changes)
    cells = phase.compute(read_members(open_run(tmp_path)))
    assert cells['row'].unique().tolist() == ['1, 0', '1, 3', '2, 0', '2, 3']
    assert cells.fixed_held_out.isna().all() and len(cells) == 8


def test_an_unseen_pair_without_the_two_rules_counts_as_none():
    """A task of one's own may have a probe `unseen` with mappings of other names."""
    names = {'unseen_inferential': 'unseen_swapped', 'unseen_symmetric': 'unseen_lost'}
    cells = phase.compute(plant_members().rename(columns=names))
    assert 'fixed_inferential' not in cells and phase.layout(cells).rows == 1
    expected = phase.compute(plant_members()).fixed_held_out
    pd.testing.assert_series_equal(cells.fixed_held_out, expected)


def test_the_shares_tell_all_solutions_apart():
    members = plant_members()
    set_scores(members, 1.0, 0, unseen_inferential=0.5, unseen_symmetric=0.5)
    set_scores(members, 1.0, 1, unseen_inferential=0.0, unseen_symmetric=0.05)
    assert read_shares(phase.compute(members)) == {'other': 1.0}
    for mapping, at_0 in (('inferential', 1.0), ('symmetric', 0.0)):
        members[f'unseen_{mapping}_at_0'] = 0.0
        members[f'unseen_{mapping}_at_1'] = 0.0
        places = {f'unseen_{mapping}_at_0': at_0, f'unseen_{mapping}_at_1': 1 - at_0}
        set_scores(members, 1.0, 0, **places)
    set_scores(members, 1.0, 1, unseen_answer_share=0.95)
    expected = {'half and half': 0.5, 'third': 0.5}
    assert read_shares(phase.compute(members)) == expected
    set_scores(members, 1.0, 1, seen_heldout_assigned=0.85)
    expected = {'half and half': 0.5, 'memorizing': 0.5}
    assert read_shares(phase.compute(members)) == expected
