"""The tables of analysis say what a hand count says."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from analysis.members.member import member_of
from analysis.p1 import lazy, mechanisms, solutions
from analysis.p2 import learning_order, reasoning_bias, theory_path
from analysis.p3 import complexity, decay_map
from analysis.report.members import list_positions
from analysis.report.subject import read_subject
from anchorjax.errors import UserError
from anchorjax.tasks.solution import SOLUTIONS, UNSEEN_MAPPINGS, classify_members
from tests.support import p2_tasks, sweeps
from tests.support.planted_results import plant_curves

# A network each: gamma, seed, converged, diverged at, what it knows.
NETWORKS = [
    (0.3, 0, True, -1, 0.95, 0.0, 0.95),
    (0.3, 1, True, -1, 0.2, 0.0, 0.0),
    (0.3, 2, False, -1, 0.95, 0.5, 0.0),
    (0.8, 0, True, -1, 0.95, 0.95, 0.0),
    (0.8, 1, True, -1, 0.95, 0.5, 0.4),
    (0.8, 2, False, 7, 1.0, 1.0, 0.0),
    (0.9, 0, False, -1, 0.95, 1.0, 0.0),
]
COLUMNS = ('gamma', 'seed', 'converged', 'diverged', 'seen_heldout_assigned')
COLUMNS += ('unseen_composed', 'unseen_symmetric')


def test_every_member_is_counted_once_and_all_but_diverged_ones_are_averaged():
    table = pd.DataFrame(NETWORKS, columns=COLUMNS)
    table = table.assign(
        weight_decay=0.1, trained=True, train_loss=0.01, gamma_at_400=np.nan
    )
    rows = solutions.compute(table).set_index('gamma')
    assert rows['solution (seeds)'].to_dict() == {
        '0.3': 'symmetric 1, memorizing 1, not converged 1',
        '0.8': 'composed 1, other 1, diverged 1',
        '0.9': 'not converged 1',
    }
    averaged = rows['composed on unseen']
    assert averaged['0.3'].startswith('0.17')  # 0, 0 and 0.5
    assert averaged['0.8'] == '0.72 (0.50–0.95)'
    assert averaged['0.9'].startswith('1.00')


@pytest.mark.parametrize(
    ('composed', 'symmetric', 'seen', 'solution'),
    [
        (0.95, 0.0, 1.0, 'composed'),
        (0.0, 0.95, 1.0, 'symmetric'),
        (0.0, 1.0, 0.4, 'memorizing'),  # a table by unordered pair answers so
        (0.0, 1.0, 0.5, 'symmetric'),
        (0.95, 0.0, 0.5, 'composed'),  # held-out pairs do not matter then
        (0.92, 0.95, 1.0, 'symmetric'),  # the higher one counts
        (0.95, 0.95, 1.0, 'composed'),
        (0.89, 0.89, 0.89, 'shadow'),
        (0.89, 0.0, 0.49, 'memorizing'),
        (0.5, 0.4, 0.95, 'other'),
        (np.nan, np.nan, 0.5, 'shadow'),
        (np.nan, np.nan, 0.4, 'memorizing'),
        (np.nan, np.nan, 1.0, 'other'),
        (np.float32(0.9), 0.0, 1.0, 'composed'),
        (float(np.float32(0.9)), 0.0, 1.0, 'composed'),  # below 0.9 in double
        (0.0, 0.0, float(np.float32(0.9)), 'other'),
    ],
)
def test_a_member_has_one_solution(composed, symmetric, seen, solution):
    assert solution in SOLUTIONS
    scores = {'unseen_composed': composed, 'unseen_symmetric': symmetric}
    table = pd.DataFrame(scores | {'trained': [True]})
    table['seen_heldout_assigned'] = seen
    assert classify_members(table).tolist() == [solution]


@pytest.mark.parametrize(
    ('by_position', 'most_frequent', 'solution'),
    [
        ([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 0.67, 'half and half'),
        ([[1.0, 1.0, 0.8], [0.0, 0.0, 0.1]], 0.67, 'other'),  # one is not solved
        ([[1.0, np.nan, 0.0], [0.0, np.nan, 0.95]], 0.5, 'half and half'),
        ([[0.0, 0.0], [0.0, 0.0]], 0.93, 'third'),
        ([[0.0, 0.0], [0.0, 0.0]], 0.85, 'other'),
        ([[np.nan], [np.nan]], 0.95, 'third'),
    ],
)
def test_half_and_half_and_third_solutions(by_position, most_frequent, solution):
    scores = {'unseen_composed': 0.4, 'unseen_symmetric': 0.4}
    scores['unseen_answer_share'] = most_frequent
    for mapping, shares in zip(UNSEEN_MAPPINGS, by_position, strict=True):
        for place, share in enumerate(shares):
            scores[f'unseen_{mapping}_at_{place}'] = share
    table = pd.DataFrame(scores | {'seen_heldout_assigned': [1.0, 0.2]})
    table['trained'] = True
    assert classify_members(table).tolist() == [solution, 'memorizing']


def test_without_a_question_or_training_there_is_no_rule():
    table = pd.DataFrame({'trained': [True, False]})
    assert classify_members(table).tolist() == ['other', '']


TWO_BLOCKS = p2_tasks.make_experiment('transformer')
CONTROLS = (('task.control', ('none', 'matched')),)
MIXTURES = dataclasses.replace(p2_tasks.make_mixture(), static_axes=CONTROLS)


@pytest.mark.parametrize(
    ('figure', 'experiment', 'line'),
    [
        (complexity, TWO_BLOCKS, "task 'memory_reasoning': .* 'seen_heldout'"),
        (lazy, TWO_BLOCKS, "task 'memory_reasoning': .* 'seen_heldout'"),
        (decay_map, TWO_BLOCKS, "task 'memory_reasoning': .* 'anchors'"),
        (mechanisms, TWO_BLOCKS, "task 'memory_reasoning': .* 'anchors'"),
        (learning_order, sweeps.experiment(), "task 'anchors': .* 'memory_reasoning'"),
        (reasoning_bias, MIXTURES, 'the sources differ between cohorts'),
        (theory_path, TWO_BLOCKS, "model 'transformer'"),
    ],
)
def test_a_run_that_a_figure_is_not_about_is_one_line(
    figure, experiment, line, tmp_path
):
    with pytest.raises(UserError, match=line):
        figure.compute(plant_curves(tmp_path / 'run', experiment))


def test_pairs_are_not_taken_for_positions(tmp_path):
    run = plant_curves(tmp_path, sweeps.experiment(task__groups='pair'))
    assert list_positions(read_subject(run)) == []


def test_positions_are_those_of_the_members_own_answers(finished):
    point = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    results = finished.results.sel(finished.labels(**point)).squeeze()
    by_place = results.agreement_by_group.sel(eval_set='unseen')
    assert by_place.group.values.tolist() == ['at_0', 'at_1']  # seq_len 4
    member = member_of(finished, **point)
    unseen = member.task.eval_set_names.index('unseen')
    tokens_BT = member.eval_sets.tokens_PBT[unseen]
    answers_B = member.forward(tokens_BT).logits[:, -1].argmax(-1)
    is_anchor_BT = np.isin(tokens_BT, member.experiment.task.anchors)
    key_at_B = is_anchor_BT.argmax(-1) - 1
    for mapping in ('composed', 'symmetric'):
        labels_B = member.eval_sets.labels_PRB[
            unseen, member.task.mapping_names.index(mapping)
        ]
        for place in (0, 1):
            chosen_B = key_at_B == place
            share = (answers_B == labels_B)[chosen_B].mean()
            # One answer may differ: last bits depend on how a batch is cut.
            one = 1.01 / chosen_B.sum()
            recorded = float(by_place.sel(mapping=mapping)[place])
            assert recorded == pytest.approx(share, abs=one)
