"""The report: every member's own numbers, figures or the reason why not, and the claims."""

import json
import pathlib
import runpy
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.members.selection import every
from analysis.report import claims, collect, figures, readings
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from tests.support.sweeps import ROOT, opened

silent = lambda line: None


@pytest.fixture(scope='module')
def payload(finished):
    return collect.collect(finished, silent)


def test_every_member_has_its_own_numbers_and_insides(finished, payload):
    json.dumps(payload, allow_nan=False)
    assert [m['point'] for m in payload['members']] == [
        point for _, point in every(finished)
    ]
    for member in payload['members']:
        one = finished.results.sel(member['point'])
        score = float(one.agreement.sel(probe='unseen', mapping='symmetric'))
        assert member['numbers']['symmetric on unseen'] == pytest.approx(
            score, rel=1e-3
        )
        assert member['agreement'][2][1][-1] == pytest.approx(score, rel=1e-3)
        steps = len(payload['record_steps'])
        assert np.shape(member['agreement']) == (3, 3, steps)
        assert np.shape(member['train_loss']) == (steps,)
        assert np.shape(member['attention']['layers']) == (
            member['point']['depth'],
            4,
            4,
        )
        assert (
            len(member['embedding']['values']) == len(member['embedding']['xy']) == 80
        )
    assert payload['summary'].startswith('8 networks, 8 trained, 0 diverged')
    assert payload['row_axis'] == 'depth'
    assert (
        payload['unseen']['pair'] == '(4, 3)'
        and payload['unseen']['symmetric'] == 'x − 6'
    )


def test_the_chosen_members_are_the_best_of_one_architecture(finished):
    chosen = collect.chosen(finished)
    assert chosen['inferential']['depth'] == chosen['symmetric']['depth']
    score = finished.results.agreement.sel(probe='unseen', mapping='inferential')
    assert float(score.sel(chosen['inferential'])) == float(score.max())
    same = finished.results.sel(depth=chosen['symmetric']['depth']).agreement
    symmetric = same.sel(probe='unseen', mapping='symmetric')
    rest = {a: v for a, v in chosen['symmetric'].items() if a != 'depth'}
    assert float(symmetric.sel(rest)) == float(symmetric.max())


def test_a_run_without_a_trained_member_is_one_line(tmp_path):
    opened(tmp_path)
    run = open_run(tmp_path)
    with pytest.raises(UserError, match='no member is trained yet'):
        collect.chosen(run)
    unknown = collect.collect(run, silent)['members'][0]
    assert unknown['status'] == 'not trained' and unknown['solution'] is None
    assert unknown['numbers']['train loss'] is None and unknown['attention'] is None


def test_the_command_writes_one_page_and_says_what_is_missing(
    launched, tmp_path, monkeypatch
):
    """A run whose only snapshot is the last: no kernel to compare with, and no second layer."""
    row = {
        r.module.__name__.split('.')[-1]: r for r in (*figures.SWEEP, *figures.MEMBER)
    }
    monkeypatch.setattr(figures, 'SWEEP', (row['phase'], row['lazy']))
    monkeypatch.setattr(figures, 'MEMBER', (row['curves'], row['cosine']))
    page = tmp_path / 'page.html'
    argv = ['report.py', '--run', str(launched), '--out', str(page)]
    monkeypatch.setattr(sys, 'argv', argv)
    runpy.run_path(
        str(pathlib.Path(ROOT) / 'launch' / 'report.py'), run_name='__main__'
    )
    text = page.read_text()
    assert (
        text.count('data:image/png;base64,') == 3
    )  # the diagram, and curves of two members
    assert 'a single snapshot' in text and 'layer = 2' in text
    assert 'cannot be tested here' in text
    assert (launched / 'figures' / 'phase.npz').exists()


def test_without_results_no_claim_is_decided():
    rows = claims.table([])
    assert len(rows) == len(claims.CLAIMS) > 15
    assert {row['verdict'] for row in rows} == {'cannot be tested here'}
    rows[0] |= {'number': '|ρ| 0.5', 'verdict': 'holds'}
    lines = claims.markdown(rows).splitlines()
    assert len(lines) == len(rows) + 2 and r'| \|ρ\| 0.5 (' in lines[2]


def diagram(inferential, symmetric, seen=1.0):
    fixed = np.array([[inferential], [symmetric]])
    return SimpleNamespace(
        fixed=fixed,
        seen_fixed=np.array([[seen, 1.0, 1.0]]),
        gamma=np.array([0.3, 0.6, 0.9]),
        rows=np.array([2]),
        row_name='depth',
    )


@pytest.mark.parametrize(
    ('inferential', 'symmetric', 'verdicts'),
    [
        ((0.0, 0.2, 0.95), (0.99, 0.5, 0.0), (True, True, True)),
        (
            (0.95, 0.2, 0.0),
            (0.0, 0.5, 0.99),
            (True, True, False),
        ),  # the order turned round
        ((0.1, 0.2, 0.3), (0.8, 0.5, 0.0), (False, False, True)),
    ],
)
def test_the_diagram_decides_what_it_shows(inferential, symmetric, verdicts):
    shown = diagram(inferential, symmetric)
    read = (
        readings.reaches_inferential,
        readings.reaches_symmetric,
        readings.order_of_phases,
    )
    assert tuple(one(shown).holds for one in read) == verdicts
    assert not readings.too_large(shown).holds
    assert readings.too_large(diagram(inferential, symmetric, seen=0.7)).holds


def test_condensation_of_both_is_not_the_papers_claim():
    of = lambda directions: SimpleNamespace(
        numbers={'directions': directions}, null={'directions': np.array([30.0, 32.0])}
    )
    assert readings.condenses(of(1.0), of(29.0)).holds
    assert not readings.condenses(of(1.0), of(1.1)).holds
    assert not readings.condenses(of(28.0), of(29.0)).holds


def test_the_largest_eigenvalue_must_rise_alone():
    of = lambda rises: SimpleNamespace(
        steps_S=np.arange(4), rises_I=np.array(rises), gamma=0.8
    )
    assert readings.largest_first(of([1.0, 2.0, np.nan])).holds
    assert not readings.largest_first(of([2.0, 2.0, 3.0])).holds
    assert readings.largest_first(of([np.nan, np.nan])) is None
