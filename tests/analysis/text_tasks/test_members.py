"""The table of networks: the numbers of the run, and when each has converged."""

import numpy as np

from analysis.first_look import summarize_members
from analysis.frame import find_points
from analysis.members.point import list_points
from analysis.text_tasks.members import read_members

SIZES = (('task.num_examples', (32, 64)),)


def test_the_numbers_are_those_of_the_run(open_planted):
    run = open_planted('scan', static_axes=SIZES)
    run.curves['diverged'][{'num_examples': 0, 'gamma': 0, 'weight_decay': 1}] = 1
    members = read_members(run)
    points = find_points(run, members)
    expected = list_points(run)
    assert points == [expected[0], *expected[2:]]
    for row, point in zip(members.to_dict('records'), points, strict=True):
        member = run.results.sel(run.labels(**point)).squeeze()
        assert row['size'] == point['num_examples'] and row['setting'] == ''
        assert row['weight_decay'] == point['weight_decay']
        assert row['train_loss'] == member.train_loss
        for eval_set in ('seen_train', 'seen_heldout', 'test'):
            assert row[eval_set] == member.agreement.sel(eval_set=eval_set)


def test_the_steps_until_a_network_converges(open_planted):
    run = open_planted('scan', train__num_steps=4, grid__gamma=(0.5,))
    losses = run.curves.fit_loss.squeeze()
    losses.isel(weight_decay=0)[:] = [1.0, 0.5, 0.01, 0.03]  # falls, and rises again
    losses.isel(weight_decay=1)[:] = [1.0, 0.5, 0.5, 0.02]
    run.curves['converged'][{'weight_decay': 0}] = False
    members = read_members(run)
    assert members['converged'].tolist() == [False, True]
    # Between steps 2 and 3, 0.48 of 0.49 down; 0.02 is not below itself, and the last
    # step stands for never.
    np.testing.assert_allclose(members['steps'], [2 + 0.48 / 0.49, 4], rtol=1e-5)


def test_tables_have_the_perplexity_of_texts_beside_their_loss(open_planted):
    run = open_planted('scan')
    table = run.members
    np.testing.assert_allclose(table.train_perplexity, np.exp(table.train_loss))
    np.testing.assert_allclose(table.perplexity_test, np.exp(table.loss_test))
    columns = table.columns.tolist()
    assert columns.index('perplexity_test') == columns.index('loss_test') + 1
    assert 'perplexity' in summarize_members(run).splitlines()[0].split()
    numbers = open_planted('addition', task__encoding='numbers')
    assert not numbers.members.columns.str.contains('perplexity').any()
