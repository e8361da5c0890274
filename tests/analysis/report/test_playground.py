"""Which networks the page holds, in which precision, and why others are left out."""

import base64
import shutil
import types

import jax
import numpy as np
import pytest

from analysis.members.point import list_points
from analysis.report import playground
from analysis.report.choose import choose_networks, choose_one_of_each
from analysis.report.subject import read_subject
from anchorjax.errors import UserError
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.transformer import TransformerConfig
from anchorjax.storage.reader import open_run
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support import cases
from tests.support.faults import find_arrays, flip
from tests.support.planted_results import open_planted


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def play(lines):
    """A function: the playground of a run."""

    def describe_run(run) -> dict:
        subject = read_subject(run)
        choices = choose_networks(subject)
        return playground.describe_playground(subject, choices, lines.append)

    return describe_run


def test_a_damaged_member_is_left_out(finished, play, lines, tmp_path):
    workdir = tmp_path / 'run'
    shutil.copytree(finished.folder.workdir, workdir)
    for snapshots in (workdir / 'cohorts').rglob('snapshots'):
        for path in snapshots.iterdir():
            flip(find_arrays(path))
    assert 'damaged' in play(open_run(workdir))['missing']
    assert any('without' in line and 'damaged' in line for line in lines)


def test_members_are_in_the_file_with_their_weights(finished, play):
    found = play(finished)
    assert found['networks'] and len(found['tasks']) == 1
    points = list_points(finished)
    for network in found['networks']:
        point = points[network['member']]
        stored = np.frombuffer(base64.b64decode(network['weights']), np.float32)
        params = jax.tree.leaves(finished.params(**point))
        expected = np.concatenate([np.ravel(leaf) for leaf in params])
        sizes = [int(np.prod(shape)) for _, shape in network['arrays']]
        assert sum(sizes) == len(stored)
        np.testing.assert_array_equal(stored, expected)
        assert network['model']['depth'] == point['depth']


def test_one_of_each_solution_prefers_another_gamma_and_the_same_setting(tmp_path):
    answers = {
        (1, 0.3, 0): {'symmetric': 0.95},
        (1, 0.3, 1): {'composed': 0.95},
        (1, 0.8, 0): {'heldout': 0.1},
        (2, 0.3, 0): {'heldout': 0.1},
        (2, 0.8, 0): {'composed': 0.99, 'train_loss': 0.5},  # not converged
        (2, 0.8, 1): {'heldout': 0.1},
    }
    run = open_planted(tmp_path, answers, static_axes=(('model.depth', (1, 2)),))
    subject = read_subject(run)
    points = choose_one_of_each(subject, choose_networks(subject))
    found = [(p['depth'], p['gamma'], p['seed']) for p in points]
    assert found == [(1, 0.3, 1), (1, 0.3, 0), (1, 0.8, 0)]


@pytest.mark.parametrize(
    ('model', 'task', 'reason'),
    [
        (GPT2Config(), AnchorsConfig(), 'runs the model transformer, not gpt2'),
        (TransformerConfig(max_len=40), AnchorsConfig(seq_len=40), 'only for 32'),
        (TransformerConfig(), AnchorsConfig(order='anchors_first'), 'sequences differ'),
    ],
)
def test_what_does_not_fit_has_a_reason(model, task, reason):
    experiment = types.SimpleNamespace(model=model, task=task)
    others = [playground.describe_task(AnchorsConfig())]
    with pytest.raises(UserError, match=reason):
        playground.require_fit(experiment, others)


def test_the_task_of_the_page_is_the_table_by_hand():
    task = playground.describe_task(AnchorsConfig())
    assert len(task['pairs']) == 16
    for row in task['pairs']:
        expected = cases.TABLE[tuple(row['pair'])]
        assert (row['composed'], row['symmetric'], row['assigned']) == expected
        assert row['is_unseen'] == (row['pair'] == [4, 3])
    assert task['unseen'] == [[4, 3]] and task['exceptions'] == [[3, 4]]
    both = playground.describe_task(AnchorsConfig(exception='unseen'))
    assert both['unseen'] == [[4, 3], [3, 4]]
