"""Rules of P4's claims: planted as the paper says, the other way round, and flat."""

import numpy as np
import pytest

from analysis.members import statistics
from analysis.old_claims.verdicts import VERDICTS
from analysis.windows import readings, table
from analysis.windows.claims import CLAIMS
from analysis.windows.members import ALL, NONE
from analysis.windows.readings import MUCH, NEAR, Group
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.planted_windows import make_result, plant_members
from tests.support.sweeps import ROOT

A, B = Group('a', window='0–0.25'), Group('b', window='0.25–0.5')


def compare(difference, spread=0.02, seeds=8):
    """The result of members of which A is better than B by so much."""

    def accuracy(window, decay, gamma, seed):
        wave = spread * (-1) ** seed if window == A.window else 0.0
        return 0.3 + wave + (difference if window == A.window else 0.0)

    windows = (A.window, B.window)
    return make_result(plant_members(accuracy, windows=windows, seeds=seeds))


@pytest.mark.parametrize(
    ('rule', 'border', 'verdicts'),
    [
        # For differences of 0.6, 0.1, 0 and -0.25, and for one that is not sure.
        (
            readings.judge_better,
            MUCH,
            ('holds', 'does not hold', 'does not hold', 'opposite', 'undecided'),
        ),
        (
            readings.judge_equal,
            NEAR,
            ('does not hold', 'undecided', 'holds', 'does not hold', 'undecided'),
        ),
        (
            readings.judge_no_worse,
            NEAR,
            ('holds', 'holds', 'holds', 'opposite', 'undecided'),
        ),
    ],
)
def test_a_difference_is_judged_by_its_interval(rule, border, verdicts):
    cases = [(0.6, 0.02), (0.1, 0.02), (0.0, 0.02), (-0.25, 0.02), (0.0, 0.6)]
    for (difference, spread), words in zip(cases, verdicts, strict=True):
        result = compare(difference, spread)
        reading = readings.read_difference(result, A, B, rule, border)
        assert reading.verdict.words == words, (difference, reading)
        assert f'difference {difference:.2f}' in reading.number.replace('-0.00', '0.00')
        assert 'train loss 0.01' in reading.note and '8 seeds' in reading.note


def test_fewer_than_three_seeds_decide_nothing():
    reading = readings.read_difference(
        compare(0.6, seeds=2), A, B, readings.judge_better, MUCH
    )
    assert reading.verdict.words == 'undecided'
    assert '2 seeds, at least 3 needed' in reading.note
    nobody = Group('c', window='0.5–0.75')
    reading = readings.read_difference(
        compare(0.6), A, nobody, readings.judge_better, MUCH
    )
    assert reading.note == 'no member of both'


def test_seeds_are_paired_and_others_are_left_out():
    members = plant_members(lambda w, d, g, s: 0.1 * s, windows=(A.window, B.window))
    kept = np.arange(len(members.seed)) != 2  # seed 2 of A
    parts = {}
    for name, values in members._asdict().items():
        parts[name] = values if name == 'step_S' else values[kept]
    i, j = readings.pair(members._replace(**parts), A, B)
    assert parts['seed'][i].tolist() == parts['seed'][j].tolist()
    assert 2 not in parts['seed'][i] and len(i) == 7


@pytest.mark.parametrize(
    ('share', 'words'),
    [(1.0, 'holds'), (0.0, 'opposite'), (0.5, 'undecided')],
)
def test_a_share_of_seeds_against_half(share, words):
    members = plant_members(lambda w, d, g, s: float(s < 12 * share), seeds=12)
    reading = readings.read_share(make_result(members), Group('all'), border=0.5)
    assert reading.verdict.words == words


@pytest.mark.parametrize(
    ('factors', 'words'),
    [((1.5, 1.0), 'holds'), ((0.5, 1.0), 'opposite'), ((1.5, np.nan), 'undecided')],
)
def test_a_moment_is_compared_as_a_ratio(factors, words):
    members = plant_members(lambda w, d, g, s: 1.0, windows=(A.window, B.window))
    jitter = 1 + 0.01 * members.seed
    factor_M = np.where(members.window == A.window, *factors) * jitter
    result = make_result(members._replace(moment=40 * factor_M))
    assert readings.read_moments(result, A, B).verdict.words == words


