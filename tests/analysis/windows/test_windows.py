"""Windows of decay in a sweep and in the figures: by hand, and planted."""

import collections
import itertools

import numpy as np
import pytest

from analysis import decay_complexity, decay_grid, decay_windows, start_or_end
from analysis.critical_windows_claims import tabulate_members
from analysis.decay_windows import read_pieces
from analysis.members.statistics import mean_interval
from analysis.windows import nulls, readings
from analysis.windows.members import (
    ALL,
    NONE,
    collect_members,
    find_ends,
    find_moment,
    list_windows,
    measure_width,
    name_window,
)
from anchorjax.errors import UserError
from anchorjax.task import Batch
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from anchorjax.tasks.scan.grammar import interpret, list_commands, list_lines
from anchorjax.tasks.scan.task import ScanConfig
from tests.support.drawing import draw_pixels
from tests.support.planted_windows import plant_members

FIGURES = (decay_windows, decay_grid, decay_complexity)
GRID = ('0–0.25', '0–0.5', ALL, '0.25–0.5', '0.25–1', '0.5–1')
PIECES = '0–0.1, 0.3–0.4'


@pytest.mark.parametrize(
    ('bounds', 'name', 'ends'),
    [
        ((), ALL, (0, 1)),
        ((0, 200), ALL, (0, 1)),
        ((0, 0), NONE, (np.nan, np.nan)),
        ((50, 100), '0.25–0.5', (0.25, 0.5)),
        ((1, 51), '0.005–0.255', (0.005, 0.255)),
        ((0, 20, 60, 80), '0–0.1, 0.3–0.4', (0, 0.4)),
    ],
)
def test_a_window_is_named_by_its_shares_of_training(bounds, name, ends):
    assert name_window(bounds, 200) == name
    np.testing.assert_array_equal(find_ends(bounds, 200), ends)
    pieces = read_pieces(name)
    width = sum(end - start for start, end in pieces)
    assert width == pytest.approx(measure_width(bounds, 200))


def test_a_moment_is_the_first_record_that_has_learned():
    steps = np.array([10, 20, 30])
    assert find_moment(steps, np.array([0.1, 0.95, 0.2])) == 20
    assert np.isnan(find_moment(steps, np.array([0.1, 0.94, 0.9])))


def test_a_successor_is_the_most_frequent_one_that_is_scored():
    batch = Batch(
        tokens_BT=np.array([[0, 1, 2], [0, 1, 2], [0, 1, 3]]),
        targets_BQ=np.array([[1, 2, 3], [1, 4, 0], [1, 4, 4]]),
        weights_BQ=np.array([[0, 1, 1], [0, 1, 1], [0, 1, 0.5]]),
    )
    # After 1 came 2, 4, 4; after 2 came 3 and 0, the first of equals; after 3 came 4.
    assert nulls.find_successors(batch, 5).tolist() == [0, 4, 0, 4, 0]


def test_the_null_is_chance_or_a_table_of_bigrams():
    assert nulls.score_null(AnchorPermutationsConfig(num_keys=8), 0) == 1 / 8
    assert nulls.score_null(ModularAdditionConfig(modulus=5), 0) == 1 / 5


