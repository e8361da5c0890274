"""P1's claims about text tasks: which networks each of them compares."""

import dataclasses

import pytest

from analysis import frame
from analysis.claims import tabulate
from analysis.text_tasks import claims
from anchorjax import config
from tests.support.sweeps import ROOT


@pytest.mark.parametrize(
    ('first', 'second'),
    [('scan.py', 'scan.py:laptop'), ('prontoqa.py', 'prontoqa.py:sizes')],
)
def test_runs_whose_seeds_are_pooled_train_the_same_setting(first, second):
    both = []
    for preset in (first, second):
        experiment = config.resolve(config.load(str(ROOT / 'configs' / preset)))
        task = dataclasses.replace(experiment.task, num_examples=500)
        both.append(dataclasses.replace(experiment, name='', static_axes=(), task=task))
    assert both[0] == both[1]


@pytest.mark.slow
def test_a_run_of_one_task_is_enough_for_the_table(open_planted):
    run = open_planted('addition')
    members = frame.collect({'addition': run}, claims.tabulate)
    table = tabulate(claims.CLAIMS, members).set_index('source')
    assert (table.loc['ours, on P1 Fig 6 b'].n == 0).all()
    assert members.test.notna().all()
    assert members.gen.isna().all()
