"""Answers over training, a panel for every network, beside the official run."""

from functools import partial

import pandas as pd
import pytest

from analysis.drawing import style
from analysis.members import measures
from analysis.p1 import trajectories
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.planted_results import plant_curves
from tests.support.sweeps import experiment


def test_a_row_is_a_network_at_an_epoch_with_its_gamma_at_the_papers_width(tmp_path):
    pair = experiment(model__width=20, grid__gamma=(1.0, 1.6))
    run = plant_curves(tmp_path, pair)
    result = trajectories.compute({'a': run})
    assert result.groupby('gamma').paper_gamma.unique().str[0].tolist() == [0.5, 0.8]
    row = result.iloc[-1]
    point = {'gamma': row.gamma, 'seed': row.seed, 'step': row.epoch * (270 // 16)}
    found = run.curves.sel(point).squeeze()
    agreement = found.agreement.sel(eval_set='unseen', mapping='symmetric')
    assert row.symmetric == float(agreement)
    assert row.train_loss == float(found.train_loss)


def test_an_epoch_is_that_of_each_run_and_network(tmp_path):
    pair = {'model__width': 20, 'grid__gamma': (1.0, 1.6)}
    sizes = {'static_axes': (('train.batch_size', (8, 16, 100)),)}
    examples = {'static_axes': (('task.num_examples', (320, 640)),)}
    runs = {
        'sizes': plant_curves(tmp_path / 'sizes', experiment(**pair, **sizes)),
        'examples': plant_curves(tmp_path / 'examples', experiment(**pair, **examples)),
    }
    last = trajectories.compute(runs).groupby('run').epoch.max()
    assert last.to_dict() == {  # 40 steps; of 270 examples in batches of 8: 33 each
        'sizes, batch_size 8': 40 / 33,
        'sizes, batch_size 16': 40 / 16,
        'sizes, batch_size 100': 40 / 2,
        'examples, num_examples 320': 40 / 16,
        'examples, num_examples 640': 40 / 33,
    }
    paper = measures.count_epoch(config.resolve(config.default()))
    assert paper == config.P1_EPOCH


def test_a_line_is_one_network_that_did_not_diverge(tmp_path):
    axes = {'grid__gamma': (1.0, 1.6), 'grid__learning_rate': (1e-3, 1e-2)}
    run = plant_curves(tmp_path, experiment(model__width=20, **axes))
    run.curves.diverged.loc[{'gamma': 1.6, 'seed': 0, 'learning_rate': 1e-3}] = 7
    lines = trajectories.compute({'a': run}).groupby(['run', 'gamma', 'seed'])
    assert lines.ngroups == 7 and lines.epoch.nunique().eq(lines.size()).all()


def test_every_width_has_its_own_pair(tmp_path):
    widths = {
        'static_axes': (('model.width', (20, 64)),),
        'grid__gamma': (1.0, 1.15, 1.6),
    }
    result = trajectories.compute({'a': plant_curves(tmp_path, experiment(**widths))})
    for width, pair in ((20, {1.0: 0.5, 1.6: 0.8}), (64, {1.15: 0.8})):
        here = result[result.run == f'a, width {width}'].drop_duplicates('gamma')
        found = here.set_index('gamma').paper_gamma.to_dict()
        assert pair.items() <= found.items()


@pytest.mark.parametrize('has_official', [False, True])
def test_every_network_has_its_panel_and_no_gamma_is_left_out(tmp_path, has_official):
    """Two depths, three γ (0.5, 0.55, 0.8 at width 400) and two seeds."""
    official = {}
    if has_official:
        table = {'epoch': [1.0], 'composed': [0.7], 'symmetric': [0.1]}
        official = {0.5: pd.DataFrame(table | {'train_loss': [1.0]})}
    grid = experiment(
        model__width=20,
        grid__gamma=(1.0, 1.1, 1.6),
        grid__seed=(3, 4),
        static_axes=(('model.depth', (1, 2)),),
    )
    curves = trajectories.compute({'a': plant_curves(tmp_path, grid)})
    looks = [
        partial(function, official=official)
        for function in (trajectories.draw, trajectories.layout)
    ]
    with style.draw_figure(curves, *looks) as picture:
        titles = [axis.get_title() for axis in picture.axes if axis.axison]
        rows = [axis.get_ylabel() for axis in picture.axes if axis.get_ylabel()]
        assert picture.get_suptitle().startswith('a\n')
    assert titles.count('seed 3') == titles.count('seed 4') == 6
    assert titles.count(trajectories.OFFICIAL) == 2 * has_official
    assert sum('γ 1.1' in row for row in rows) == 2
    assert sum('depth 2' in row for row in rows) == 3


def test_a_run_without_an_unseen_pair_is_refused(tmp_path):
    run = plant_curves(tmp_path / 'seen', experiment(task__unseen=()))
    with pytest.raises(UserError, match='a: its task has no unseen pair'):
        trajectories.compute({'a': run})
