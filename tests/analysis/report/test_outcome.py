"""The first screen of the report: what came out, and how sure that is."""

from analysis.report.outcome import describe_outcome
from tests.support.planted_results import open_planted

SEEDS = {'grid__seed': (0, 1)}
DEPTHS = {'loop': (('model.depth', (1, 2)),)}
INFERENTIAL = {'inferential': 0.95}
SYMMETRIC = {'symmetric': 0.95}
CLAIMS = [{'verdict': 'holds'}, {'verdict': 'undecided'}, {'verdict': 'holds'}]


def test_counts_of_converged_networks_by_every_axis_but_the_seed(tmp_path):
    answers = {
        (1, 0.3, 0): SYMMETRIC,
        (1, 0.3, 1): SYMMETRIC,
        (1, 0.8, 0): INFERENTIAL,
        (1, 0.8, 1): SYMMETRIC,
        (2, 0.3, 0): INFERENTIAL,
        (2, 0.3, 1): {'inferential': 0.95, 'train_loss': 0.4},  # not converged
        (2, 0.8, 0): {'inferential': 0.95, 'diverged': 3},
    }
    run = open_planted(tmp_path, answers, **SEEDS, **DEPTHS)
    outcome = describe_outcome(run, CLAIMS)
    assert outcome['headings'] == [('γ', [0.3, 0.8]), ('depth', [1, 2])]
    assert (outcome['trained'], outcome['converged']) == (7, 5)
    table = {row['solution']: (row['total'], row['counts']) for row in outcome['rows']}
    assert table == {
        'inferential': (2, [1, 1, 1, 1]),
        'symmetric': (3, [2, 1, 3, 0]),
    }
    seeds, converged, claims = outcome['sure']
    assert 'Each setting has 2 seeds' in seeds
    assert 'In 1 of the 2 settings with several converged seeds' in seeds
    assert 'a training loss of at most 0.02' in converged
    assert claims.endswith('holds: 2 · undecided: 1.')


def test_without_two_seeds_nothing_is_said_to_be_sure(tmp_path):
    answers = {(0.3, 0): SYMMETRIC, (0.8, 1): INFERENTIAL}
    outcome = describe_outcome(open_planted(tmp_path, answers, **SEEDS), [])
    assert outcome['sure'][0].startswith('No setting has two converged seeds')
    assert len(outcome['sure']) == 2
    nothing = describe_outcome(open_planted(tmp_path / 'none', {}, **SEEDS), [])
    assert nothing['rows'] == [] and nothing['converged'] == 0