@pytest.mark.parametrize(
    ('effects', 'words'),
    [
        ((0.0, 0.4), 'holds'),
        ((0.0, -0.4), 'holds'),
        ((0.4, 0.1), 'opposite'),
        ((-0.4, 0.1), 'opposite'),
        ((0.4, 0.4), 'undecided'),
        ((0.0, 0.0), 'undecided'),
    ],
)
def test_the_end_decides_if_its_effect_is_surely_the_larger(effects, words):
    noise = 0.02 * (-1.0) ** np.arange(8)
    members = plant_members(lambda w, d, g, s: 0.5)
    effect_2S = np.array([effects[0] + noise, effects[1] - noise])
    result = make_result(members, effect_2S=effect_2S, pairs_2=(4, 4))
    assert readings.read_end_decides(result).verdict.words == words


@pytest.mark.parametrize(
    ('slope', 'words'),
    [(0.0, 'holds'), (1.0, 'does not hold'), (-1.0, 'does not hold')],
)
def test_a_correlation_is_weak_or_not(slope, words, monkeypatch):
    monkeypatch.setattr(statistics, 'BOOTSTRAPS', 200)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 48))
    members = plant_members(lambda w, d, g, s: 0.0, decays=range(8), seeds=6)
    early_M = noise[0]
    unseen_M = slope * early_M + 0.1 * noise[1] if slope else noise[1]
    result = make_result(
        members._replace(unseen=unseen_M),
        early_M=early_M,
        correlation=readings.rank_correlation(early_M, unseen_M),
    )
    assert readings.read_weak_correlation(result).verdict.words == words


@pytest.mark.parametrize(
    ('rises', 'words'),
    [((0.1, 0.4), 'holds'), ((0.4, 0.1), 'opposite'), ((0.2, 0.2), 'undecided')],
)
def test_a_rise_is_found_inside_a_window_or_after_it(rises, words):
    members = plant_members(lambda w, d, g, s: 0.0, windows=(B.window, '0.75–1'))
    step_S = members.step_S / members.step_S[-1]  # tenths; 0.25 to 0.5, then 0.625
    inside, after = rises
    shape_S = 0.1 + inside * (step_S > 0.25) * (step_S <= 0.5)
    shape_S = shape_S + (inside + after) * (step_S > 0.5)
    noise_M1 = 0.02 * (-1.0) ** members.seed[:, None] * (step_S > 0.5)
    result = make_result(members._replace(unseen_MS=shape_S + noise_M1))
    reading = readings.read_release(result)
    assert reading.verdict.words == words
    found = readings.measure_rises(result.members)
    np.testing.assert_allclose(found[0][0], inside)
    np.testing.assert_allclose(found[1][0], after + 0.02)


def as_the_paper(window, decay, gamma, seed):
    """P4's numbers, roughly (PAPERS 4.2)."""
    if window == NONE or decay < 0.05:
        value = 0.15
    elif decay > 0.5:
        value = 0.2
    elif window == ALL:
        value = 0.9 if gamma > 0.6 else 0.4
    elif window in ('0.75–1', '0.9–1'):
        value = 0.73 if window == '0.75–1' else 0.5
    elif window.startswith('0–') and ',' not in window:
        value = 0.15
    else:
        value = 0.93 if gamma > 0.6 else 0.45
    return value + 0.01 * (-1) ** seed


WINDOWS = (
    NONE,
    ALL,
    '0–0.25',
    '0.25–0.5',
    '0.75–1',
    '0–0.1',
    '0.25–0.35',
    '0.9–1',
    '0.02–0.27',
    '0.2–0.45',
    '0–0.125, 0.625–0.75',
    '0.5–0.75',
)
DECAYS = (0.0, 1e-3, 0.1, 1 / 3, 1.0, 1e-2 / 3e-3)


def read_all(plant):
    """{sentence: verdict} of the claims that compare accuracies."""
    by_window = plant_members(plant, windows=WINDOWS, gammas=(0.5, 0.8, 1.1), seeds=12)
    at_gamma = by_window.gamma == 0.8
    windows = {
        name: values if name == 'step_S' else values[at_gamma]
        for name, values in by_window._asdict().items()
    }
    middle = by_window.window == '0.25–0.5'
    gammas = {
        name: values if name == 'step_S' else values[middle]
        for name, values in by_window._asdict().items()
    }
    static = plant_members(plant, decays=DECAYS, gammas=(0.5, 0.8, 1.1), seeds=12)
    found = {}
    for claim in CLAIMS:
        members = by_window._replace(**windows)
        if claim.preset in ('static', 'complexity'):
            members = static
        if claim.preset in ('gammas', 'seeds'):
            members = by_window._replace(**gammas)
        unfit = ('grokking', 'start_or_end', 'scan')
        is_other = 'correlation' in claim.sentence or 'decay stops' in claim.sentence
        if claim.preset in unfit or is_other:
            continue
        found[claim.source, claim.sentence] = claim.read(make_result(members))
    return found