@pytest.mark.slow
def test_the_null_of_scan_is_a_table_of_bigrams_that_was_counted_by_hand():
    lines = list_lines('addprim_jump')
    commands = list_commands()
    tested = [commands[row] for row in lines.tested]
    trained = [commands[row] for row in lines.trained]
    trained += ['jump'] * (len(trained) // 9)

    tally: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for before, after in list_bigrams(trained):
        tally[before][after] += 1
    right = []
    for before, after in list_bigrams(tested):
        right.append(tally[before].most_common(1)[0][0] == after)
    config = ScanConfig(split='addprim_jump', probe_examples=len(tested))
    assert nulls.score_null(config, 0) == pytest.approx(np.mean(right), abs=1e-6)


def list_bigrams(commands):
    """Every word of the answers with the word before it."""
    for command in commands:
        yield from itertools.pairwise(['OUT', *interpret(command), 'END'])


@pytest.mark.slow
def test_members_are_those_of_the_sweep(windows_run):
    assert list(windows_run.experiment.axes)[3:] == ['decay_window', 'seed']
    members = collect_members(windows_run)
    assert members.window.tolist() == [ALL] * 2 + [NONE] * 2 + ['0.25–0.5'] * 2
    assert members.seed.tolist() == [0, 1] * 3
    for m, window in enumerate([(), (0, 0), (2, 4)]):
        point = {'decay_window': window, 'seed': 1}
        curve = windows_run.curves.sel(windows_run.labels(**point)).squeeze()
        unseen = curve.agreement.sel(probe='unseen', mapping='assigned')
        np.testing.assert_array_equal(members.unseen_MS[2 * m + 1], unseen)
    table = tabulate_members({'tiny': windows_run})
    assert table.window.tolist() == members.window.tolist()


@pytest.mark.slow
def test_decay_acts_where_the_window_says(windows_run):
    """Until step 2 the window is closed; then it decays as much as four times all."""

    def norms(step, window):
        params = windows_run.params(step, decay_window=window, seed=0)
        return np.linalg.norm(params['block_0']['W_V'])

    assert norms(2, (2, 4)) == pytest.approx(norms(2, (0, 0)), rel=1e-6)
    assert norms(2, ()) < 0.99 * norms(2, (0, 0))
    assert norms('last', (2, 4)) < 0.99 * norms('last', (0, 0))


@pytest.mark.slow
@pytest.mark.parametrize('figure', FIGURES)
def test_drawn_twice_is_the_same(windows_run, figure):
    result = figure.compute(windows_run)
    first = draw_pixels(result, figure)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, figure))


@pytest.mark.slow
@pytest.mark.parametrize('figure', [*FIGURES, start_or_end])
def test_another_task_is_one_clear_line(finished, figure):
    with pytest.raises(UserError, match="task 'anchors': this figure is about"):
        figure.compute(finished)


@pytest.mark.slow
def test_another_measure_is_one_clear_line(windows_run):
    with pytest.raises(UserError, match=r"measure = 'x': must be one of"):
        decay_windows.compute(windows_run, measure='x')


@pytest.fixture
def plant(monkeypatch):
    """A function: the result of a figure of members with planted accuracies."""

    def compute(figure, plant, **kwargs):
        members = plant_members(plant, **kwargs)
        monkeypatch.setattr(figure, 'collect_members', lambda run: members)
        return figure.compute(None)

    return compute


def test_means_and_intervals_are_those_that_were_planted(plant):
    def accuracy(window, decay, gamma, seed):
        return {'0–0.25': 0.1, '0.25–0.5': 0.9}.get(window, 0.5) + 0.01 * seed

    windows = (NONE, '0.25–0.5', ALL, '0–0.25')
    result = plant(decay_windows, accuracy, windows=windows, seeds=4)
    assert result.windows.tolist() == [NONE, ALL, '0–0.25', '0.25–0.5']
    np.testing.assert_allclose(result.mean_CW[0], [0.515, 0.515, 0.115, 0.915])
    expected = mean_interval(0.9 + 0.01 * np.arange(4))
    assert result.low_CW[0, 3] == pytest.approx(expected.low)
    assert (result.seeds_CW == 4).all()
    assert draw_pixels(result, decay_windows).ndim == 3


def test_a_grid_has_the_means_that_were_planted(plant):
    def accuracy(window, decay, gamma, seed):
        return decay * gamma + 0.01 * (seed - 1)

    result = plant(decay_grid, accuracy, decays=(0.0, 0.5), gammas=(0.2, 1.0), seeds=3)
    np.testing.assert_allclose(result.unseen_YG, [[0, 0], [0.1, 0.5]], atol=1e-12)


