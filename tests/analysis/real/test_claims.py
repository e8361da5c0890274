"""Claims about real tasks, on planted results: agreeing, reversed, flat, and none."""

import types

import hypothesis
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import strategies as st

from analysis import free_generation, generalization
from analysis.members.statistics import mean_interval
from analysis.old_claims.verdict_table import format_verdict_table
from analysis.real import claims, published, table
from analysis.real.claims import CLAIMS, list_places
from analysis.real.corners import CONTRASTS, find_contrast, list_contrasts
from analysis.real.readings import answers, pairs, steps
from analysis.real.readings.answers import LARGE_WEAK, SMALL_STRONG
from analysis.real.readings.seeds import (
    Place,
    judge_difference,
    pair_values,
    select_seeds,
)
from anchorjax import config
from anchorjax.errors import UserError
from tests.support import real_tasks
from tests.support.real_tasks import AGREEING, FLAT, MIXED, REVERSED, plant_result
from tests.support.sweeps import ROOT

LARGEST = Place('', real_tasks.SIZES[-1])
EXPERIMENTS = {
    name: config.resolve(real_tasks.make_config(name)) for name in real_tasks.PROBES
}
WORLDS = {
    'holds': AGREEING,
    'opposite': REVERSED,
    'does not hold': FLAT,
    'undecided': MIXED,
}
SINGLE = [claim for claim in CLAIMS if claim.partner is None]
# Seeds that differ do not make these undecided: heldout and own_proof are planted.
SURE = ('outside the square', 'judges as well')


def find_task(claim) -> str:
    (task,) = {name for name in EXPERIMENTS if claim.fits(EXPERIMENTS[name])}
    return task


def read_all(claim, world, **fields):
    """The readings of a claim at every place."""
    result = plant_result(world, find_task(claim), **fields)
    if claim.figure is free_generation:
        result = real_tasks.plant_shares(world, result)
    return [claim.read(result, place) for place in list_places([result], claim)]


@pytest.mark.parametrize('words', WORLDS)
def test_every_claim_comes_out_as_planted(words):
    for claim in SINGLE:
        if words == 'undecided' and any(text in claim.sentence for text in SURE):
            continue
        readings = read_all(claim, WORLDS[words])
        assert len(readings) == (1 if claim.is_about_all_sizes else 3)
        found = {reading.verdict.words for reading in readings}
        # Where gamma and decay help at random, some size may agree by chance.
        assert words in found if words == 'undecided' else found == {words}, claim
        for reading in readings:
            assert reading.number != '–' and reading.null, claim


def test_a_claim_needs_seeds_that_have_converged():
    for claim in SINGLE:
        result = plant_result(AGREEING, find_task(claim))
        result.members['converged'][:] = result.members['seed'] < 2
        result.members['moment'][result.members['seed'] >= 2] = np.nan
        if claim.figure is free_generation:
            result = real_tasks.plant_shares(AGREEING, result)
        for place in list_places([result], claim):
            reading = claim.read(result, place)
            assert reading.verdict.words == 'undecided', claim
            assert 'converge' in reading.note or 'NaN' in reading.note


def test_a_claim_needs_three_seeds_and_both_ends():
    for claim in SINGLE:
        few = read_all(claim, AGREEING, seeds=2)
        assert {reading.verdict.words for reading in few} == {'undecided'}, claim
    effects = [claim for claim in SINGLE if 'contrast' in claim.read.keywords]
    assert len(effects) > 20
    for claim in effects:
        for fields in ({'gammas': (0.5,)}, {'decays': (0.01,)}):
            readings = read_all(claim, AGREEING, **fields)
            moved = 'gamma' if 'gammas' in fields else 'decay'
            is_moved = claim.read.keywords['contrast'].startswith(moved)
            if is_moved or claim.read.keywords['contrast'] == 'both':
                for reading in readings:
                    assert reading.verdict.words == 'undecided'
                    assert 'one value only' in reading.note


def shuffle(result, seed: int):
    """The result with its members in another order."""
    order_M = np.random.default_rng(seed).permutation(len(result.members['seed']))
    members = {name: column[order_M] for name, column in result.members.items()}
    changed = {'members': members}
    if isinstance(result, free_generation.Result):
        return result._replace(share_MK=result.share_MK[order_M], **changed)
    for name in ('agreement_MP', 'loss_MP', 'perplexity_MP', 'agreement_MPG'):
        changed[name] = getattr(result, name)[order_M]
    return result._replace(baseline_KMP=result.baseline_KMP[:, order_M], **changed)


