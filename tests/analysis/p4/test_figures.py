"""The numbers of P4's figures: planted, and of a tiny sweep."""

import numpy as np
import pandas as pd
import pytest

from analysis.p4 import decay_complexity, decay_grid, decay_windows, start_or_end
from analysis.p4.claims import compare_effects
from analysis.p4.members import ALL, NONE, tabulate
from anchorjax.errors import UserError

GRID = {
    '0–0.25': (0, 0.25),
    '0–0.5': (0, 0.5),
    ALL: (0, 1),
    '0.25–0.5': (0.25, 0.5),
    '0.25–1': (0.25, 1),
    '0.5–1': (0.5, 1),
}


def plant(accuracy, windows=tuple(GRID), seeds=8):
    """Networks whose accuracy on unseen pairs is a function of (start, end)."""
    rows = []
    for window in windows:
        start, end = GRID[window]
        for seed in range(seeds):
            unseen = accuracy(start, end) + 0.001 * seed
            rows.append((window, start, end, end - start, seed, unseen))
    columns = ['window', 'start', 'end', 'window_share', 'seed', 'unseen']
    members = pd.DataFrame(rows, columns=columns)
    return members.assign(train_loss=0.01, asked='unseen pairs')


@pytest.mark.parametrize(
    ('effect', 'distances'),
    [
        # Ends that share a start: .25 and .5, .25 and 1, .5 and 1; .5 and 1.
        ('end', [0.25, 0.75, 0.5, 0.5]),
        # 0 and .25 at the ends .5 and 1; 0 and .5, .25 and .5 at the end 1.
        ('start', [0.25, 0.25, 0.5, 0.25]),
    ],
)
def test_an_effect_of_one_bound_alone_is_found(effect, distances):
    single = plant(lambda start, end: 0.8 * {'start': start, 'end': end}[effect])
    expected = 0.8 * np.mean(distances)
    np.testing.assert_allclose(start_or_end.measure_gain(single, effect), expected)
    gain = start_or_end.measure_gain(single, start_or_end.EFFECTS[effect])
    np.testing.assert_allclose(gain, 0, atol=1e-12)


@pytest.mark.parametrize(
    ('start', 'end', 'expected'),
    [(0.0, 0.4, 0.2), (0.0, -0.4, 0.2), (0.4, 0.0, -0.2), (-0.4, 0.4, 0.0)],
)
def test_effects_are_compared_in_size(start, end, expected):
    """Windows from 0 and .5 to .5 and 1, with an effect of each bound."""
    windows = ('0–0.5', ALL, '0.5–1')
    members = plant(lambda first, last: start * first + end * last, windows)
    found = compare_effects(members)
    np.testing.assert_allclose(found.values, expected, atol=1e-12)


def test_a_grid_has_every_window_of_one_piece_and_the_others_beside_it(monkeypatch):
    without = plant(lambda start, end: 0.1, windows=(ALL,))
    without = without.assign(window=NONE, start=np.nan, end=np.nan, window_share=0.0)
    members = pd.concat([plant(lambda start, end: end), without])
    monkeypatch.setattr(start_or_end, 'tabulate', lambda run: members)
    result = start_or_end.compute(None)
    assert result.unseen.sel(start=0.25, end=0.5) == pytest.approx(0.5 + 0.0035)
    assert np.isnan(result.unseen.sel(start=0.5, end=0.25))
    np.testing.assert_allclose(result.gain.sel(effect='start'), 0, atol=1e-12)
    assert (result.gain.sel(effect='end') > 0.2).all()
    np.testing.assert_allclose(result.unseen_other.sel(other=NONE), without.unseen)
    narrow = members[members.end == 1]  # no two of them differ in their end
    monkeypatch.setattr(start_or_end, 'tabulate', lambda run: narrow)
    with pytest.raises(UserError, match='no two windows differ in their end alone'):
        start_or_end.compute(None)


def test_the_map_of_decay_is_of_constant_decay_alone(monkeypatch):
    members = plant(lambda start, end: end - start, windows=('0–0.25', ALL))
    members = members.assign(decay=0.3, gamma=0.8, seen=1.0)
    monkeypatch.setattr(decay_grid, 'tabulate', lambda run: members)
    (cell,) = decay_grid.compute(None).to_dict('records')
    assert cell['networks'] == 8 and cell['unseen'] == pytest.approx(1 + 0.0035)
    windowed = members[members.window != ALL]
    monkeypatch.setattr(decay_grid, 'tabulate', lambda run: windowed)
    with pytest.raises(UserError, match='no trained member has decay in all steps'):
        decay_grid.compute(None)


@pytest.mark.slow
def test_windows_have_the_values_of_their_networks(windows_run):
    members = tabulate(windows_run).pivot(index='window', columns='seed')
    result = decay_windows.compute(windows_run).isel(cell=0)
    names = [NONE, ALL, '0.25–0.5', '0.25–1']
    assert result.window.values.tolist() == names
    np.testing.assert_array_equal(result.value, members.unseen.loc[names])
    np.testing.assert_allclose(result['mean'], result.value.mean('seed'), rtol=1e-6)
    np.testing.assert_allclose(result.accuracy[:, -1], result['mean'], rtol=1e-6)
    first = result.isel(piece=0)
    np.testing.assert_equal(first.start.values, [np.nan, 0, 0.25, 0.25])
    np.testing.assert_equal(first.end.values, [np.nan, 1, 0.5, 1])
    # No network learns it within 8 steps.
    moments = decay_windows.compute(windows_run, measure='moment')
    assert (moments.value == 8).all()


def test_complexity_by_hand():
    identity = {'W_V': np.eye(6)}
    rank_one = {'W_V': np.ones((6, 6))}
    params = {'block_0': identity, 'block_1': rank_one, 'W_embed': np.eye(9)}
    assert decay_complexity.measure_complexity(params) == pytest.approx(3.5)


@pytest.mark.slow
def test_complexity_is_read_at_a_fifth_of_training(windows_run):
    result = decay_complexity.compute(windows_run)
    assert result.snapshot.values.tolist() == [0, 2, 8] and result.step == 2
    params = windows_run.params(2, decay_window=(2, 4), seed=1)
    expected = decay_complexity.measure_complexity(params)
    assert result.early[5] == pytest.approx(expected)
    early = decay_complexity.measure_early(windows_run, tabulate(windows_run))
    np.testing.assert_allclose(early, result.early)
    # Before any step the window does not matter, the seed does.
    first = result.complexity[:, 0]
    np.testing.assert_allclose(first[::2], first[0])
    assert first[0] != first[1]
