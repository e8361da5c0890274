"""Which networks the page holds, in which precision, and why others are left out."""

import base64
import re
import shutil
import types

import jax
import numpy as np
import pytest

from analysis.members.point import list_points
from analysis.report.choose import choose_networks, choose_one_of_each
from analysis.report.playground import describe, weights
from analysis.report.playground.request import parse_request
from analysis.report.subject import read_subject
from anchorjax.errors import UserError
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.transformer import TransformerConfig
from anchorjax.storage.reader import open_run
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support import cases
from tests.support.faults import find_arrays, flip
from tests.support.pages import network_page
from tests.support.planted_results import open_planted


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def play(finished, lines):
    """A function: the playground of the finished sweep for a --playground=TEXT."""

    def describe_text(text: str, run=finished) -> dict:
        subject = read_subject(run)
        choices = choose_networks(subject)
        request = parse_request(text)
        return describe.describe_playground(subject, choices, request, lines.append)

    return describe_text


def test_a_damaged_member_is_left_out_or_refused_if_it_is_named(
    finished, play, lines, tmp_path
):
    workdir = tmp_path / 'run'
    shutil.copytree(finished.folder.workdir, workdir)
    for snapshots in (workdir / 'cohorts').rglob('snapshots'):
        for path in snapshots.iterdir():
            flip(find_arrays(path))
    run = open_run(workdir)
    assert 'damaged' in play('auto', run)['missing']
    assert any('without' in line and 'damaged' in line for line in lines)
    with pytest.raises(UserError, match='damaged'):
        play('gamma=0.3,seed=0', run)


def test_named_members_are_in_the_file_with_their_weights(finished, play, lines):
    playground = play('gamma=0.8,seed=1')
    points = list_points(finished)
    shown = [points[network['member']] for network in playground['networks']]
    assert [(p['depth'], p['gamma'], p['seed']) for p in shown] == [
        (1, 0.8, 1),
        (2, 0.8, 1),
    ]
    for point, network in zip(shown, playground['networks'], strict=True):
        stored = np.frombuffer(base64.b64decode(network['weights']), network['dtype'])
        params = jax.tree.leaves(finished.params(**point))
        expected = np.concatenate([np.ravel(leaf) for leaf in params])
        sizes = [int(np.prod(shape)) for _, shape in network['arrays']]
        assert sum(sizes) == len(stored) == len(expected)
        np.testing.assert_array_equal(stored, expected.astype(network['dtype']))
        assert network['model']['depth'] == point['depth']
    assert len(playground['tasks']) == 1
    assert re.fullmatch(r'playground: 2 network\(s\), 0\.\d\d MB', lines[-1])
    assert re.search(r'seed 1: 0\.\d\d MB in float(16|32)$', lines[0])


def test_an_axis_may_be_given_several_values_and_values_may_have_commas(play):
    assert len(play('gamma=0.3,gamma=0.8,seed=0')['networks']) == 4
    request = parse_request('noninferential=((3, 4, -6),),gamma=0.2')
    assert request.values == {'noninferential': [((3, 4, -6),)], 'gamma': [0.2]}


@pytest.mark.parametrize(
    ('text', 'line'),
    [
        ('gamma=', '--playground=gamma=: give none, auto'),
        ('gama=0.3', "unknown axis 'gama', did you mean 'gamma'"),
    ],
)
def test_a_wrong_request_is_one_line(text, line, play):
    with pytest.raises(UserError, match=line):
        play(text)


def test_auto_takes_one_of_each_solution_and_at_most_3_mb(
    finished, play, lines, monkeypatch
):
    assert play('auto')['networks']
    monkeypatch.setattr(describe, 'MOST_BYTES', 100)
    playground = play('auto')
    assert playground['networks'] == []
    expected = r'No network can be asked here: its weights would make .* MB, more than'
    assert re.match(expected, playground['missing'])
    assert '--playground=gamma=..' in playground['missing']
    assert play('gamma=0.3')['networks']  # named members may have any size


def test_one_of_each_solution_prefers_another_gamma_and_the_same_setting(tmp_path):
    answers = {
        (1, 0.3, 0): {'symmetric': 0.95},
        (1, 0.3, 1): {'inferential': 0.95},
        (1, 0.8, 0): {'heldout': 0.1},
        (2, 0.3, 0): {'heldout': 0.1},
        (2, 0.8, 0): {'inferential': 0.99, 'train_loss': 0.5},  # not converged
        (2, 0.8, 1): {'heldout': 0.1},
    }
    run = open_planted(tmp_path, answers, loop=(('model.depth', (1, 2)),))
    subject = read_subject(run)
    points = choose_one_of_each(subject, choose_networks(subject))
    found = [(p['depth'], p['gamma'], p['seed']) for p in points]
    assert found == [(1, 0.3, 1), (1, 0.3, 0), (1, 0.8, 0)]


def test_half_precision_only_where_no_answer_changes():
    member = network_page.make_member()
    logits = member.params['W_U'] * 0
    decided = member.params | {'W_U': logits, 'b_U': np.float32(np.arange(20))}
    assert weights.pack_weights(member._replace(params=decided)).dtype == 'float16'
    # Two answers that are equal in half precision: the first one wins there.
    bias = np.zeros(20, np.float32)
    bias[3], bias[7] = 1.0, 1.0001
    close = member.params | {'W_U': logits, 'b_U': bias}
    assert weights.pack_weights(member._replace(params=close)).dtype == 'float32'
    huge = member.params | {'W_U': logits, 'b_U': np.float32(np.arange(20)) * 1e5}
    assert weights.pack_weights(member._replace(params=huge)).dtype == 'float32'


@pytest.mark.parametrize(
    ('model', 'task', 'reason'),
    [
        (TransformerConfig(), AnchorsConfig(), ''),
        (GPT2Config(), AnchorsConfig(), 'runs the model transformer, not gpt2'),
        (TransformerConfig(max_len=40), AnchorsConfig(seq_len=40), 'only for 32'),
        (TransformerConfig(), AnchorsConfig(order='anchors_first'), 'sequences differ'),
    ],
)
def test_what_does_not_fit_has_a_reason(model, task, reason):
    experiment = types.SimpleNamespace(model=model, task=task)
    others = [describe.describe_task(AnchorsConfig())]
    found = describe.explain_unfit(experiment, others)
    assert reason in found and bool(reason) == bool(found)


def test_the_task_of_the_page_is_the_table_by_hand():
    task = describe.describe_task(AnchorsConfig())
    assert len(task['pairs']) == 16
    for row in task['pairs']:
        expected = cases.TABLE[tuple(row['pair'])]
        assert (row['inferential'], row['symmetric'], row['assigned']) == expected
        assert row['is_unseen'] == (row['pair'] == [4, 3])
    assert task['unseen'] == [[4, 3]] and task['exceptions'] == [[3, 4]]
    both = describe.describe_task(AnchorsConfig(exception='unseen'))
    assert both['unseen'] == [[4, 3], [3, 4]]
