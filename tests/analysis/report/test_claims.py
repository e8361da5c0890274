"""The table of claims: what is read, what is not, and how it is written."""

import inspect

import pytest

from analysis.old_claims import verdicts
from analysis.old_claims.reading import Reading, undecided
from analysis.report import checks, claims, figures
from analysis.report.evidence import Evidence

LEFT_OUT = '3 of 20 members left out: 3 not converged'


def make_claim(
    *solutions: str | None, verdict: verdicts.Verdict = verdicts.HOLDS
) -> claims.Claim:
    """A claim whose number is the inputs that it has read."""

    def read(*inputs) -> Reading:
        return Reading(str(inputs), verdict, 'chance', 'a note')

    return claims.Claim('P1', 'A sentence.', 'figure', solutions, read)


@pytest.fixture
def check(monkeypatch):
    """Checks one claim on some evidence."""

    def check_one(claim: claims.Claim, results: dict, missing: dict) -> dict[str, str]:
        monkeypatch.setattr(checks, 'CLAIMS', (claim,))
        evidence = Evidence(results, missing, LEFT_OUT)
        return checks.check_claims(evidence)[0]

    return check_one


def test_without_results_no_claim_is_decided():
    rows = checks.check_claims(Evidence({}, {}, LEFT_OUT))
    assert len(rows) == len(claims.CLAIMS) > 15
    found = {row['verdict'] for row in rows}
    assert found == {'undecided', 'not tested by this report'}
    for row in rows:
        assert tuple(row) == checks.COLUMNS
        is_tested = row['verdict'] == 'undecided'
        assert row['left_out'] == (LEFT_OUT if is_tested else '')
        assert bool(row['note']) == is_tested


def test_a_claim_reads_a_result_for_every_solution(check):
    results = {('figure', None): 1, ('figure', 'symmetric'): [2, 3]}
    row = check(make_claim(None, 'symmetric'), results, {})
    assert row['number'] == '(1, [2, 3])'
    assert row['verdict'] == 'holds'
    assert row['null'] == 'chance'
    assert row['note'] == 'a note'


def test_who_was_left_out_is_said_once(check):
    def read() -> Reading:
        return Reading('1', verdicts.HOLDS, '', f'2 seeds; {LEFT_OUT}')

    row = check(make_claim()._replace(read=read), {}, {})
    assert row['note'] == '2 seeds'
    assert row['left_out'] == LEFT_OUT


def test_a_claim_without_its_members_is_undecided_and_not_read(check):
    why = 'no converged member is symmetric'
    missing = {('figure', 'symmetric'): why}
    claim = make_claim('inferential', 'symmetric')
    row = check(claim, {('figure', 'inferential'): [1]}, missing)
    assert row['verdict'] == 'undecided'
    assert row['note'] == why
    assert row['number'] == '–'


def test_the_table_has_a_column_for_everything_and_counts_the_verdicts():
    rows = checks.check_claims(Evidence({}, {}, LEFT_OUT))
    rows[0] |= {'number': '|ρ| 0.5', 'null': '0.1', 'verdict': 'holds'}
    lines = checks.format_markdown(rows).splitlines()
    assert lines[0].startswith('holds: 1 · undecided: ')
    assert lines[0].endswith(' · not tested by this report: 2')
    assert len(lines) == len(rows) + 4
    assert r'| \|ρ\| 0.5 | 0.1 | holds |' in lines[4]
    assert lines[4].endswith(f'| {LEFT_OUT} |')


def test_verdicts_are_counted_and_found_by_their_words():
    words = [verdict.words for verdict in verdicts.VERDICTS] + ['holds']
    expected = 'holds: 2 · does not hold: 1 · opposite: 1 · undecided: 1'
    assert verdicts.count_verdicts(words).startswith(expected)
    for verdict in verdicts.VERDICTS:
        assert verdicts.find_verdict(verdict.words) is verdict
    assert verdicts.find_verdict('anything else') is verdicts.UNTESTED


def test_an_undecided_reading_starts_with_its_reason():
    assert undecided('one gamma only').note == 'one gamma only'
    assert undecided('2 seeds', note='4 members').note == '2 seeds; 4 members'


@pytest.mark.parametrize('claim', claims.CLAIMS, ids=lambda claim: claim.source)
def test_a_claim_reads_a_figure_of_the_report(claim):
    names = {row.name for row in (*figures.SWEEP, *figures.MEMBER)}
    assert claim.figure in names | {claims.MEMBERS}
    # It takes a result for every solution, by position.
    arguments = [None] * len(claim.solutions)
    inspect.signature(claim.read).bind(*arguments)


@pytest.mark.parametrize('row', figures.MEMBER, ids=lambda row: row.name)
def test_the_cheaper_options_are_those_of_the_figure(row):
    known = inspect.signature(row.module.compute).parameters
    assert set(row.undrawn) <= set(known)
