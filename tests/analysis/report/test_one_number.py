"""One quantity is one number: the page, the terminal, the figures and the claims."""

import pytest

from analysis import claims, estimates
from analysis.first_look import describe_claims
from analysis.frame import read_members
from analysis.p1 import accuracy, answers, phase
from analysis.p1 import claims as p1_claims
from analysis.report.claims import check_claims
from analysis.report.outcome import describe_settings
from analysis.report.subject import read_subject
from anchorjax.storage.reader import Run
from tests.support.planted_results import open_planted

SEEDS = (0, 1, 2, 3)
CONVERGED = {'train_loss': 0.001}
OPEN = {'train_loss': 0.5}
DIVERGED = {'diverged': 3}
# Composed answers of the two depths, and what became of these networks.
SWEEPS = {
    'two not converged': (
        [0.9, 0.7, 0.8, 0.4],
        [CONVERGED, OPEN, CONVERGED, OPEN],
        0.70,
    ),
    'none converged': ([0.9, 0.7, 0.8, 0.4], [OPEN] * 4, 0.70),
    'one diverged': ([0.9, 0.7, 0.8, 0.4], [CONVERGED, OPEN, OPEN, DIVERGED], 0.80),
}


@pytest.fixture(params=SWEEPS, scope='module')
def planted(request, tmp_path_factory) -> tuple[Run, float]:
    """A sweep at two depths, of which the second composes nothing; the mean by hand."""
    scores, states, expected = SWEEPS[request.param]
    networks = {}
    for seed, score, state in zip(SEEDS, scores, states, strict=True):
        networks[1, seed] = {'composed': score} | state
        networks[2, seed] = {'composed': 0.0}
    run = open_planted(
        tmp_path_factory.mktemp('run') / 'planted',
        networks,
        grid__gamma=(0.8,),
        grid__seed=SEEDS,
        static_axes=(('model.depth', (1, 2)),),
    )
    return run, expected


def read_page(run: Run) -> float:
    settings = describe_settings(read_subject(run))
    place = settings['measures'].index('composed on the unseen pair')
    return float(settings['rows'][0]['cells'][place]['mean'])


def read_answers(run: Run) -> float:
    table = answers.compute(read_members(run))
    return table[table.setting == 'depth 1'].composed.mean()


def read_phase(run: Run) -> float:
    cells = phase.compute(read_members(run))
    return cells[cells['row'] == '1'].composed.item()


def read_accuracy(run: Run) -> float:
    cells = accuracy.compute(run)
    is_here = (cells.value == 1) & (cells.measure == 'unseen_composed')
    return cells[is_here]['mean'].item()


@pytest.mark.parametrize('read', [read_page, read_answers, read_phase, read_accuracy])
def test_a_mean_is_of_all_networks_that_did_not_diverge(planted, read):
    run, expected = planted
    assert read(run) == pytest.approx(expected, abs=1e-6)


def test_the_terminal_and_the_page_have_the_number_of_the_claim(planted, monkeypatch):
    run, expected = planted
    group = estimates.Group('depth 1', {'depth': 1})
    name = run.folder.workdir.name
    claim = claims.Claim(
        'p1.planted.level',
        'ours',
        'They compose.',
        (name,),
        estimates.level('unseen_composed', group),
    )
    monkeypatch.setattr(p1_claims, 'CLAIMS', (claim,))
    number = f'depth 1 {expected:.2f}'
    (line,) = describe_claims(run, {})
    (row,) = check_claims(run)['rows']
    assert number in line and number in row['number']
