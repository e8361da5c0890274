"""Members by setting and gamma, and the kinds of their tokens."""

import numpy as np
import pytest

from analysis.bias.tokens import KINDS, TASK, list_tokens
from analysis.members.selection import count_diverged
from analysis.members.table import (
    list_panels,
    list_points,
    tabulate_members,
)
from anchorjax.storage.reader import open_run
from anchorjax.tasks import MemoryReasoningConfig


@pytest.mark.slow
def test_a_panel_holds_the_seeds_of_a_setting_and_gamma(open_sweep):
    run = open_sweep('near')
    members = tabulate_members(run, list_points(run, TASK))
    panels = list_panels(members)
    assert [panel.title for panel in panels] == [
        'γ 0.3, memory_labels=uniform',
        'γ 0.8, memory_labels=uniform',
        'γ 0.3, memory_labels=near',
        'γ 0.8, memory_labels=near',
    ]
    for panel in panels:
        assert members['seed'][panel.is_here_M].tolist() == [0, 1, 2]
    covered = np.sum([panel.is_here_M for panel in panels], axis=0)
    assert (covered == 1).all()
    point = {'memory_labels': 'near', 'gamma': 0.8, 'seed': 2}
    loss = run.results.train_loss.sel(point).item()
    assert members['train_loss'][panels[3].is_here_M][2] == loss


@pytest.mark.slow
def test_without_other_axes_the_title_is_gamma(open_sweep):
    run = open_sweep('flow')
    members = tabulate_members(run, list_points(run, TASK))
    assert [panel.title for panel in list_panels(members)] == ['γ 0.3', 'γ 0.8']


@pytest.mark.slow
def test_diverged_members_are_counted_and_left_out(open_sweep):
    run = open_run(open_sweep('flow').folder.workdir)
    assert count_diverged(run) == 0
    results = run.results.copy(deep=True)
    results.diverged.loc[{'gamma': 0.8, 'seed': [0, 1]}] = 10
    vars(run)['results'] = results  # where functools.cached_property keeps it
    assert count_diverged(run) == 2 and len(list_points(run, TASK)) == 4


def test_the_kinds_by_hand():
    tokens = list_tokens(MemoryReasoningConfig())
    assert tuple(tokens) == KINDS
    assert tokens['memory'].tolist() == list(range(1, 11))
    assert tokens['reasoning'].tolist() == list(range(11, 21))
    assert tokens['both'].tolist() == list(range(1, 21))
    assert (tokens['keys'][0], tokens['keys'][-1]) == (21, 120)