def test_the_order_of_members_does_not_matter():
    for number, claim in enumerate(SINGLE):
        result = plant_result(MIXED, find_task(claim))
        result.members['converged'][::7] = False
        if claim.figure is free_generation:
            result = real_tasks.plant_shares(MIXED, result)
        for place in list_places([result], claim):
            expected = claim.read(result, place)
            assert claim.read(shuffle(result, number), place) == expected


def test_members_that_have_not_converged_are_left_out_and_counted():
    result = plant_result(AGREEING, seeds=5)
    is_odd_M = result.members['seed'] == 4
    result.members['converged'][is_odd_M] = False
    result.agreement_MP[is_odd_M] = 0.0  # would turn every verdict
    reading = answers.read_effect(result, LARGEST, 'test', 'both')
    assert reading.verdict.words == 'holds'
    assert reading.note.count('4 of 5 converged, 1 left out') == 2
    solved = answers.read_solved(result, LARGEST, 'test', SMALL_STRONG)
    assert solved.verdict.words == 'holds'


def test_effects_are_paired_by_seed():
    """Seeds differ by 0.3, the effect is 0.05 in each: paired it is sure."""
    result = plant_result(FLAT)
    is_small_M = result.members['gamma'] == 0.7
    values_M = 0.1 * result.members['seed'] + 0.05 * is_small_M
    values_M += 0.001 * (result.members['seed'] % 2) * is_small_M
    result.agreement_MP[:, 2] = values_M
    gamma = answers.read_effect(result, LARGEST, 'test', 'gamma at weak decay')
    assert gamma.verdict.words == 'holds' and '+0.05 [0.05, 0.05]' in gamma.number
    decay = answers.read_effect(
        result, LARGEST, 'test', 'decay at large initialization'
    )
    assert decay.verdict.words == 'does not hold'
    assert '0.00 [0.00, 0.00]' in decay.number
    # A seed that only one corner has is no pair.
    is_lost_M = is_small_M & (result.members['seed'] == 0)
    for name, column in result.members.items():
        result.members[name] = column[~is_lost_M]
    rest = result._replace(agreement_MP=result.agreement_MP[~is_lost_M])
    contrast = find_contrast(rest.members, 'gamma at weak decay')
    lower = select_seeds(rest.members, LARGEST, contrast.lower)
    upper = select_seeds(rest.members, LARGEST, contrast.upper)
    test_M = rest.agreement_MP[:, 2]
    at, to = pair_values(lower, test_M, upper, test_M)
    assert len(at) == len(to) == 3


def test_what_nobody_answers_decides_nothing():
    result = plant_result(FLAT)
    result.agreement_MP[:, 2] = 0.001 * result.members['seed']
    gamma = answers.read_effect(result, LARGEST, 'test', 'gamma at weak decay')
    growth = answers.read_growth(result, LARGEST, 'test', LARGE_WEAK)
    for reading in (gamma, growth):
        assert reading.verdict.words == 'undecided'
        assert 'neither answers more than 0.02' in reading.note
    result.agreement_MP[result.members['gamma'] == 0.7, 2] += 0.1
    gamma = answers.read_effect(result, LARGEST, 'test', 'gamma at weak decay')
    assert gamma.verdict.words == 'holds'


@hypothesis.settings(max_examples=30, deadline=None)
@hypothesis.given(st.lists(st.floats(-1, 1), min_size=3, max_size=6))
def test_a_difference_the_other_way_round_has_the_opposite_verdict(values):
    verdicts = []
    for sign in (1, -1):
        found = mean_interval(sign * np.array(values))
        verdicts.append(judge_difference(found).words)
    turned = {'holds': 'opposite', 'opposite': 'holds'}
    assert verdicts[1] == turned.get(verdicts[0], verdicts[0])


def test_contrasts_by_hand():
    members = plant_result(FLAT).members
    titles = [contrast.title for contrast in list_contrasts(members)]
    assert titles == [
        'γ 0.5 → 0.7 at decay 0.01',
        'γ 0.5 → 0.7 at decay 0.1',
        'decay 0.01 → 0.1 at γ 0.5',
        'decay 0.01 → 0.1 at γ 0.7',
        'γ 0.5 → 0.7, decay 0.01 → 0.1',
    ]
    assert list(CONTRASTS) == [contrast.name for contrast in list_contrasts(members)]
    of_one_decay = plant_result(FLAT, decays=(0.1,)).members
    names = [contrast.name for contrast in list_contrasts(of_one_decay)]
    assert names == ['gamma at weak decay', 'gamma at strong decay']