def by_end(window, decay, gamma, seed):
    """Only the end of a window matters."""
    return 0.8 * read_pieces(window)[-1][1] + 0.001 * seed if window != NONE else 0.0


def by_start(window, decay, gamma, seed):
    return 0.8 * read_pieces(window)[0][0] + 0.001 * seed


def test_an_effect_of_the_end_alone_is_found(plant):
    result = plant(start_or_end, by_end, windows=(*GRID, PIECES, NONE))
    start, end = result.effect_2S
    np.testing.assert_allclose(start, 0, atol=1e-12)
    # Pairs of ends that share a start: .25 and .5, .25 and 1, .5 and 1; .5 and 1.
    np.testing.assert_allclose(end, 0.8 * np.mean([0.25, 0.75, 0.5, 0.5]))
    assert result.pairs_2.tolist() == [4, 4]
    # Without 0–0.25 the pairs of .5 and 1 are left, from 0 and from .25.
    without = dict(zip(result.windows.tolist(), result.without_W2, strict=True))
    np.testing.assert_allclose(without['0–0.25'], [0, 0.8 * 0.5], atol=1e-12)
    np.testing.assert_allclose(result.unseen_YX[0], [0.2035, 0.4035, 0.8035])
    assert np.isnan(result.unseen_YX[2, :2]).all()
    assert result.piece_names.tolist() == [PIECES, NONE]
    assert draw_pixels(result, start_or_end).ndim == 3


def test_an_effect_of_the_start_alone_is_found(plant):
    result = plant(start_or_end, by_start, windows=GRID)
    start, end = result.effect_2S
    # 0 and .25 at the ends .5 and 1; 0 and .5, .25 and .5 at the end 1.
    np.testing.assert_allclose(start, 0.8 * np.mean([0.25, 0.25, 0.5, 0.25]))
    np.testing.assert_allclose(end, 0, atol=1e-12)


def test_the_window_that_makes_an_effect_alone_is_named(plant):
    def accuracy(window, decay, gamma, seed):
        return 0.1 if window == '0–0.25' else 0.5

    result = plant(start_or_end, accuracy, windows=GRID)
    reading = readings.read_effect(result, start_or_end.END)
    assert reading.verdict.words == 'holds'
    assert 'without 0–0.25 it is 0.00' in reading.note


def test_without_a_pair_of_windows_it_is_one_clear_line(plant):
    with pytest.raises(UserError, match='no two windows differ in their start alone'):
        plant(start_or_end, by_end, windows=('0–0.25', '0–0.5'))


def test_complexity_by_hand():
    identity = {'W_V': np.eye(6)}
    rank_one = {'W_V': np.ones((6, 6))}
    params = {'block_0': identity, 'block_1': rank_one, 'W_embed': np.eye(9)}
    assert decay_complexity.measure_complexity(params) == pytest.approx(3.5)


@pytest.mark.slow
def test_complexity_is_read_at_a_fifth_of_training(windows_run):
    result = decay_complexity.compute(windows_run)
    assert result.snapshot_C.tolist() == [0, 2, 8] and result.step == 2
    params = windows_run.params(2, decay_window=(2, 4), seed=1)
    expected = decay_complexity.measure_complexity(params)
    assert result.early_M[5] == pytest.approx(expected)
    # Before any step the window does not matter, the seed does.
    first = result.complexity_MC[:, 0]
    np.testing.assert_allclose(first[::2], first[0])
    assert first[0] != first[1]


def test_windows_are_listed_none_first_then_by_start_and_end():
    windows = (PIECES, '0.5–1', '0–0.5', ALL, NONE, '0–0.25')
    members = plant_members(lambda *point: 0.5, windows=windows)
    found = list_windows(members, np.ones(len(members.seed), bool))
    assert found == [NONE, ALL, '0–0.25', '0–0.5', '0.5–1', PIECES]
