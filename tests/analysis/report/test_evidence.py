"""What claims read: results of members at their solution, or why there are none."""

import pytest

from analysis.members.member import member_of
from analysis.old_claims.reading import leave_open
from analysis.report import evidence, figures, pictures
from analysis.report.choose import choose_members
from analysis.report.claims import MEMBERS, Claim
from anchorjax.storage.reader import Run, open_run
from tests.support.planted_results import plant_results

SYMMETRIC = {'symmetric': 0.95}
UNCONVERGED = {'train_loss': 0.5}


def ignore(line: str) -> None:
    """Takes the lines about progress."""


def make_claims(*figure_names: str) -> tuple[Claim, ...]:
    """Claims about members of both solutions."""
    both = ('inferential', 'symmetric')
    return tuple(Claim('P1', '', name, both, leave_open) for name in figure_names)


@pytest.fixture
def planted(finished) -> Run:
    """The tiny sweep, of which two members of two layers are planted as symmetric."""
    run = open_run(finished.folder.workdir)
    answers = {
        (1, 0.3, 0): UNCONVERGED,
        (2, 0.3, 0): SYMMETRIC,
        (2, 0.3, 1): SYMMETRIC | {'symmetric': 0.97},
        (2, 0.8, 0): SYMMETRIC | UNCONVERGED,
        (2, 0.8, 1): {'inferential': 0.4},
    }
    for index in ((1, 0.3, 1), (1, 0.8, 0), (1, 0.8, 1)):
        answers[index] = UNCONVERGED
    return plant_results(run, answers)


def test_only_members_at_the_solution_are_read(planted, monkeypatch):
    claims = make_claims('condensation', 'cosine')
    monkeypatch.setattr(evidence, 'CLAIMS', claims)
    choices = choose_members(planted)
    found = evidence.collect_evidence(planted, choices, [], ignore)
    assert len(found.results['condensation', 'symmetric']) == 2
    assert len(found.results['cosine', 'symmetric']) == 2
    expected = 'no converged member is inferential'
    assert found.missing['condensation', 'inferential'] == expected
    assert len(found.results[MEMBERS, None].gamma) == 8
    assert found.left_out == '5 of 8 members left out: 5 not converged'


def test_a_drawn_result_is_not_computed_again(planted, monkeypatch):
    monkeypatch.setattr(evidence, 'CLAIMS', make_claims('condensation'))
    choices = choose_members(planted)
    drawn = []
    for solution, choice in choices.items():
        drawn.append(
            pictures.Figure(
                module='condensation',
                solution=solution,
                point=choice.shown,
                name='',
                title='',
                caption='',
                result=f'drawn for {solution}',
            )
        )
    found = evidence.collect_evidence(planted, choices, drawn, ignore)
    read = found.results['condensation', 'symmetric']
    assert read[0] == 'drawn for symmetric'
    assert read[1].matrix == 'block_0/W_Q'
    # The member that is shown as the most inferential one is not inferential.
    assert ('condensation', 'inferential') not in found.results


def test_a_figure_that_fails_says_why(planted, monkeypatch):
    def fail(module, run, point, **options):
        return module.compute(member_of(run, **point), matrix='none')

    row = next(row for row in figures.MEMBER if row.name == 'condensation')
    monkeypatch.setattr(figures, 'MEMBER', (row._replace(compute=fail),))
    monkeypatch.setattr(evidence, 'CLAIMS', make_claims('condensation'))
    found = evidence.collect_evidence(planted, choose_members(planted), [], ignore)
    why = found.missing['condensation', 'symmetric']
    assert why.startswith("depth=2,gamma=0.3,seed=0: no matrix 'none'")


def test_a_caption_says_what_the_shown_member_is(planted, tmp_path, monkeypatch):
    rows = tuple(row for row in figures.MEMBER if row.name == 'condensation')
    monkeypatch.setattr(figures, 'MEMBER', rows)
    monkeypatch.setattr(figures, 'SWEEP', ())
    drawn = pictures.draw_all(planted, choose_members(planted), tmp_path, ignore)
    captions = [figure.caption for figure in drawn]
    expected = 'Most inferential member: 0.40, not a solution (other). '
    assert captions[0].startswith(expected)
    assert captions[1].startswith('Symmetric: 0.97 on the unseen pair. ')