@pytest.mark.parametrize(
    ('never', 'verdict'),
    [
        ({}, 'holds'),
        # The large one never converges: its steps are at least the last.
        ({0.5}, 'holds'),
        # The small one never does: it needs at least the last.
        ({0.7}, 'opposite'),
        ({0.5, 0.7}, 'undecided'),
    ],
)
def test_a_convergence_that_never_comes_bounds_the_ratio(never, verdict):
    result = plant_result(AGREEING, 'prontoqa')
    is_never_M = np.isin(result.members['gamma'], list(never))
    result.members['moment'][is_never_M] = np.nan
    reading = steps.read_steps(result, LARGEST, 'both')
    assert reading.verdict.words == verdict
    if never:
        assert 'never' in reading.number or 'neither' in reading.note


def test_a_bound_on_the_wrong_side_decides_nothing():
    """Two of four small starts never converge, the others are much faster."""
    result = plant_result(AGREEING, 'prontoqa')
    result = result._replace(last_step=30)
    is_never_M = (result.members['gamma'] == 0.7) & (result.members['seed'] > 1)
    result.members['moment'][is_never_M] = np.nan
    reading = steps.read_steps(result, LARGEST, 'both')
    assert reading.verdict.words == 'undecided'
    assert '(2 of 4 never)' in reading.number


def test_steps_that_rise_only_do_not_fall():
    rising = AGREEING._replace(steps=lambda size, gamma, decay, seed: 100.0 * 2**size)
    result = plant_result(rising, 'prontoqa')
    reading = steps.read_rise_and_fall(result, Place('', 0), LARGE_WEAK)
    assert reading.verdict.words == 'does not hold'
    two = plant_result(rising, 'prontoqa', sizes=(500, 1_000))
    reading = steps.read_rise_and_fall(two, Place('', 0), LARGE_WEAK)
    assert reading.verdict.words == 'undecided' and 'fewer than 3' in reading.note


def plant_shortcut(result, score: float):
    """The result with a shortcut that answers so much of one probe."""
    baseline_KMP = result.baseline_KMP.copy()
    shortcut_MP = baseline_KMP[result.baseline.tolist().index('recurrence')]
    shortcut_MP[:] = np.nan
    shortcut_MP[:, 1] = score
    return result._replace(baseline_KMP=baseline_KMP)


def shift_answers(change: float):
    """A flat world in which the answers are so much better."""
    return FLAT._replace(answer=lambda *place: 0.5 + change + 0.002 * place[-1])


@pytest.mark.parametrize(
    ('change', 'same', 'more'),
    [
        (0.0, 'holds', 'does not hold'),
        (-0.2, 'does not hold', 'opposite'),
        (0.2, 'opposite', 'holds'),
    ],
)
def test_two_runs_are_compared_seed_by_seed(change, same, more):
    here = plant_result(FLAT)
    there = plant_shortcut(plant_result(shift_answers(change)), 0.5)
    compared = (here, there, LARGEST, 'test', SMALL_STRONG)
    assert pairs.read_same_without_shortcut(*compared).verdict.words == same
    assert pairs.read_more_in_other(*compared).verdict.words == more
    solved = (here, plant_shortcut(there, 1.0), *compared[2:])
    reading = pairs.read_same_without_shortcut(*solved)
    assert reading.verdict.words == 'undecided' and 'answers 1.00' in reading.note
    there.members['converged'][:] = False
    reading = pairs.read_same_without_shortcut(*compared)
    assert reading.verdict.words == 'undecided'
    assert '0 of 4 converged' in reading.note


def test_two_runs_are_compared_where_both_have_members():
    claim = next(claim for claim in CLAIMS if claim.partner is claims.is_twin)
    runs = [
        plant_result(FLAT, 'prontoqa', sizes=(500, 1_000, 2_000)),
        plant_result(FLAT, 'prontoqa', sizes=(1_000, 4_000)),
    ]
    assert list_places(runs, claim) == [Place('', 1_000)]
    assert len(list_places(runs[:1], claim)) == 3


def load(preset: str) -> config.Experiment:
    return config.resolve(config.load(str(ROOT / 'configs' / preset)))


