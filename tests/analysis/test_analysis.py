"""The tables of analysis say what a hand count says."""

import numpy as np
import pandas as pd
import pytest

from analysis import position, solutions
from analysis.drawing import style
from analysis.members.member import member_of
from analysis.members.solution import SOLUTIONS, classify_solution


def members(**columns) -> pd.DataFrame:
    fixed = {'weight_decay': 0.1, 'diverged': -1, 'trained': True, 'train_loss': 0.5}
    return pd.DataFrame(columns | fixed)


def test_every_member_is_counted_once_at_the_right_solution():
    table = members(
        gamma=[0.3, 0.3, 0.8, 0.8],
        seed=[0, 1, 0, 1],
        seen_heldout_assigned=[0.95, 0.2, 0.95, 0.95],
        unseen_inferential=[0.0, 0.0, 0.95, 0.5],
        unseen_symmetric=[0.95, 0.0, 0.0, 0.4],
    )
    result = solutions.compute(table)
    assert result.points.gamma.tolist() == [0.3, 0.8]
    assert result.seeds == 2
    counts = result.solved.to_dict('list')
    assert counts['symmetric'] == [1, 0] and counts['memorizing'] == [1, 0]
    assert counts['inferential'] == [0, 1] and counts['other'] == [0, 1]
    assert (result.solved.sum(axis=1) == 2).all()
    assert result.means['inferential on unseen'].tolist() == [0.0, 0.725]
    lines = solutions.markdown(result).splitlines()
    assert len(lines) == 4
    assert '0.72 (0.50–0.95)' in lines[3] and 'other 1' in lines[3]


@pytest.mark.parametrize(
    ('inferential', 'symmetric', 'seen', 'solution'),
    [
        (0.95, 0.0, 1.0, 'inferential'),
        (0.0, 0.95, 1.0, 'symmetric'),
        (0.95, 0.0, 0.5, 'inferential'),  # held-out pairs do not matter then
        (0.92, 0.95, 1.0, 'symmetric'),  # the higher one counts
        (0.95, 0.95, 1.0, 'inferential'),
        (0.89, 0.89, 0.89, 'memorizing'),
        (0.5, 0.4, 0.95, 'other'),
        (np.nan, np.nan, 0.5, 'memorizing'),
        (np.nan, np.nan, 1.0, 'other'),
        (np.float32(0.9), 0.0, 1.0, 'inferential'),
        (float(np.float32(0.9)), 0.0, 1.0, 'inferential'),  # below 0.9 in double
        (0.0, 0.0, float(np.float32(0.9)), 'other'),
    ],
)
def test_a_member_has_one_solution(inferential, symmetric, seen, solution):
    assert solution in SOLUTIONS
    assert classify_solution(inferential, symmetric, seen) == solution


def test_a_diverged_member_is_nothing_else():
    table = members(
        gamma=[0.3],
        seed=[0],
        seen_heldout_assigned=[1.0],
        unseen_inferential=[1.0],
        unseen_symmetric=[0.0],
    ).assign(diverged=7)
    assert solutions.compute(table).solved.to_dict('list')['diverged'] == [1]


def test_positions_partition_the_unseen_sequences(finished, tmp_path):
    point = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    result = position.compute(member_of(finished, **point))
    assert result.positions.tolist() == [0, 1]  # seq_len 4
    assert result.counts.sum() == finished.experiment.task.probe_examples
    inferential = result.mapping_names.index('inferential')
    assigned = result.mapping_names.index('assigned')
    np.testing.assert_array_equal(
        result.agreement[:, inferential], result.agreement[:, assigned]
    )  # for (4, 3) the two are the same mapping
    score = finished.results.agreement.sel(point | {'probe': 'unseen'}).squeeze()
    average = np.average(result.agreement, weights=result.counts, axis=0)
    np.testing.assert_allclose(average, score, atol=1.01 / result.counts.sum())
    style.draw_figure(result, position.draw, position.layout, tmp_path / 'position')
