"""Claims on the page: what this run says, and what the gallery has of larger ones."""

import pytest

from analysis.claims import EARLIER, HOLDS
from analysis.p1 import claims as p1
from analysis.report.claims import check_claims
from tests.support.planted_results import open_planted

SEEDS = EARLIER.seeds
LARGE, SMALL = 0.72, 1.15
FEW = p1.FAIR[0]  # the folder of a run that the claims of P1 name


@pytest.fixture
def check(tmp_path):
    """A function: the claims of a run in a folder of this name with these seeds."""

    def check_run(name: str, seeds: int):
        answers = {}
        for seed in range(seeds):
            answers[LARGE, seed] = {'symmetric': 0.9}
            answers[SMALL, seed] = {'composed': 0.9 + seed / 100}
        folder = tmp_path / name
        grid = {'grid__gamma': (LARGE, SMALL), 'grid__seed': tuple(range(seeds))}
        run = open_planted(folder, answers, **grid)
        return check_claims(run)

    return check_run


def test_claims_about_other_runs_are_one_sentence_with_the_command(check):
    found = check('mine', SEEDS)
    assert found['rows'] == [] and found['named'] == 0
    assert found['paper'] == 'P1' and found['total'] == len(p1.CLAIMS)
    assert found['command'].startswith('python -m analysis claims p1 --runs runs/')
    kept = [row['address'] for row in found['kept']]
    assert kept == [claim.address for claim in p1.CLAIMS]
    assert {HOLDS} <= {row['verdict'] for row in found['kept']}


@pytest.mark.slow
def test_a_claim_about_this_run_is_judged_with_enough_seeds(check):
    found = check(FEW, SEEDS)
    composed = found['rows'][0]
    assert composed['verdict'] == HOLDS and composed['n'] == str(SEEDS)
    # Those with `where` are about depth 2, which these networks do not have.
    of_run = [c for c in p1.CLAIMS if FEW in c.runs and not c.where]
    decided = [claim for claim in of_run if not claim.day or claim.day.seeds <= SEEDS]
    assert len(found['rows']) == len(of_run)
    assert len([row for row in found['rows'] if not row['seeds_needed']]) == len(
        decided
    )


@pytest.mark.slow
def test_too_few_seeds_have_a_number_and_no_verdict(check):
    found = check(FEW, SEEDS - 1)
    assert found['rows'] and 'small' in found['rows'][0]['number']
    for row in found['rows']:
        assert not row['verdict']
    assert found['rows'][0]['seeds_needed'] == SEEDS