def test_presets_are_the_runs_that_claims_are_about():
    assert claims.is_twin(load('prontoqa.py:two_hops'), load('prontoqa.py:twin'))
    assert not claims.is_twin(load('prontoqa.py'), load('prontoqa.py:twin'))
    assert not claims.is_twin(load('prontoqa.py:sizes'), load('prontoqa.py:twin'))
    assert claims.is_control(load('addition.py:laptop'), load('addition.py:random'))
    assert not claims.is_control(load('addition.py'), load('addition.py:random'))
    fits = {
        'addition.py': 'is_square',
        'addition.py:random': '',
        'scan.py:laptop': 'is_turn_left',
        'critical_windows.py:scan': '',
        'cogs.py': 'is_cogs',
        'prontoqa.py:sizes': 'is_prontoqa has_proofs',
        'prontoqa.py:twin': '',
    }
    names = ('is_square', 'is_turn_left', 'is_cogs', 'is_prontoqa', 'has_proofs')
    for preset, expected in fits.items():
        found = {name for name in names if getattr(claims, name)(load(preset))}
        assert found == set(expected.split()), preset


def test_what_the_paper_prints_stands_beside():
    addition = EXPERIMENTS['addition']
    describe = published.describe_exact_match
    assert describe(addition, 'test', 64) == '1.2 % against 99.6 % (of 0 to 999)'
    paper = config.resolve(config.load(str(ROOT / 'configs' / 'addition.py:laptop')))
    assert describe(paper, 'test', 950_000) == '1.2 % against 99.6 %'
    assert describe(addition, 'seen_heldout', 64) == '–'
    assert describe(EXPERIMENTS['scan'], 'test', 500) == '28.0 % against 32.6 %'
    assert describe(EXPERIMENTS['scan'], 'test', 501) == '–'
    assert published.describe_steps(30_000) == '19,000 steps against 5,800'
    for figures in published.EXACT_MATCH.values():
        assert all(0 < large <= small <= 100 for large, small in figures.values())


def make_run(task: str, is_trained: bool = True, **fields):
    """What the table reads of a run, besides its figures."""
    results = xr.Dataset({'trained': is_trained, 'diverged': -1})
    experiment = config.resolve(real_tasks.make_config(task, **fields))
    return types.SimpleNamespace(experiment=experiment, results=results)


@pytest.fixture
def tabulate(monkeypatch):
    """A function: the table of planted runs of these tasks."""

    def compute(run):
        return plant_result(AGREEING, run.experiment.task.name)

    def compute_shares(run):
        return real_tasks.plant_shares(AGREEING, compute(run))

    monkeypatch.setattr(generalization, 'compute', compute)
    monkeypatch.setattr(free_generation, 'compute', compute_shares)
    return table.tabulate_claims


def test_the_table_has_a_row_for_every_claim_and_place(tabulate):
    runs = {name: make_run(name) for name in real_tasks.PROBES}
    runs['twin'] = make_run('prontoqa', name='twin', task__distractor='twin')
    runs['begun'] = make_run('scan', is_trained=False)
    found = tabulate(runs)
    assert set(found.claim) == {claim.sentence for claim in CLAIMS}
    # No run of addition has its pairs held out at random.
    (missing,) = found[found.run == '–'].to_dict('records')
    assert missing['note'] == 'no trained run is about this'
    assert missing['verdict'] == 'undecided'
    rest = found[found.run != '–']
    assert set(rest.verdict) == {'holds'}
    twins = rest[rest.run == 'prontoqa and twin']
    assert len(twins) == 2 * len(real_tasks.SIZES)
    assert 'begun' not in set(rest.run)
    by_size = rest[(rest.run == 'scan') & (rest.printed != '–')]
    assert by_size['size'].tolist() == ['500', '1,000', '5,000']
    assert (rest.note.str.contains('of 4 converged')).all()
    text = format_verdict_table(found, table.INTRODUCTION, table.TITLES)
    assert len(text.splitlines()) == 6 + len(found)
    assert text.startswith(f'holds: {len(rest)} · undecided: 1')
    assert pd.Series(text.splitlines()[4:]).str.count(r'(?<!\\)\|').eq(10).all()


def test_a_run_that_cannot_be_read_is_undecided(tabulate, monkeypatch):
    def fail(run):
        raise UserError('a snapshot is missing')

    monkeypatch.setattr(free_generation, 'compute', fail)
    found = tabulate({'prontoqa': make_run('prontoqa')})
    own = found[found.note == 'a snapshot is missing']
    assert own.verdict.tolist() == ['undecided'] and own['size'].tolist() == ['–']


def test_another_task_is_one_line(tabulate):
    run = types.SimpleNamespace(experiment=config.resolve(config.default()))
    with pytest.raises(UserError, match="mine: task 'anchors': must be one of add"):
        tabulate({'mine': run})
