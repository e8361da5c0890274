"""The tables of analysis say what a hand count says."""

import numpy as np
import pandas as pd

from analysis import position, solutions
from analysis.drawing import style
from analysis.members.member import member_of


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
    assert result.points.gamma.tolist() == [0.3, 0.8] and result.seeds == 2
    counts = result.solved.to_dict('list')
    assert counts['symmetric'] == [1, 0] and counts['not general'] == [1, 0]
    assert counts['inferential'] == [0, 1] and counts['mixed'] == [0, 1]
    assert (result.solved.sum(axis=1) == 2).all()
    assert result.means['inferential on unseen'].tolist() == [0.0, 0.725]
    lines = solutions.markdown(result).splitlines()
    assert len(lines) == 4 and '0.72 (0.50–0.95)' in lines[3] and 'mixed 1' in lines[3]


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
    inferential, assigned = (
        result.mapping_names.index(m) for m in ('inferential', 'assigned')
    )
    np.testing.assert_array_equal(
        result.agreement[:, inferential], result.agreement[:, assigned]
    )  # for (4, 3) the two are the same mapping
    score = finished.results.agreement.sel(point | {'probe': 'unseen'}).squeeze()
    average = np.average(result.agreement, weights=result.counts, axis=0)
    np.testing.assert_allclose(average, score, atol=1.01 / result.counts.sum())
    style.drawn(result, position.draw, position.layout, tmp_path / 'position')
