"""The claims: what the numbers of a figure decide, and the table of verdicts."""

from types import SimpleNamespace

import numpy as np
import pytest

from analysis.report import checks, claims, figures, verdicts
from analysis.report.readings import diagram, weights


def make_diagram(
    inferential: tuple[float, ...], symmetric: tuple[float, ...], seen: float = 1.0
) -> SimpleNamespace:
    """A phase diagram of one row and three gammas."""
    return SimpleNamespace(
        fixed=np.array([[inferential], [symmetric]]),
        seen_fixed=np.array([[seen, 1.0, 1.0]]),
        gamma=np.array([0.3, 0.6, 0.9]),
        rows=np.array([2]),
        row_name='depth',
    )


def make_condensation(directions: float) -> SimpleNamespace:
    """Condensation of a member, where Gaussian weights have about 31 directions."""
    null = {'directions': np.array([30.0, 32.0])}
    return SimpleNamespace(numbers={'directions': directions}, null=null)


def make_rises(rises: list[float]) -> SimpleNamespace:
    return SimpleNamespace(steps_S=np.arange(4), rises_I=np.array(rises), gamma=0.8)


def test_without_results_no_claim_is_decided():
    rows = checks.check_claims([])
    assert len(rows) == len(claims.CLAIMS) > 15
    assert {row['verdict'] for row in rows} == {'cannot be tested here'}
    rows[0] |= {'number': '|ρ| 0.5', 'verdict': 'holds'}
    lines = checks.format_markdown(rows).splitlines()
    assert len(lines) == len(rows) + 2
    assert r'| \|ρ\| 0.5 (' in lines[2]


def test_verdicts_are_counted_and_found_by_their_words():
    words = [verdicts.make_verdict(holds).words for holds in (True, True, None)]
    counted = verdicts.count_verdicts(words)
    assert counted == 'holds: 2 · does not hold: 0 · cannot be tested here: 1'
    assert verdicts.find_verdict('does not hold') is verdicts.DOES_NOT_HOLD
    assert verdicts.find_verdict('anything else') is verdicts.UNTESTED


@pytest.mark.parametrize(
    ('inferential', 'symmetric', 'expected'),
    [
        ((0.0, 0.2, 0.95), (0.99, 0.5, 0.0), (True, True, True)),
        # The phases in the opposite order.
        ((0.95, 0.2, 0.0), (0.0, 0.5, 0.99), (True, True, False)),
        ((0.1, 0.2, 0.3), (0.8, 0.5, 0.0), (False, False, True)),
    ],
)
def test_the_diagram_decides_what_it_shows(inferential, symmetric, expected):
    shown = make_diagram(inferential, symmetric)
    read = (
        diagram.read_inferential_peak(shown).holds,
        diagram.read_symmetric_peak(shown).holds,
        diagram.read_phase_order(shown).holds,
    )
    assert read == expected
    assert not diagram.read_seen_pairs(shown).holds
    unlearned = make_diagram(inferential, symmetric, seen=0.7)
    assert diagram.read_seen_pairs(unlearned).holds


@pytest.mark.parametrize(
    ('inferential', 'symmetric', 'expected'),
    [(1.0, 29.0, True), (1.0, 1.1, False), (28.0, 29.0, False)],
)
def test_condensation_of_both_is_not_the_papers_claim(inferential, symmetric, expected):
    members = make_condensation(inferential), make_condensation(symmetric)
    assert weights.read_condensation(*members).holds == expected


def test_the_largest_eigenvalue_must_rise_alone():
    assert weights.read_first_rise(make_rises([1.0, 2.0, np.nan])).holds
    assert not weights.read_first_rise(make_rises([2.0, 2.0, 3.0])).holds
    assert weights.read_first_rise(make_rises([np.nan, np.nan])) is None


@pytest.mark.parametrize('claim', claims.CLAIMS, ids=lambda claim: claim.source)
def test_a_claim_reads_a_figure_of_the_report(claim):
    rows = (*figures.SWEEP, *figures.MEMBER)
    names = {row.module.__name__.rpartition('.')[2] for row in rows}
    assert claim.figure in names
