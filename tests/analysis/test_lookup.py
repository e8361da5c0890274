"""What tables of the training data score, against counting one question at a time."""

import itertools

import jax
import numpy as np
import pytest

from analysis.members import lookup
from anchorjax.grid import DATA, random_key
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support.planted_results import open_planted

SEED = 3
SMALL = {'seq_len': 5, 'keys': (20, 40)}


def count_by_hand(config: AnchorsConfig, level: str) -> dict[tuple[str, str], float]:
    """Every question of every eval set, looked up in a dict of the training data."""
    split_key, _ = jax.random.split(random_key(SEED, DATA))
    is_trained = np.asarray(anchors.draw_training_keys(config, split_key))
    exceptions = {(a, b): shift for a, b, shift in config.noninferential}
    shift_of = dict(zip(config.anchors, config.shifts, strict=True))
    all_pairs = list(itertools.product(config.anchors, repeat=2))

    def label(a: int, b: int) -> int:
        return exceptions.get((a, b), shift_of[a] + shift_of[b])

    def question(a: int, b: int, position: int, key: int) -> tuple:
        if level == 'datum':
            return (a, b, position, key)
        if level == 'ordered pair':
            return (a, b, key)
        return (min(a, b), max(a, b), key)

    table: dict[tuple, set[int]] = {}
    for row, position, key in np.argwhere(is_trained):
        pair = all_pairs[row]
        if pair not in config.unseen_pairs:
            answers = table.setdefault(question(*pair, position, key), set())
            answers.add(label(*pair))

    scores = {}
    for eval_set in ('seen_train', 'seen_heldout', 'unseen'):
        asked_pairs = [pair for pair in all_pairs if pair not in config.unseen_pairs]
        if eval_set == 'unseen':
            asked_pairs = [config.unseen[0]]
        for mapping in ('composed', 'symmetric'):
            cells = []  # the mean of every cell, since each is asked equally often
            for pair, position in itertools.product(
                asked_pairs, range(is_trained.shape[1])
            ):
                row = all_pairs.index(pair)
                is_asked = is_trained[row, position] != (eval_set == 'seen_heldout')
                expected = shift_of[pair[0]] + shift_of[pair[1]]
                if mapping == 'symmetric':
                    expected = label(*pair[::-1])
                right = []
                for key in np.flatnonzero(is_asked):
                    known = table.get(question(*pair, position, key), set())
                    right.append((expected in known) / max(len(known), 1))
                cells.append(np.mean(right))
            scores[eval_set, mapping] = np.mean(cells)
    return scores


@pytest.mark.parametrize('split', ['code', 'paper', 'random', 'random_position'])
@pytest.mark.parametrize('exception', ['trained', 'unseen'])
def test_scores_are_those_of_a_table(split, exception):
    config = AnchorsConfig(split=split, exception=exception, **SMALL)
    for level, scores in lookup.lookup_scores(config, SEED).items():
        for entry, value in count_by_hand(config, level).items():
            assert scores[entry] == pytest.approx(value), (level, entry)


def test_members_are_scored_by_the_tables_of_their_cohort(tmp_path):
    """By datum, ordered and unordered pair, of (4, 3) with (3, 4) trained or unseen."""
    known = {
        ('random', 'trained'): ([0, 0, 0], [0, 0, 1]),
        ('random', 'unseen'): ([0, 0, 0], [0, 0, 0]),
        # A held-out key item is trained at the other positions.
        ('paper', 'trained'): ([0, 1, 1], [0, 0, 1]),
        ('paper', 'unseen'): ([0, 1, 1], [0, 0, 0]),
    }
    splits, exceptions = ('random', 'paper'), ('trained', 'unseen')
    run = open_planted(
        tmp_path,
        {point: {} for point in known},
        static_axes=(('task.split', splits), ('task.exception', exceptions)),
        task__seq_len=5,
        model__max_len=5,
        grid__gamma=(0.8,),
        grid__seed=(0,),
    )
    tables = lookup.score_members(run, run.members)
    points = run.members[['split', 'exception']].itertuples(index=False, name=None)
    for point, (_, row) in zip(points, tables.iterrows(), strict=True):
        heldout, symmetric = known[point]
        assert row['seen_heldout_assigned'].tolist() == pytest.approx(heldout)
        assert row['unseen_symmetric'].tolist() == pytest.approx(symmetric)
        assert row['unseen_composed'].tolist() == [0, 0, 0]  # it is never in a table


def test_a_cohort_without_an_unseen_pair_has_no_tables_of_it(tmp_path):
    run = open_planted(
        tmp_path,
        {(unseen,): {} for unseen in (((4, 3),), ())},
        static_axes=(('task.unseen', (((4, 3),), ())),),
        task__noninferential=(),
        grid__gamma=(0.8,),
        grid__seed=(0,),
    )
    tables = lookup.score_members(run, run.members)
    # Nothing contradicts the composition, so the reversed pair has the same answer.
    assert tables['unseen_composed'].iloc[0].tolist() == pytest.approx([0, 0, 1])
    assert tables['unseen_composed'].iloc[1].isna().all()
    assert tables['seen_heldout_assigned'].notna().all(axis=None)
