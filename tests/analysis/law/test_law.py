"""The law's tables and figures: the committed ones, and of planted networks."""

import pandas as pd
import pytest

from analysis import stats
from analysis.law import effects, law, law_gamma
from analysis.law import members as law_members
from analysis.tables.text import format_csv
from anchorjax.errors import UserError
from tests.support.planted_law import let_batch_decide, plant_members
from tests.support.sweeps import ROOT

GALLERY = ROOT / 'analysis' / 'gallery'


def read_gallery(*names):
    return law_members.join([law_members.read_csv(GALLERY / name) for name in names])


@pytest.fixture(scope='module')
def committed():
    return read_gallery('law/members.csv')


def test_the_committed_members_give_the_committed_effects(committed):
    result = effects.tabulate(committed)
    text = format_csv(result.assign(**law.describe(committed)))
    assert text == (GALLERY / 'law' / 'law_effects.csv').read_text()


def test_the_committed_members_give_the_committed_picture():
    members = read_gallery('law/members.csv', 'law/half_width_members.csv')
    result = law_gamma.compute(members)
    text = format_csv(result.assign(**result.attrs))
    assert text == (GALLERY / 'law' / 'law_gamma.csv').read_text()


@pytest.mark.parametrize(
    ('block', 'levels', 'column', 'is_converged', 'expected'),
    [
        ('trained', (0.2, 1.0), 'composed', True, (-0.15, -0.53, 0.24, 7)),
        ('trained', (0.2, 1.0), 'symmetric', True, (0.42, 0.08, 0.76, 7)),
        ('trained', (0.6, 1.4), 'composed', True, (0.24, 0.01, 0.48, 8)),
        ('trained', (0.6, 1.4), 'symmetric', True, (-0.38, -0.57, -0.18, 8)),
        ('trained', (0.6, 1.4), 'composed', False, (0.34, 0.15, 0.53, 13)),
        ('trained', (0.6, 1.4), 'symmetric', False, (-0.52, -0.70, -0.33, 13)),
        ('both unseen', (1.0, 1.4), 'composed', False, (0.50, 0.29, 0.71, 10)),
    ],
)
def test_the_borders_of_gamma_are_those_that_were_computed_by_others(
    committed, block, levels, column, is_converged, expected
):
    """By somebody else, without this code."""
    members = committed[committed.exception == block]
    if is_converged:
        members = members[members.converged]
    pairs = effects.select_levels(
        effects.pair_cells(members, 'gamma'), 'gamma', *levels
    )
    differences = effects.average_settings(pairs, f'unseen_{column}')
    found = stats.mean_interval(differences)
    assert (*found, len(differences)) == pytest.approx(expected, abs=0.00501)


def test_a_run_is_added_to_a_table_and_replaces_its_own_members(
    finished, tmp_path, capsys
):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(plant_members(let_batch_decide, gamma=(0.6, 1.2))))
    folder = tmp_path / 'law_new'
    folder.symlink_to(finished.folder.workdir.resolve())
    members = law.read_members([path], [str(folder)])
    assert members.run.value_counts().to_dict() == {'law_new': 8, 'law_planted': 6}
    path.write_text(format_csv(members.assign(train_loss=0.5)))
    again = law.read_members([path], [str(folder)])
    pd.testing.assert_series_equal(again.run, members.run)
    assert (again[again.run == 'law_new'].train_loss != 0.5).all()


def test_where_no_factor_varies_there_is_no_picture_and_a_line(tmp_path, capsys):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(plant_members(let_batch_decide, gamma=(0.6, 1.2))))
    with pytest.raises(UserError, match='law: no factor alone differs in 3 settings'):
        law.command(['--members', str(path), '--out', str(tmp_path / 'law')])
    names = {path.name for path in (tmp_path / 'law').iterdir()}
    assert names == {'members.csv'}
