"""Commutativity by hand, the phases of P3, and planted maps for its claims."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from analysis.families.readings import decay as readings
from analysis.members.commutativity import measure_commutativity, replace_pair
from analysis.members.selection import find_column_axis
from analysis.p3 import decay_map
from analysis.p3.decay_map import PHASES, READINGS, Result, find_phase
from anchorjax.errors import UserError
from tests.support import cases
from tests.support.drawing import draw_pixels
from tests.support.networks.planted import make_member

SHIFTS = {1: 3, 2: 1, 3: -1, 4: -2}  # of cases.tiny


class Answers(NamedTuple):
    logits: np.ndarray  # [B, T, V]


def measure_rule(monkeypatch, answer):
    """Commutativity of a member that answers answer(a, b, key)."""
    member = make_member(None)

    def forward(self, tokens_BT):
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        logits = np.zeros((*tokens_BT.shape, 20))
        for b, (first, second) in enumerate(pairs_B2.tolist()):
            logits[b, -1, answer(first, second, keys_B[b])] = 1
        return Answers(logits)

    monkeypatch.setattr(type(member), 'forward', forward)
    return measure_commutativity(member)


def test_a_sum_commutes_and_chance_is_how_many_pairs_have_it(monkeypatch):
    found = measure_rule(monkeypatch, lambda a, b, x: x + SHIFTS[a] + SHIFTS[b])
    # Of the 14 pairs besides (4, 3) and (3, 4), none has its shift -3.
    assert found == (1.0, 0.0)


def test_a_wrong_answer_may_commute_and_a_right_one_need_not(monkeypatch):
    found = measure_rule(monkeypatch, lambda a, b, x: 7)
    assert found == (1.0, 1.0)
    found = measure_rule(monkeypatch, lambda a, b, x: x if a < b else x + 1)
    assert found.equal == 0
    # Of the other 14 pairs those with a < b answer otherwise: 5.
    assert found.chance == pytest.approx(9 / 14)


def test_only_the_anchors_are_replaced():
    tokens = np.array([[6, 3, 4, 9], [8, 7, 4, 3]])
    roles = np.array([[0, 1, 2, 3], [4, 0, 1, 2]])
    replaced = replace_pair(tokens, roles, (1, 2))
    assert replaced.tolist() == [[6, 1, 2, 9], [8, 7, 1, 2]]
    assert tokens[0].tolist() == [6, 3, 4, 9]


def test_without_an_unseen_pair_there_is_one_clear_line():
    for unseen in ((), ((2, 2),)):
        with pytest.raises(UserError, match='needs an unseen pair of two different'):
            measure_commutativity(make_member(None, task__unseen=unseen))


@pytest.mark.parametrize(
    ('heldout', 'inferential', 'commutativity', 'phase'),
    [
        (0.95, 0.95, 0.0, '3'),
        (0.2, 0.0, 1.0, '1'),
        (0.2, 0.95, 1.0, '1'),  # reasoning needs seen pairs, too
        (0.95, 0.0, 0.95, '2b'),
        (0.95, 0.0, 0.5, '2a'),
        (np.float32(0.9), np.float32(0.9), 0.0, '3'),
    ],
)
def test_phases_by_hand(heldout, inferential, commutativity, phase):
    assert PHASES[find_phase(heldout, inferential, commutativity)] == phase


def test_what_goes_across():
    rates = (1e-3, 2e-3)
    assert find_column_axis({'gamma': (0.5,), 'learning_rate': rates}) == (
        'learning_rate'
    )
    for gammas in ((0.5,), (0.5, 0.8)):
        axes = {'gamma': gammas, 'learning_rate': rates[: 3 - len(gammas)]}
        expected = 'learning_rate' if len(gammas) == 1 else 'gamma'
        assert find_column_axis(axes) == expected


@pytest.mark.slow
def test_a_map_of_a_sweep_reads_curves_and_last_snapshots(finished):
    result = decay_map.compute(finished, depth=2)
    assert result.reading_NYXS.shape == (len(READINGS), 1, 2, 2)
    assert result.fixed['depth'] == 2
    curves = finished.curves.sel(depth=2).squeeze(drop=True)
    unseen = curves.agreement.sel(probe='unseen', mapping='inferential')
    np.testing.assert_array_equal(result.read('inferential')[0], unseen[..., -1])
    best = result.read('inferential, best record')[0]
    np.testing.assert_array_equal(best, unseen.max('step'))
    first = draw_pixels(result, decay_map)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, decay_map))
    with pytest.raises(UserError, match='--gamma: the map shows all its values'):
        decay_map.compute(finished, gamma=0.3)


@pytest.mark.slow
def test_the_map_rises_whatever_the_order_of_the_grid(train_once):
    run = train_once('falling', grid__gamma=(0.8, 0.3), loop=())
    result = decay_map.compute(run)
    assert result.column_X.tolist() == [0.3, 0.8]
    unseen = run.results.agreement.sel(probe='unseen', mapping='inferential')
    for x, gamma in enumerate(result.column_X.tolist()):
        expected = unseen.sel(gamma=gamma).squeeze(drop=True)
        np.testing.assert_array_equal(result.read('inferential')[0, x], expected)


def make_map(
    fill, columns=(0.4, 0.6, 0.8), decays=(0.0, 0.01, 0.1), seeds=4, name='gamma'
) -> Result:
    """fill(x, y) in [0, 1] each -> readings by name; seeds differ by 0.001."""
    shape = (len(decays), len(columns), seeds)
    values = np.zeros((len(READINGS), *shape))
    phases = np.zeros(shape)
    for y, x, s in itertools.product(*map(range, shape)):
        place = (x / (len(columns) - 1), y / (len(decays) - 1))
        cell = dict.fromkeys(READINGS, 0.5) | fill(*place)
        for n, reading in enumerate(READINGS):
            values[n, y, x, s] = cell[reading] * (1 + 1e-3 * s)
        phases[y, x, s] = cell.get('phase', 0)
    return Result(
        column_name=name,
        column_X=np.array(columns),
        decay_Y=np.array(decays),
        seed_S=np.arange(seeds),
        fixed={},
        matrix='block_0/W_Q',
        reading_NYXS=values,
        phase_YXS=phases,
        train_loss_YXS=np.full(shape, 0.01),
        converged_YXS=np.full(shape, True),
    )


def fill_as_paper(x, y):
    inferential = 0.95 if x == 1 else 0.05 + 0.5 * y
    return {
        'inferential': inferential,
        'inferential, best record': inferential + 0.2,
        'commutativity': 0.9 if x > 0 else 0.1,
        'chance of that': 0.1,
        'stable rank': 100 * (1 - 0.9 * x) * (1 - 0.5 * y),
        'phase': round(3 * x) if x in (0, 1) else (1 if y else 2),
    }


def fill_flat(x, y):
    flat = {'inferential': 0.05, 'inferential, best record': 0.05}
    return flat | {'stable rank': 5.0, 'chance of that': 0.5}


def fill_reversed(x, y):
    filled = fill_as_paper(1 - x, y) if x in (0, 1) else fill_as_paper(x, y)
    filled['stable rank'] = 10 * (1 + x) * (1 + y)
    filled['inferential'] = 0.9 - 0.6 * x - 0.5 * y
    filled['phase'] = 3 - filled['phase']
    return filled | {'phase': [3, 2, 0][round(2 * x)]}


def read_all(result) -> dict[str, str]:
    found = {
        'gamma': readings.read_gamma_composes(result, ''),
        'decay': readings.read_decay_composes(result, ''),
        'rank': readings.read_rank_falls(result, '', 'column'),
        'rank, decay': readings.read_rank_falls(result, '', 'decay'),
        'phases': readings.read_phases(result, ''),
        'commutes': readings.read_commutes(result, ''),
        'oracle': readings.read_oracle(result, ''),
    }
    return {name: reading.verdict.words for name, reading in found.items()}


def test_the_papers_map_makes_its_claims_hold():
    assert set(read_all(make_map(fill_as_paper)).values()) == {'holds'}


def test_a_flat_map_does_not():
    words = read_all(make_map(fill_flat))
    assert set(words.values()) == {'does not hold'}


def test_answers_that_are_composed_are_no_commutativity_without_reasoning():
    def fill(x, y):
        return fill_as_paper(x, y) | {'inferential': 0.3, 'commutativity': 0.9}

    reading = readings.read_commutes(make_map(fill), '')
    assert reading.verdict.words == 'undecided'
    assert reading.note == 'a seed has no such member'


def test_a_reversed_map_is_the_opposite():
    words = read_all(make_map(fill_reversed))
    for name in ('gamma', 'decay', 'rank', 'rank, decay', 'phases'):
        assert words[name] == 'opposite', name


def test_cells_that_have_not_converged_decide_nothing():
    result = make_map(fill_as_paper)
    result.converged_YXS[1, -1] = False
    words = read_all(result)
    assert words['gamma'] == words['rank'] == 'undecided'
    reading = readings.read_gamma_composes(result, '')
    assert reading.note.startswith('0 of 4 seeds converged in both cells')


def test_trends_along_the_rate_and_the_decay():
    def fill(x, y):
        return {'inferential': x, 'directions of W_Q': 9 - 4 * x, 'stable rank': 1 + y}

    rates = make_map(fill, columns=(1e-3, 2e-3, 4e-3), name='learning_rate')

    def words(name, along, sign=1):
        return readings.read_trend(rates, '', name, along, sign).verdict.words

    assert words('inferential', 'rate') == 'holds'
    assert words('inferential', 'rate', -1) == 'opposite'
    assert words('directions of W_Q', 'rate', -1) == 'holds'
    assert words('stable rank', 'decay') == 'holds'
    # What is constant along an axis has no trend.
    assert words('inferential', 'decay') == 'undecided'
    rates.converged_YXS[:, 1:] = False  # two of three rates
    assert words('inferential', 'rate') == 'undecided'


def test_a_trend_that_only_unconverged_members_show_decides_nothing():
    def fill(x, y):
        return {'inferential': 0.9 if y == 1 else 0.1}

    result = make_map(fill, decays=(0.01, 0.1, 0.3, 1.0))
    reading = readings.read_trend(result, '', 'inferential', 'decay')
    assert reading.verdict.words == 'holds'
    result.converged_YXS[-1] = False
    reading = readings.read_trend(result, '', 'inferential', 'decay')
    assert reading.verdict.words == 'undecided'
    assert reading.note.startswith('the converged members alone do not show it')


def test_a_phase_that_is_missing_is_refuted_whatever_the_trend():
    result = make_map(fill_flat)
    for s in range(4):  # phases 1 and 2a alone, rising in two seeds and falling in two
        result.phase_YXS[:, :, s] = [0, 0, 1] if s % 2 else [1, 0, 0]
    reading = readings.read_phases(result, '')
    assert reading.verdict.words == 'does not hold'


def test_noise_is_no_trend():
    rng = np.random.default_rng(1)

    def fill(x, y):
        return {'inferential': rng.uniform()}

    rates = make_map(fill, columns=tuple(range(1, 6)), decays=tuple(range(5)), seeds=9)
    reading = readings.read_trend(rates, '', 'inferential', 'rate')
    assert reading.verdict.words in ('does not hold', 'undecided')
