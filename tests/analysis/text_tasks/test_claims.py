"""P1's claims about text tasks pool runs that differ in their seeds alone."""

import dataclasses

import pytest

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
        both.append(dataclasses.replace(experiment, name='', loop=(), task=task))
    assert both[0] == both[1]
