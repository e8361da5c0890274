"""P1's claims about text tasks: which networks each of them compares."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from analysis import frame
from analysis.claims import tabulate
from analysis.estimates import select
from analysis.text_tasks import claims
from analysis.text_tasks.claims import (
    BOTH,
    DECAY_LARGE,
    DECAY_SMALL,
    GAMMA_STRONG,
    GAMMA_WEAK,
)
from anchorjax import config
from tests.support.sweeps import ROOT

SIZES = (500, 1_000)


def plant_members(strong: float = 0.5) -> pd.DataFrame:
    """Small initialization adds 0.1 to what is answered, strong decay 0.01; more steps
    by half, and by a tenth. The larger size answers twice as much."""
    rows = []
    for size, seed in ((size, seed) for size in SIZES for seed in range(3)):
        for gamma, is_small in ((0.5, 0), (0.7, 1)):
            for decay, is_strong in ((0.01, 0), (strong, 1)):
                answer = size / 500 * (0.2 + 0.1 * is_small + 0.01 * is_strong)
                steps = (100 + seed) * 1.5**is_small * 1.1**is_strong
                rows.append((size, gamma, decay, seed, answer + 0.3 * seed, steps))
    names = ['size', 'gamma', 'weight_decay', 'seed', 'test', 'steps']
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize('strong', [0.1, 0.5])
@pytest.mark.parametrize(
    ('contrast', 'effect'),
    [
        (BOTH, 0.11),
        (GAMMA_WEAK, 0.1),
        (GAMMA_STRONG, 0.1),
        (DECAY_LARGE, 0.01),
        (DECAY_SMALL, 0.01),
    ],
)
def test_a_contrast_compares_its_two_corners_at_one_size(contrast, effect, strong):
    found = claims.compare(
        'p.fig', 'P1', 'scan', 'test', 'commands', SIZES, (contrast,)
    )
    members = plant_members(strong)
    for claim, factor in zip(found, (1, 2), strict=True):
        of_size = select(members, claim.where)
        np.testing.assert_allclose(claim.estimate(of_size).values, factor * effect)


def test_steps_are_compared_as_a_ratio():
    """Fewer steps of the small corner: the large one by it is above 1; here below."""
    claim = claims.list_steps()[0]
    assert claim.sentence.startswith('1,000 examples')
    members = select(plant_members(0.1), claim.where)
    log_ratios = claim.estimate(members).values
    np.testing.assert_allclose(np.exp(log_ratios), 1 / 1.65)


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