def test_what_is_planted_as_the_paper_says_holds():
    for (source, sentence), reading in read_all(as_the_paper).items():
        is_refuted = 'Theory' in sentence or 'as written' in source
        expected = 'does not hold' if is_refuted else 'holds'
        assert reading.verdict.words == expected, (sentence, reading)


def test_what_is_planted_the_other_way_round_never_holds():
    def reverse(window, decay, gamma, seed):
        return 1 - as_the_paper(window, decay, gamma, seed)

    symmetric = ('as much as', 'Theory', 'no worse', 'no better')
    for (_, sentence), reading in read_all(reverse).items():
        if not any(words in sentence for words in symmetric):
            assert reading.verdict.words in ('opposite', 'does not hold'), sentence


def test_in_a_flat_world_nothing_is_much_better():
    rng = np.random.default_rng(1)

    def draw(window, decay, gamma, seed):
        return 0.5 + 0.05 * rng.normal()

    for (_, sentence), reading in read_all(draw).items():
        if 'much' in sentence.replace('as much', '') or 'cliff:' in sentence:
            assert reading.verdict.words in ('does not hold', 'opposite'), sentence


SCAN = [claim for claim in CLAIMS if claim.preset == 'scan']


def read_scan(change, last_share=1.0, whole=0.0):
    """{sentence: verdict} where windows change the share of right tokens by so much.

    Args:
      last_share: accuracy at the end, as a share of that at any earlier step.
      whole: share of right whole answers.
    """

    def accuracy(window, decay, gamma, seed):
        wave = 0.01 * (-1) ** seed
        return 0.5 + (0.0 if window == NONE else change + wave)

    windows = (NONE, ALL, '0–0.25', '0.25–0.75')
    members = plant_members(accuracy, windows, decays=(5e-3, 0.5, 50.0))
    is_last_S = members.step_S == members.step_S[-1]
    shares_S = np.where(is_last_S, 1.0, 1 / last_share)
    result = make_result(
        members._replace(
            unseen_MS=members.unseen[:, None] * shares_S,
            whole=np.full(len(members.seed), whole),
        )
    )
    return {claim.sentence: claim.read(result).verdict.words for claim in SCAN}


@pytest.mark.parametrize(
    ('change', 'of_p4', 'ours'),
    [
        (0.07, 'holds', 'holds'),
        (0.0, 'does not hold', 'undecided'),
        (0.03, 'undecided', 'holds'),
        (-0.07, 'opposite', 'opposite'),
    ],
)
def test_decay_in_a_window_helps_on_scan_or_not(change, of_p4, ours):
    found = read_scan(change)
    compared = [found[sentence] for sentence in found if 'more tokens' in sentence]
    assert compared == [of_p4] * 6 + [ours] * 3


@pytest.mark.parametrize(
    ('last_share', 'words'), [(0.8, 'holds'), (1.0, 'does not hold'), (1.2, 'opposite')]
)
def test_without_decay_accuracy_falls_on_scan_or_not(last_share, words):
    found = read_scan(0.0, last_share)
    assert [found[name] for name in found if 'falls' in name] == [words]


@pytest.mark.parametrize(
    ('whole', 'words'), [(0.0, 'holds'), (0.1, 'does not hold'), (0.9, 'opposite')]
)
def test_somebody_answers_whole_commands_or_not(whole, words):
    found = read_scan(0.0, whole=whole)
    assert [found[name] for name in found if 'whole command' in name] == [words]


def test_every_claim_is_about_a_preset_that_exists():
    spec = f'{ROOT}/configs/critical_windows.py'
    presets = {claim.preset for claim in CLAIMS}
    for preset in presets:
        for name in (preset, f'paper_{preset or "position"}'):
            experiment = config.resolve(config.load(f'{spec}:{name}'))
            for claim in CLAIMS:
                assert claim.fits(experiment) == (claim.preset == preset)


@pytest.mark.slow
def test_the_table_has_a_row_for_every_claim(windows_run):
    found = table.tabulate_claims({'tiny': windows_run})
    assert set(found.claim) == {claim.sentence for claim in CLAIMS}
    assert set(found.verdict) <= {verdict.words for verdict in VERDICTS}
    of_run = found[found.run == 'tiny']
    assert set(of_run.source) == {'P4 E2a'} and len(of_run) == 5
    others = found[found.run == '–']
    assert set(others.note) == {'no trained run is about this'}


@pytest.mark.slow
def test_a_run_of_another_task_is_one_clear_line(finished):
    with pytest.raises(UserError, match="x: task 'anchors': must be one of 'anch"):
        table.tabulate_claims({'x': finished})
