"""The tables of analysis say what a hand count says."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from analysis import frame
from analysis.p1 import attention_flow, causal, cosine, mechanisms
from analysis.p2 import learning_order, reasoning_bias, theory_path
from analysis.p3 import complexity, decay_map
from analysis.report.members import list_positions
from analysis.report.subject import read_subject
from analysis.report.write import write_report
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.storage.reader import open_run
from anchorjax.tasks.solution import SOLUTIONS, classify_members, name_ends
from anchorjax.training.curves import DEVIATION_LIMIT
from tests.support import cases, p2_tasks, sweeps
from tests.support.planted_results import mark_converged, open_planted, plant_curves
from tests.support.sweeps import opened


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
        (0.5, 0.4, 0.95, 'neither'),
        (np.nan, np.nan, 0.5, 'shadow'),
        (np.nan, np.nan, 0.4, 'memorizing'),
        (np.nan, np.nan, 1.0, 'neither'),
        (np.float32(0.9), 0.0, 1.0, 'composed'),
        (float(np.float32(0.9)), 0.0, 1.0, 'composed'),  # below 0.9 in double
        (0.0, 0.0, float(np.float32(0.9)), 'neither'),
    ],
)
def test_a_member_has_one_solution(composed, symmetric, seen, solution):
    assert solution in SOLUTIONS
    scores = {'unseen_composed': composed, 'unseen_symmetric': symmetric}
    table = pd.DataFrame(scores | {'trained': [True]})
    table['seen_heldout_assigned'] = seen
    assert classify_members(table).tolist() == [solution]


def test_without_a_question_or_training_there_is_no_rule():
    table = pd.DataFrame({'trained': [True, False]})
    assert classify_members(table).tolist() == ['neither', '']


@pytest.mark.parametrize(
    ('answers', 'solution'),
    [((1, 0, 1), 'composed'), ((0, 1, 1), 'symmetric'), ((0, 0, 0), 'memorizing')],
)
@pytest.mark.parametrize(
    ('trained', 'diverged', 'converged', 'end'),
    [
        (True, -1, True, None),  # its solution
        (True, -1, False, 'not converged'),
        (True, 30, False, 'diverged'),
        (True, 30, True, 'diverged'),
        (False, -1, False, ''),
    ],
)
def test_only_a_converged_network_has_a_solution(
    answers, solution, trained, diverged, converged, end
):
    columns = ['unseen_composed', 'unseen_symmetric', 'seen_heldout_assigned']
    members = pd.DataFrame([answers], columns=columns, index=[7])
    members = members.assign(trained=trained, diverged=diverged, converged=converged)
    expected = solution if end is None else end
    assert name_ends(members.assign(unseen_answer_share=0.0)).to_dict() == {7: expected}


EMB_MLP = config.resolve(config.default(model='emb_mlp'))
ANCHORS_FIRST = sweeps.experiment(task__order='anchors_first', model__depth=2)
TWO_BLOCKS = p2_tasks.make_experiment('transformer')
CONTROLS = (('task.control', ('none', 'matched')),)
MIXTURES = dataclasses.replace(p2_tasks.make_mixture(), static_axes=CONTROLS)


@pytest.mark.parametrize(
    ('figure', 'experiment', 'line'),
    [
        (complexity, TWO_BLOCKS, "task 'memory_reasoning': .* 'seen_heldout'"),
        (decay_map, TWO_BLOCKS, "task 'memory_reasoning': .* 'anchors'"),
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


@pytest.mark.parametrize(
    ('figure', 'experiment', 'line'),
    [
        (attention_flow, EMB_MLP, "model 'emb_mlp': it has no attention"),
        (causal, EMB_MLP, "model 'emb_mlp': it has no attention"),
        (cosine, ANCHORS_FIRST, "task.order = 'anchors_first': must be 'key_first'"),
    ],
)
def test_a_network_that_a_figure_is_not_about_is_one_line(figure, experiment, line):
    params = cases.random_params(experiment)
    with pytest.raises(UserError, match=line):
        figure.compute(Network(experiment, params, {'seed': 0}, step=0))


def test_a_run_without_a_converged_network_is_one_line(finished):
    nobody = mark_converged(finished, finished.results.seed < 0)
    with pytest.raises(UserError, match='no converged member'):
        mechanisms.compute(nobody)


@pytest.mark.parametrize('unseen', [((4, 3),), ()])
def test_a_sweep_of_which_nothing_is_trained_is_one_line(unseen, tmp_path):
    opened(tmp_path, task__unseen=unseen)
    run, report = open_run(tmp_path), tmp_path / 'report.html'
    for show in (
        lambda: frame.list_usable(run),
        lambda: write_report(run, report, print),
    ):
        with pytest.raises(UserError, match='no member is trained yet'):
            show()
    assert not report.exists()


def test_pairs_are_not_taken_for_positions(tmp_path):
    run = plant_curves(tmp_path, sweeps.experiment(task__groups='pair'))
    assert list_positions(read_subject(run)) == []


def test_near_answers_are_counted(tmp_path):
    """Of each seed the share of answers by their distance from the composed one."""
    planted = ({3: 1.0}, {3: 0.95, 0: 0.05}, {-6: 0.9, 2: 0.1}, {1: 0.5, -2: 0.5})
    answers = {(seed,): {'heldout': 1.0} for seed in range(4)}
    run = open_planted(tmp_path, answers, grid__gamma=(0.8,), grid__seed=(0, 1, 2, 3))
    for seed, shares in enumerate(planted):
        for distance, share in shares.items():
            place = {'seed': seed, 'offset': DEVIATION_LIMIT + distance}
            run.results['deviation'][place] = share
    assert run.members.unseen_within_1.tolist() == pytest.approx([0, 0.05, 0, 0.5])
    assert run.members.unseen_within_2.tolist() == pytest.approx([0, 0.05, 0.1, 1])
