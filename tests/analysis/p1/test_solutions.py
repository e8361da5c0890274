"""The table of a sweep: scores beside those of tables, answers that are near, names."""

import itertools
import pathlib

import numpy as np

from analysis.frame import read_members
from analysis.members.lookup import LEVELS, lookup_scores, score_members
from analysis.p1 import solutions
from anchorjax.storage.reader import Run
from anchorjax.training.curves import DEVIATION_LIMIT
from tests.support.planted_results import open_planted

# What three tables (by datum, ordered pair, unordered pair) know of two splits with
# (3, 4) trained or unseen, by hand. Composition is never among it.
# {(split, exception): (held-out, symmetric on unseen)}
KNOWN = {
    ('random', 'trained'): ('0.00, 0.00, 0.00', '0.00, 0.00, 1.00'),
    ('random', 'unseen'): ('0.00, 0.00, 0.00', '0.00, 0.00, 0.00'),
    # A held-out key item is trained at the other positions.
    ('paper', 'trained'): ('0.00, 1.00, 1.00', '0.00, 0.00, 1.00'),
    ('paper', 'unseen'): ('0.00, 1.00, 1.00', '0.00, 0.00, 0.00'),
}
SPLITS = ('random', 'paper')
EXCEPTIONS = ('trained', 'unseen')
SEEDS = (0, 1)


def open_sweep(folder: pathlib.Path, splits: tuple[str, ...]) -> Run:
    """A sweep that loops over splits and over the exception; all members converged."""
    answers = {}
    for point in itertools.product(splits, EXCEPTIONS, SEEDS):
        varying = point if len(splits) > 1 else point[1:]
        answers[varying] = {'composed': 0.25, 'symmetric': 0.75, 'heldout': 0.5}
    return open_planted(
        folder,
        answers,
        static_axes=(('task.split', splits), ('task.exception', EXCEPTIONS)),
        task__seq_len=5,
        model__max_len=5,
        grid__gamma=(0.8,),
        grid__seed=SEEDS,
    )


def test_tables_are_those_of_each_cohort(tmp_path):
    run = open_sweep(tmp_path, SPLITS)
    members = read_members(run)
    rows = solutions.compute(members, score_members(run, members)).to_dict('records')
    assert [(row['split'], row['exception']) for row in rows] == list(KNOWN)
    for row in rows:
        heldout, symmetric = KNOWN[row['split'], row['exception']]
        assert row['held-out'] == '0.50 (0.50–0.50)'
        assert row['held-out: tables'] == heldout
        assert row['composed on unseen: tables'] == '0.00, 0.00, 0.00'
        assert row['symmetric on unseen: tables'] == symmetric


def test_tables_are_means_over_the_trained_seeds(tmp_path):
    """What is held out at one position is trained at others or not, by the seed."""
    run = open_sweep(tmp_path, ('random_position',))
    members = read_members(run)
    tables = score_members(run, members)
    of_both = solutions.compute(members, tables)
    members.loc[members.seed == 1, 'trained'] = False
    of_first = solutions.compute(members, tables)
    known = []
    for seed in SEEDS:
        scores = lookup_scores(
            run.experiment_of(exception='trained', seed=0).task, seed
        )
        known.append([scores[level]['seen_heldout', 'assigned'] for level in LEVELS])
    assert known[0] != known[1]
    for table, numbers in ((of_first, known[0]), (of_both, np.mean(known, axis=0))):
        expected = ', '.join(f'{number:.2f}' for number in numbers)
        assert table['held-out: tables'][0] == expected


def test_a_cohort_without_an_unseen_pair_has_no_tables_of_it(tmp_path):
    answers = {(unseen, seed): {} for unseen in (((4, 3),), ()) for seed in SEEDS}
    run = open_planted(
        tmp_path,
        answers,
        static_axes=(('task.unseen', (((4, 3),), ())),),
        task__noninferential=(),
        grid__gamma=(0.8,),
    )
    members = read_members(run)
    result = solutions.compute(members, score_members(run, members))
    with_pair, without = result.to_dict('records')
    # Nothing contradicts the composition, so the reversed pair has the same answer.
    assert with_pair['composed on unseen: tables'] == '0.00, 0.00, 1.00'
    assert without['composed on unseen: tables'] == '–'
    assert without['held-out: tables'] == '0.00, 0.00, 0.00'


def test_near_answers_are_counted(tmp_path):
    answers = {(seed,): {'heldout': 1.0} for seed in range(4)}
    changes = {'grid__gamma': (0.8,), 'grid__seed': (0, 1, 2, 3)}
    run = open_planted(tmp_path, answers, **changes)
    # Of each seed the share of answers by their distance from the composed one.
    planted = ({3: 1.0}, {3: 0.95, 0: 0.05}, {-6: 0.9, 2: 0.1}, {1: 0.5, -2: 0.5})
    for seed, shares in enumerate(planted):
        for distance, share in shares.items():
            place = {'seed': seed, 'offset': DEVIATION_LIMIT + distance}
            run.results['deviation'][place] = share
            if distance == 0:
                at = {'seed': seed, 'eval_set': 'unseen', 'mapping': 'composed'}
                run.results['agreement'].loc[at] = share
    (row,) = solutions.compute(read_members(run)).to_dict('records')
    assert row['composed on unseen'] == '0.01 (0.00–0.05)'
    assert row['within 1'] == '0.14 (0.00–0.50)'  # 0, 0.05, 0, 0.5
    assert row['within 2'] == '0.29 (0.00–1.00)'  # 0, 0.05, 0.1, 1
    assert row['solution (seeds)'] == 'neither 4'
