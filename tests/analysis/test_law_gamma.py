"""The law by gamma: planted networks are in their panel, and their change is right."""

import numpy as np
import pandas as pd
import pytest

from analysis import law_gamma
from analysis.tables.text import format_csv
from anchorjax import cli
from tests.support.drawing import draw_pixels
from tests.support.planted_law import plant_members

TITLES = [panel.title for panel in law_gamma.PANELS]
LEAD = TITLES.index('9 tokens, batch 2048 (the lead)\ndecay 0.1')


def compose_if_small(point):
    return 'inferential' if point['gamma'] > 1 else 'symmetric'


def plant_lead(decide=compose_if_small, loss=None, seeds=3, gammas=(0.6, 1.2)):
    levels = {'batch_size': (2048,), 'gamma': gammas}
    return plant_members(decide, seeds, loss, **levels)


def test_networks_are_in_the_panel_of_their_setting_and_in_no_other():
    result = law_gamma.compute(plant_lead())
    assert result.panel.tolist() == 6 * [LEAD]
    other_width = plant_lead().assign(width=128)
    assert law_gamma.compute(other_width).panel.size == 0


def test_every_panel_is_found_by_its_own_factors():
    parts = []
    for panel in law_gamma.PANELS:
        parts.append(plant_lead().assign(**panel.setting))
    result = law_gamma.compute(pd.concat(parts))
    numbers = np.bincount(result.panel, minlength=len(TITLES))
    assert numbers.tolist() == len(TITLES) * [6]


@pytest.mark.parametrize('is_reversed', (False, True))
def test_the_change_is_from_the_smallest_to_the_largest_gamma(is_reversed):
    gammas = (0.6, 0.8, 1.2)
    members = plant_lead(gammas=gammas)
    if is_reversed:
        members.gamma = members.gamma.map({0.6: 1.2, 0.8: 0.8, 1.2: 0.6})
    result = law_gamma.compute(members)
    sign = -1 if is_reversed else 1
    # Planted: inferential 0.01 and 0.97, symmetric 0.98 and 0.02.
    assert result.change[LEAD] == pytest.approx([sign * 0.96, -sign * 0.96])
    assert result.change_is_of_converged[LEAD]
    others = np.delete(result.change, LEAD, axis=0)
    assert np.isnan(others).all()


def test_seeds_that_disagree_widen_the_interval_and_a_flat_law_covers_0():
    result = law_gamma.compute(plant_lead())
    assert result.change_low[LEAD, 0] == result.change_high[LEAD, 0]  # seeds agree

    def let_seed_decide(point):
        return 'inferential' if point['seed'] % 2 else 'symmetric'

    flat = law_gamma.compute(plant_lead(let_seed_decide, seeds=4))
    assert flat.change[LEAD] == pytest.approx([0, 0])
    assert (flat.change_low[LEAD] < 0).all() and (flat.change_high[LEAD] > 0).all()
    assert (np.abs(flat.change_low[LEAD]) <= 1).all()


def test_networks_that_have_not_converged_count_only_if_too_few_have():
    def fail_once(point):
        return 1.0 if point['gamma'] > 1 and point['seed'] == 3 else 0.004

    def compose_but_once(point):
        is_unfinished = fail_once(point) == 1.0
        return 'other' if is_unfinished else compose_if_small(point)

    enough = law_gamma.compute(plant_lead(compose_but_once, fail_once, seeds=4))
    assert enough.change_is_of_converged[LEAD]
    assert enough.change[LEAD, 0] == pytest.approx(0.96)

    few = plant_lead(compose_but_once, fail_once, seeds=4)
    few = law_gamma.compute(few[few.seed > 0])  # two of three have converged
    assert not few.change_is_of_converged[LEAD]
    assert few.change[LEAD, 0] == pytest.approx((0.97 + 0.97 + 0.5) / 3 - 0.01)


def test_two_networks_at_a_gamma_are_too_few():
    result = law_gamma.compute(plant_lead(seeds=2))
    assert np.isnan(result.change).all()


def test_of_members_that_differ_in_steps_the_longest_counts():
    short = plant_lead(lambda point: 'other')
    long = plant_lead().assign(num_steps=16_000)
    result = law_gamma.compute(pd.concat([short, long]))
    assert len(result.panel) == 6
    assert result.change[LEAD, 0] == pytest.approx(0.96)


def test_the_picture_shows_convergence_and_answers():
    def never(point):
        return 1.0

    plain = draw_pixels(law_gamma.compute(plant_lead()), law_gamma)
    hollow = draw_pixels(law_gamma.compute(plant_lead(loss=never)), law_gamma)
    swapped = plant_lead(lambda point: 'memorizing')
    assert (plain != hollow).any()
    assert (plain != draw_pixels(law_gamma.compute(swapped), law_gamma)).any()


def test_the_command_reads_tables_and_refuses_those_without_a_panel(tmp_path, capsys):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(plant_lead().assign(width=128)))
    words = ['--members', str(path), '--out', str(tmp_path / 'out')]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as exit_info:
        patch.setattr('sys.argv', ['law_gamma.py', *words])
        cli.run_command(law_gamma.command)
    assert exit_info.value.code == 2
    assert 'no network of these tables' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
