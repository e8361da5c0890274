"""The figure of text tasks: what γ and decay change, by hand, and its baselines."""

import numpy as np
import pandas as pd
import pytest

from analysis.text_tasks import generalization


@pytest.fixture
def constant_baselines(monkeypatch):
    """Baselines without their data, whose generation takes most of the time."""
    eval_sets = ('seen_train', 'seen_heldout', 'test')
    scores = {'table': dict.fromkeys(eval_sets, 0.0), 'constant': {'seen_train': 0.1}}
    monkeypatch.setattr(generalization, 'score_baselines', lambda config, seed: scores)


def plant_members(answer) -> pd.DataFrame:
    """Two γ, two decays and three seeds."""
    rows = []
    for gamma in (0.5, 0.7):
        for decay in (0.01, 0.1):
            for seed in range(3):
                rows.append((gamma, decay, seed, answer(gamma, decay, seed)))
    names = ['gamma', 'weight_decay', 'seed', 'score']
    return pd.DataFrame(rows, columns=names)


def test_contrasts_by_hand():
    members = plant_members(lambda gamma, decay, seed: 0.0)
    names = []
    for contrast in generalization.list_contrasts(members):
        names.append(generalization.name_contrast(*contrast))
    assert names == [
        'γ 0.5 → 0.7 at decay 0.01',
        'γ 0.5 → 0.7 at decay 0.1',
        'decay 0.01 → 0.1 at γ 0.5',
        'decay 0.01 → 0.1 at γ 0.7',
        'γ 0.5 → 0.7, decay 0.01 → 0.1',
    ]
    one_decay = members[members.weight_decay == 0.1]
    assert generalization.list_contrasts(one_decay) == [((0.5, 0.1), (0.7, 0.1))]
    assert generalization.list_contrasts(one_decay[one_decay.gamma == 0.5]) == []


def test_effects_are_paired_by_seed():
    """Seeds differ by 0.3, γ adds 0.05 to each: paired there is no spread."""
    members = plant_members(lambda gamma, decay, seed: 0.3 * seed + 0.25 * gamma)
    effects = generalization.tabulate_effects(members).set_index('contrast')
    gamma = effects.loc['γ 0.5 → 0.7 at decay 0.01', ['mean', 'low', 'high']]
    np.testing.assert_allclose(gamma.astype(float), 0.05, atol=1e-9)
    decay = effects.loc['decay 0.01 → 0.1 at γ 0.5', ['mean', 'low', 'high']]
    np.testing.assert_allclose(decay.astype(float), 0, atol=1e-9)


@pytest.mark.parametrize('sizes', [(64,), (32, 64)])
def test_a_row_is_what_its_network_answers(open_planted, constant_baselines, sizes):
    run = open_planted('scan', static_axes=(('task.num_examples', sizes),))
    result = generalization.compute(run)
    assert result.eval_set.unique().tolist() == ['seen_train', 'seen_heldout', 'test']
    of_groups = generalization.select_largest(result[result.group != ''])
    assert len(of_groups.drop_duplicates(['gamma', 'weight_decay', 'seed'])) == 4
    for row in of_groups.iloc[::7].to_dict('records'):
        axes = ('gamma', 'weight_decay', 'seed')
        point = {axis: row[axis] for axis in axes}
        point |= {'num_examples': 64} if len(sizes) > 1 else {}
        planted = run.results.agreement_by_group.sel(run.labels(**point)).sel(
            eval_set=row['eval_set'], group=row['group'], mapping='assigned'
        )
        assert row['score'] == pytest.approx(planted.item())
