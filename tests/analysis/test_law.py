"""The law: a planted one is found with its sign, and none is found where none is."""

import pathlib
import types

import numpy as np
import pandas as pd
import pytest

from analysis import law
from analysis.designs import (
    cells,
    collect,
    contrasts,
    effect_table,
    encoding,
    factors,
    figure,
    hypotheses,
    judgement,
    outcomes,
    prediction,
    regression,
    scoring,
    table,
)
from analysis.members.solution import SOLUTIONS
from analysis.members.statistics import newcombe_interval
from analysis.tables.text import format_csv
from anchorjax import cli, config
from anchorjax.errors import UserError
from tests.support.drawing import draw_pixels
from tests.support.planted_law import CELL, plant_members
from tests.support.sweeps import experiment

BATCHES = (512, 2048)
GAMMAS = (0.4, 0.8, 1.2)
RATES = (1e-3, 2e-3)
LENGTHS = (5, 9)
BY_NAME = {hypothesis.name: hypothesis for hypothesis in hypotheses.HYPOTHESES}


def let_batch_decide(point):
    """Small gammas memorize; of the others, the large batch is inferential."""
    if point['gamma'] < 0.5:
        return 'memorizing'
    return 'inferential' if point['batch_size'] == 2048 else 'symmetric'


def let_batch_decide_backwards(point):
    if point['gamma'] < 0.5:
        return 'memorizing'
    return 'symmetric' if point['batch_size'] == 2048 else 'inferential'


def let_seed_decide(point):
    return ('memorizing', 'symmetric', 'inferential')[point['seed'] % 3]


def plant(decide, seeds=3, loss=None, **changes):
    """Two batches, rates and lengths, three gammas."""
    levels = {
        'batch_size': BATCHES,
        'learning_rate': RATES,
        'seq_len': LENGTHS,
        'gamma': GAMMAS,
    }
    return plant_members(decide, seeds, loss, **(levels | changes))


def read(members, name):
    return judgement.read_hypothesis(members, BY_NAME[name])


@pytest.fixture(scope='module', autouse=True)
def few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regression, 'REPLICATES', 30)
        yield


@pytest.fixture(scope='module')
def by_batch():
    return plant(let_batch_decide)


@pytest.fixture(scope='module')
def result(by_batch):
    return law.compute(by_batch)


# Matched and marginal contrasts.


def test_a_matched_contrast_is_what_one_computes_by_hand():
    solutions = {512: ('symmetric',) * 3 + ('inferential',), 2048: ('inferential',) * 4}

    def decide(point):
        return solutions[point['batch_size']][point['seed']]

    members = plant_members(decide, seeds=4, batch_size=BATCHES)
    contrast = contrasts.contrast_matched(members, 'batch_size', 'inferential')
    assert (contrast.share_lower, contrast.share_upper) == (0.25, 1.0)
    assert contrast.effect == 0.75
    assert (contrast.sets, contrast.settings, contrast.seeds) == (1, 1, 4)
    assert (contrast.members_lower, contrast.members_upper) == (4, 4)
    expected = newcombe_interval(4, 4, 1, 4)  # one setting: no spread over settings
    assert (contrast.low, contrast.high) == pytest.approx(expected)


def test_sets_count_equally_however_many_members_they_have():
    members = plant(let_batch_decide, seeds=4)
    is_dropped = (members.gamma == 0.8) & (members.seed > 0)
    contrast = contrasts.contrast_matched(
        members[~is_dropped], 'batch_size', 'inferential'
    )
    assert contrast.effect == pytest.approx(2 / 3)
    assert contrast.sets == 12 and contrast.settings == 4
    assert contrast.low < contrast.effect < contrast.high


def test_only_cells_that_differ_in_one_factor_alone_are_matched(by_batch):
    is_diagonal = (by_batch.batch_size == 512) == (by_batch.learning_rate == 1e-3)
    diagonal = by_batch[is_diagonal]
    matched = contrasts.contrast_matched(diagonal, 'batch_size', 'inferential')
    assert np.isnan(matched.effect) and matched.sets == 0
    assert matched.note == 'not estimable: no matched cells'
    marginal = contrasts.contrast_marginal(diagonal, 'batch_size', 'inferential')
    assert marginal.effect == pytest.approx(2 / 3) and marginal.settings == 2


def test_the_marginal_contrast_compares_settings_at_common_gammas():
    members = plant(let_batch_decide)
    is_dropped = (members.gamma == 0.4) & (members.batch_size == 512)
    contrast = contrasts.contrast_marginal(
        members[~is_dropped], 'batch_size', 'inferential'
    )
    assert contrast.effect == 1.0 and contrast.settings == 4
    assert contrast.low > 0.5


def test_a_factor_that_does_not_vary_is_not_estimable(by_batch):
    for contrast in (contrasts.contrast_matched, contrasts.contrast_marginal):
        missing = contrast(by_batch, 'width', 'inferential')
        assert missing.note == 'not estimable: one level of width only (64)'


def test_unconverged_members_count_for_nothing_but_convergence():
    def loss(point):
        return 0.5 if point['batch_size'] == 2048 and point['seed'] > 0 else 0.001

    members = plant(let_batch_decide, seeds=4, loss=loss)
    contrast = contrasts.contrast_matched(members, 'batch_size', 'inferential')
    number_of_sets = len(RATES) * len(LENGTHS) * len(GAMMAS)
    assert contrast.members_upper == number_of_sets  # one seed each
    assert contrast.members_lower == 4 * number_of_sets
    assert contrast.seeds == 1
    convergence = contrasts.contrast_matched(members, 'batch_size', outcomes.CONVERGED)
    assert convergence.effect == pytest.approx(-0.75)
    assert convergence.members_upper == 4 * number_of_sets
    assert 'left out, not converged: 36 of 96' in read(members, 'a, batch').note


def test_matched_members_are_trained_for_equally_many_steps():
    short = plant_members(lambda _: 'memorizing', batch_size=BATCHES)
    long = plant_members(lambda _: 'inferential', batch_size=(2048,), num_steps=(8000,))
    members = pd.concat([short, long], ignore_index=True)
    contrast = contrasts.contrast_matched(members, 'batch_size', 'inferential')
    assert contrast.effect == 0.0 and contrast.sets == 1  # after 4,000 steps
    steps = contrasts.contrast_matched(members, 'num_steps', 'inferential')
    assert steps.effect == 1.0 and steps.sets == 1
    is_apart = (members.batch_size == 512) | (members.num_steps == 8000)
    apart = contrasts.contrast_matched(members[is_apart], 'batch_size', 'converged')
    assert apart.sets == 0


def test_of_several_numbers_of_steps_the_one_with_most_levels_counts_once():
    """Two gammas after 8,000 steps, three after 4,000: the three."""
    short = plant_members(lambda _: 'memorizing', gamma=GAMMAS)
    long = plant_members(lambda _: 'inferential', gamma=GAMMAS[1:], num_steps=(8000,))
    members = pd.concat([short, long], ignore_index=True)
    contrast = contrasts.contrast_matched(members, 'gamma', 'inferential')
    assert contrast.effect == 0.0 and contrast.sets == 1
    assert contrast.levels == '0.4 → 1.2' and contrast.members_upper == 3
    longer = plant_members(lambda _: 'inferential', gamma=GAMMAS, num_steps=(8000,))
    members = pd.concat([short, longer], ignore_index=True)
    contrast = contrasts.contrast_matched(members, 'gamma', 'inferential')
    assert contrast.share_lower == 1.0 and contrast.members_upper == 3


def test_three_settings_of_one_seed_each_are_not_three_seeds():
    members = plant(let_batch_decide, learning_rate=(1e-3, 2e-3, 3e-3), seq_len=(9,))
    by_rate = {1e-3: 0, 2e-3: 1, 3e-3: 2}
    single = members[members.seed == members.learning_rate.map(by_rate)]
    contrast = contrasts.contrast_matched(single, 'batch_size', 'inferential')
    assert contrast.settings == 3 and contrast.seeds == 1
    reading = read(single, 'a, batch')
    assert reading.verdict.words == 'undecided'
    assert 'fewer than 3 seeds' in reading.note


def test_one_thin_setting_does_not_hide_the_seeds_of_the_others():
    members = plant(let_batch_decide)
    is_thin = (members.seq_len == 9) & (members.learning_rate == 1e-3)
    contrast = contrasts.contrast_matched(
        members[~is_thin | (members.seed == 0)], 'batch_size', 'inferential'
    )
    assert contrast.settings == 4 and contrast.seeds == 3


@pytest.mark.parametrize(('seeds', 'is_known'), [(2, False), (3, True)])
def test_fewer_than_three_members_have_no_interval(seeds, is_known):
    members = plant_members(lambda _: 'symmetric', seeds, batch_size=BATCHES)
    contrast = contrasts.contrast_matched(members, 'batch_size', 'symmetric')
    assert ((contrast.low, contrast.high) != (-1.0, 1.0)) == is_known


def test_a_note_names_the_levels_and_what_could_not_be_compared():
    def decide(point):
        return 'symmetric' if point['seq_len'] == 4 else 'inferential'

    def loss(point):
        return 0.5 if point['gamma'] == 1.2 else 0.001

    members = plant(decide, seq_len=(3, 4), loss=loss)
    reading = read(members, 'b, length')
    assert 'levels 3 → 4, 4 more sets without members to compare' in reading.note


def test_a_matched_difference_too_few_to_decide_is_shown():
    """Five tokens and nine, one setting each: no marginal contrast exists."""
    members = plant(let_batch_decide, learning_rate=(1e-3,))
    reading = read(members, 'a × b')
    assert reading.verdict.words == 'undecided'
    assert reading.number.startswith('symmetric* +0.00 [')


def test_a_difference_of_contrasts_is_wider_than_either():
    first = contrasts.Contrast(effect=0.5, low=0.3, high=0.6)
    second = contrasts.Contrast(effect=0.1, low=0.0, high=0.4)
    difference = contrasts.subtract_contrasts(first, second)
    assert difference.effect == pytest.approx(0.4)
    assert difference.low == pytest.approx(0.4 - np.hypot(0.2, 0.3))
    assert difference.high == pytest.approx(0.4 + np.hypot(0.1, 0.1))


# Verdicts.


def test_a_factor_that_decides_is_found_and_the_reversed_one_is_opposite(by_batch):
    reading = read(by_batch, 'a, batch')
    assert reading.verdict.words == 'holds'
    assert reading.number.startswith('symmetric* -1.00 [')
    assert 'inferential* +1.00 [' in reading.number
    assert 'matched: 8 cells, 4 settings, 3 seeds' in reading.note
    backwards = plant(let_batch_decide_backwards)
    assert read(backwards, 'a, batch').verdict.words == 'opposite'


def test_a_factor_that_does_not_matter_does_not_hold():
    members = plant(let_batch_decide, seeds=12)
    assert read(members, 'a, rate').verdict.words == 'does not hold'
    assert read(members, 'b, length').verdict.words == 'does not hold'


def test_where_nothing_decides_every_interval_covers_zero():
    members = plant(let_seed_decide)
    effects = effect_table.tabulate_contrasts(members)
    estimated = effects[effects.sets > 0]
    assert len(estimated) > 20
    assert (estimated.effect == 0).all()
    assert ((estimated.low <= 0) & (estimated.high >= 0)).all()
    for hypothesis in hypotheses.HYPOTHESES:
        words = judgement.read_hypothesis(members, hypothesis).verdict.words
        assert words in ('does not hold', 'undecided'), hypothesis.name


def test_an_interaction_is_found():
    def decide(point):
        if point['seq_len'] == 9 and point['batch_size'] == 2048:
            return 'inferential'
        return 'symmetric'

    reading = read(plant(decide), 'a × b')
    assert reading.verdict.words == 'holds'
    assert read(plant(let_batch_decide, seeds=9), 'a × b').verdict.words != 'holds'


def plant_answers(long, short, seeds=6, loss=None):
    """Members that all memorize: at 512 they answer as the reverse, at 2048 so much.

    Args:
      long, short: the share of inferential answers that the larger batch brings, at
        nine tokens and at five; symmetric ones are so many fewer.
    """
    members = plant(lambda _: 'memorizing', seeds, loss, gamma=GAMMAS[:1])
    gain = members.seq_len.map({9: long, 5: short})
    gain = gain.where(members.batch_size == 2048, 0.0)
    members['unseen_inferential'] = 0.1 + gain
    members['unseen_symmetric'] = 0.85 - gain
    return members


@pytest.mark.parametrize(
    ('long', 'short', 'verdict'),
    [
        (0.75, 0.0, 'holds'),
        (0.0, 0.75, 'opposite'),
        (0.0, 0.0, 'undecided'),  # of few members: the interval is wide
        (0.5, 0.5, 'undecided'),  # the batch decides, and at both lengths alike
    ],
)
def test_an_interaction_of_answers_is_found_where_all_memorize(long, short, verdict):
    members = plant_answers(long, short)
    reading = read(members, 'a × b, answers')
    assert reading.verdict.words == verdict
    effect = long - short
    assert reading.number.startswith(f'symmetric answers {0 - effect:+.2f} [')
    assert f'; inferential answers {effect:+.2f} [' in reading.number
    # Its neighbour counts members that do not memorize, and there are none.
    members_alone = read(members, 'a × b')
    assert members_alone.number == 'symmetric* –; inferential* –'
    assert 'not estimable' in members_alone.note


def test_an_interaction_of_answers_that_is_flat_does_not_hold():
    """With enough members the interval of nothing is within the margin."""
    reading = read(plant_answers(0.5, 0.5, seeds=100), 'a × b, answers')
    assert reading.verdict.words == 'does not hold'


@pytest.mark.parametrize(
    ('is_open', 'why'),
    [
        (lambda point: True, 'not estimable'),
        (lambda point: point['seq_len'] == 9, 'not estimable'),
        (lambda point: point['batch_size'] == 2048, 'not estimable'),
        (
            lambda point: point['batch_size'] == 2048 and point['seed'] > 0,
            'fewer than 3 seeds',
        ),
    ],
)
def test_an_interaction_of_answers_is_of_converged_members(is_open, why):
    def loss(point):
        return 0.5 if is_open(point) else 0.001

    reading = read(plant_answers(0.75, 0.0, loss=loss), 'a × b, answers')
    assert reading.verdict.words == 'undecided' and why in reading.note
    assert 'left out, not converged: ' in reading.note


def test_one_setting_is_no_law_but_it_decides_about_itself():
    members = plant(
        let_batch_decide, learning_rate=(1e-3,), seq_len=(9,), exception=('trained',)
    )
    assert read(members, 'a, batch').verdict.words == 'undecided'
    lead = read(members, 'a, batch, the lead and its twin')
    assert lead.verdict.words == 'holds'


@pytest.mark.parametrize(
    ('large', 'small', 'verdict'),
    [
        ('symmetric', 'inferential', 'holds'),
        ('inferential', 'symmetric', 'opposite'),
        ('symmetric', 'symmetric', 'undecided'),
        ('symmetric', 'memorizing', 'undecided'),
    ],
)
def test_the_order_of_two_gammas_is_decided_at_one_setting(large, small, verdict):
    """The solutions at a large initialization, gamma 1, and at a small one, gamma 2."""
    solutions = {0.6: 'inferential', 1.0: large, 2.0: small}
    setting = {name: (level,) for name, level in hypotheses.P1_ORDER.items()}
    setting['gamma'] = tuple(solutions)  # gamma 0.6 does not count
    members = plant(lambda point: solutions[point['gamma']], seeds=10, **setting)
    assert read(members, "γ, composing, P1's order").verdict.words == verdict


def test_the_order_of_two_gammas_is_of_members_of_equal_training():
    solutions = {1.0: 'symmetric', 2.0: 'inferential'}
    setting = {name: (level,) for name, level in hypotheses.P1_ORDER.items()}
    setting['gamma'] = tuple(solutions)
    members = plant(lambda point: solutions[point['gamma']], seeds=10, **setting)
    shorter = members[members.gamma == 1.0].assign(num_steps=6_000, solution='other')
    shorter = shorter.assign(seed=shorter.seed + 100)
    both = pd.concat([members, shorter], ignore_index=True)
    name = "γ, composing, P1's order"
    assert read(both, name) == read(members, name)


def test_longer_sequences_do_not_count_for_what_a_noise_token_does():
    def decide(point):
        return 'symmetric' if point['seq_len'] == 4 else 'inferential'

    members = plant(decide, seq_len=(3, 4, 9))
    assert read(members, 'noise').verdict.words == 'holds'
    assert read(members, 'b, length').verdict.words != 'holds'
    reverse = plant(decide, seq_len=(4, 9))
    assert read(reverse, 'noise').verdict.words == 'undecided'
    assert read(reverse, 'b, length').verdict.words == 'holds'


@pytest.mark.parametrize(
    ('after', 'before', 'verdict'),
    [
        ('symmetric', 'inferential', 'holds'),
        ('inferential', 'symmetric', 'opposite'),
        ('symmetric', 'symmetric', 'does not hold'),
    ],
)
def test_what_noise_does_after_the_pair_is_read_between_the_ends(
    after, before, verdict
):
    solutions = {'noise': after, 'any': 'memorizing', 'pair': before}
    members = plant(lambda point: solutions[point['last_token']], last_token=solutions)
    assert read(members, 'noise after the pair').verdict.words == verdict
    answers = read(members, 'noise after the pair, answers')
    assert answers.verdict.words == verdict


@pytest.mark.parametrize(
    ('large', 'small', 'verdict'),
    [
        ('inferential', 'symmetric', 'holds'),
        ('symmetric', 'inferential', 'opposite'),
        ('symmetric', 'symmetric', 'undecided'),  # all are, so nothing can tip
    ],
)
def test_a_larger_start_of_attention_is_a_lower_level(large, small, verdict):
    """Their γ less that of all others is negative where W_Q and W_K are larger."""
    solutions = {-0.8: large, 0.0: small}
    members = plant(lambda point: solutions[point['qk_offset']], qk_offset=solutions)
    assert read(members, 'W_Q and W_K').verdict.words == verdict


def test_half_of_the_answers_count_by_half():
    """No member passes 90 %, and still the answers turn, by the planted 0.5."""
    solutions = {'noise': 'half and half', 'pair': 'other'}
    members = plant(lambda point: solutions[point['last_token']], last_token=solutions)
    assert read(members, 'noise after the pair').verdict.words == 'does not hold'
    members.loc[members.last_token == 'noise', 'unseen_inferential'] = 0.1
    members.loc[members.last_token == 'pair', 'unseen_inferential'] = 0.6
    members.loc[members.last_token == 'pair', 'unseen_symmetric'] = 0.0
    answers = read(members, 'noise after the pair, answers')
    assert answers.verdict.words == 'holds'
    assert 'symmetric answers -0.50' in answers.number
    assert 'inferential answers +0.50' in answers.number


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'seeds': 2}, 'fewer than 3 seeds'),
        ({'exception': ('both unseen',)}, 'no members with exception trained'),
        ({'batch_size': (512,)}, 'one level of batch only'),
        ({'loss': lambda _: 0.5}, 'no matched cells'),
    ],
)
def test_what_cannot_be_decided_says_why(change, why):
    reading = read(plant(let_batch_decide, **change), 'a, batch')
    assert reading.verdict.words == 'undecided'
    if why == 'no matched cells':  # nor marginal ones
        why = 'not estimable'
    assert why in reading.note


def test_a_solution_that_nobody_reaches_cannot_become_rarer():
    members = plant(let_batch_decide, seeds=12, weight_decay=(0.01, 0.1))
    reading = read(members, 'a, decay')
    assert reading.verdict.words == 'does not hold'  # inferential does not change
    assert 'other: there is room for 0.00 only' in reading.note


@pytest.mark.parametrize(
    ('number', 'words', 'why'),
    [(1, 'undecided', 'other: there is room for 0.08 only'), (4, 'holds', '')],
)
def test_a_solution_that_vanishes_is_not_said_to_stay(number, words, why):
    """What one of twelve members has can fall by 0.08 only, less than the margin."""

    def decide(point):
        is_third = point['weight_decay'] < 0.1 and point['seed'] < number
        return 'third' if is_third else 'inferential'

    members = plant(decide, seeds=12, weight_decay=(0.01, 0.1))
    part = hypotheses.Part('weight_decay', outcomes.OTHER, -1)
    reading = judgement.judge(judgement.find_evidence(members, part), part)
    assert reading.verdict.words == words
    assert why in reading.note


def test_a_product_says_nothing_where_nobody_could_change():
    everybody = plant(lambda point: 'inferential', seeds=12)
    reading = read(everybody, 'a × b')
    assert reading.verdict.words == 'undecided'
    assert 'there is room for 0.00 only' in reading.note


def test_a_share_with_a_star_counts_members_by_what_they_know_not_by_their_rule():
    """With equal held-out answers a network counts, whether it is at a rule or not."""
    rules = ('symmetric', 'memorizing', 'memorizing', 'symmetric')
    members = plant_members(
        lambda point: rules[point['seed']], seeds=4, batch_size=BATCHES
    )
    members.seen_heldout_assigned = 0.6  # of all: more than a table, less than 0.9
    contrast = contrasts.contrast_matched(
        members, 'batch_size', outcomes.SYMMETRIC_RULE
    )
    assert (contrast.share_lower, contrast.members_lower) == (0.5, 4)
    members.seen_heldout_assigned = members.solution.map(
        {'symmetric': 0.6, 'memorizing': 0.4}
    )
    contrast = contrasts.contrast_matched(
        members, 'batch_size', outcomes.SYMMETRIC_RULE
    )
    assert (contrast.share_lower, contrast.members_lower) == (1.0, 2)


def test_a_network_that_composes_is_no_table_whatever_else_it_knows():
    members = plant_members(lambda point: 'inferential', batch_size=BATCHES)
    members.seen_heldout_assigned = 0.3
    contrast = contrasts.contrast_matched(
        members, 'batch_size', outcomes.INFERENTIAL_RULE
    )
    assert (contrast.share_lower, contrast.members_lower) == (1.0, 3)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (f'seq_len={400 * "9"}', 'must be a whole number above 0'),
        ('seq_len=1_6', 'must be a whole number above 0'),
        ('seq_len=９', 'must be a whole number above 0'),
        ('seq_len=9,seq_len=3', '--predict: seq_len is given twice'),
    ],
)
def test_numbers_that_a_table_would_read_otherwise_are_refused(text, message):
    with pytest.raises(UserError, match=message):
        factors.parse_point(text)


def test_parts_that_contradict_each_other_do_not_hold():
    def verdict(name):
        words = {v.words: v for v in (judgement.HOLDS, judgement.OPPOSITE)}
        return words[name]

    contradiction = [verdict('holds'), verdict('opposite')]
    combined = judgement.combine_verdicts(contradiction)
    assert combined.words == 'does not hold'
    half = judgement.combine_verdicts([verdict('holds'), judgement.UNDECIDED])
    assert half.words == 'undecided'


# The fit.


def test_the_fit_finds_what_decides_and_predicts_what_was_left_out(result):
    coefficients = result.coefficients.set_index(['step', 'column'])
    batch = coefficients.loc[('symmetric → inferential', 'batch_size')]
    assert batch.low > 0
    rate = coefficients.loc[('symmetric → inferential', 'learning_rate')]
    assert rate.low < 0 < rate.high or abs(rate.log_odds) < 0.2
    gamma = coefficients.loc[('memorizing → symmetric', 'gamma')]
    assert gamma.low > 0
    assert set(result.scores.verdict) == {'predicts'}
    assert (result.scores.log_loss < result.scores.null_log_loss).all()


def test_the_fit_predicts_nothing_where_nothing_decides():
    scores = scoring.tabulate_scores(plant(let_seed_decide), 'trained')
    assert not set(scores.verdict) & {'predicts'}
    assert (scores.gain.abs() < 0.3).all()


def test_what_is_left_out_is_not_seen():
    """The only setting with third solutions: nothing else lets one expect them."""

    def decide(point):
        is_special = point['batch_size'] == 2048 and point['seq_len'] == 9
        is_special &= point['learning_rate'] == 2e-3
        return 'third' if is_special else 'symmetric'

    members = plant(decide)
    scores = scoring.tabulate_scores(members, 'trained').set_index('left_out')
    surprise = np.log(len(members) + 4)  # its share among the others is 0
    by_setting = scores.loc['setting']
    assert (by_setting.log_loss >= surprise / 8).all()
    assert (by_setting.null_log_loss >= surprise / 8).all()
    assert scores.loc['cell'].log_loss.max() < by_setting.log_loss.min()


def test_the_weights_of_two_and_of_three_outcomes_give_probabilities():
    X_MF = np.array([[-1.0, 1], [-1, 1], [1, 1], [1, 1]])
    y_M = np.array([0, 0, 2, 2])
    weights_KF = regression.fit_weights(X_MF, y_M, 3, np.ones(4))
    probability_MK = regression.predict(weights_KF, X_MF)
    np.testing.assert_allclose(probability_MK.sum(1), 1)
    np.testing.assert_allclose(probability_MK[:, 1], 0)  # it does not occur
    assert (probability_MK.argmax(1) == y_M).all()
    single = regression.fit_weights(X_MF, np.zeros(4, int), 3, np.ones(4))
    np.testing.assert_allclose(regression.predict(single, X_MF)[:, 0], 1)


@pytest.mark.parametrize(
    ('members', 'why'),
    [
        (plant(lambda _: 'symmetric'), 'every converged member is symmetric'),
        (plant(let_batch_decide, loss=lambda _: 0.5), 'missing'),
        (plant_members(let_seed_decide), '1 settings, fewer than 4'),
    ],
)
def test_where_there_is_no_fit_it_says_why(members, why):
    assert why in regression.fit_block(members, 'trained')
    assert any(why in remark for remark in law.compute(members).remarks)


def test_factors_that_vary_together_are_named(by_batch):
    aliased = by_batch.assign(width=np.where(by_batch.batch_size == 512, 64, 128))
    found = encoding.find_confounded(encoding.make_encoding(aliased), aliased)
    assert ('batch_size', 'width', 'vary together (correlation 1.00)') in found
    remarks = law.compute(aliased).remarks
    assert any('the fit cannot separate them' in remark for remark in remarks)
    separate = encoding.make_encoding(by_batch)
    assert encoding.find_confounded(separate, by_batch) == []


def test_a_split_of_one_length_alone_is_named_though_lengths_are_three(by_batch):
    is_long = by_batch.seq_len == 9
    between = by_batch[~is_long].assign(seq_len=7)
    members = pd.concat([by_batch, between], ignore_index=True)
    members['split'] = np.where(members.seq_len == 9, 'code', 'random')
    found = encoding.find_confounded(encoding.make_encoding(members), members)
    assert found == [('split=random', 'seq_len', 'are told apart by seq_len 9 alone')]
    fit = regression.fit_block(members, 'trained')
    coefficients = regression.tabulate_coefficients(fit).set_index('column')
    assert coefficients.is_confounded['split=random'].all()
    assert coefficients.is_confounded['gamma × seq_len'].all()
    assert not coefficients.is_confounded['batch_size'].any()


def test_a_level_of_one_setting_does_not_make_a_coefficient_sure():
    members = plant(let_batch_decide, learning_rate=(1e-3, 2e-3, 3e-3, 4e-3))
    is_lead = (members.batch_size == 512) | (members.learning_rate == 1e-3)
    members = members[is_lead & (members.seq_len == 9)].reset_index(drop=True)
    settings = regression.number_cells(members, regression.WITHIN_SETTING)
    assert encoding.count_settings('batch_size', members, settings) == 1
    assert encoding.count_settings('gamma', members, settings) == 5
    assert encoding.count_settings('gamma × batch_size', members, settings) == 1


def test_a_setting_counts_once_however_many_members_it_has(by_batch):
    """Ten times the members of one setting change neither the fit nor the null."""
    is_first = (by_batch.seq_len == 9) & (by_batch.learning_rate == 1e-3)
    is_first &= by_batch.batch_size == 2048
    repeated = [by_batch[is_first].assign(seed=seed) for seed in range(3, 12)]
    more = pd.concat([by_batch, *repeated], ignore_index=True)
    settings = regression.number_cells(more, regression.WITHIN_SETTING)
    weights = regression.share_by_setting(settings)
    totals = np.bincount(settings, weights=weights)
    np.testing.assert_allclose(totals, len(more) / 8)
    null = scoring.tabulate_scores(by_batch, 'trained').null_log_loss
    null_of_more = scoring.tabulate_scores(more, 'trained').null_log_loss
    np.testing.assert_allclose(
        null_of_more, null, atol=0.02
    )  # smoothing counts members


def test_equal_standard_deviations_are_equal_as_std(by_batch):
    members = by_batch.assign(width=np.where(by_batch.gamma == 1.2, 256, 64))
    code = encoding.make_encoding(members, encoding.STD)
    wide = pd.DataFrame([CELL | {'width': 256, 'gamma': 0.6}])
    narrow = pd.DataFrame([CELL | {'width': 64, 'gamma': 0.8}])
    column = code.mains.index('gamma')
    wide_gamma = encoding.encode_mains(code, wide)[0, column]
    assert wide_gamma == pytest.approx(encoding.encode_mains(code, narrow)[0, column])


# Predictions.


def test_with_std_a_wide_network_is_within_what_a_narrow_one_was_trained(by_batch):
    """Of width 64, gamma 1.2 has the std of gamma 0.9 of width 256."""
    point = dict(CELL) | {'width': 256, 'gamma': 0.9}
    by_std = prediction.find_outside(by_batch, point, encoding.STD)
    assert not any('γ' in line for line in by_std)
    point['gamma'] = 1.0
    assert not any('γ' in line for line in prediction.find_outside(by_batch, point))
    by_std = prediction.find_outside(by_batch, point, encoding.STD)
    assert any(line.startswith('γ 1.33333: trained from 0.4 to 1.2') for line in by_std)


def test_a_prediction_says_what_was_planted_and_how_far_it_is_outside(by_batch):
    point = factors.parse_point(
        'exception=trained,seq_len=9,batch_size=2048,learning_rate=2e-4,gamma=1.2,'
        'width=400,split=random,last_token=noise'
    )
    predicted = prediction.predict_point(by_batch, point)
    assert predicted.names[predicted.probability.argmax()] == 'inferential'
    assert predicted.probability.sum() == pytest.approx(1)
    assert (predicted.low <= predicted.probability + 0.05).all()
    assert predicted.outside == [
        'rate 0.0002: trained from 0.001 to 0.002, 2.3 doublings away',
        'width 400: trained from 64 to 64, 2.6 doublings away',
        'split random: trained with code alone',
        'last token noise: trained with any alone',
    ]
    assert 'inferential 3' in predicted.nearest[0]
    text = prediction.format_prediction(predicted)
    assert 'extrapolates, which' in text and 'inferential' in text


@pytest.mark.parametrize(
    ('text', 'line'),
    [
        ('batch=3', "unknown factor 'batch', did you mean 'batch_size'"),
        ('gamma', 'gamma: give a value'),
        ('gamma=big', "gamma = 'big': must be a number"),
        ('batch_size=2.5', "batch_size = '2.5': must be a whole number"),
        ('width=0', "width = '0': must be a whole number above 0"),
        ('exception=some', "exception = 'some': must be one of trained"),
        ('last_token=1', "last_token = '1': must be one of noise, any, pair"),
        ('gamma=1', 'give exception, too'),
        ('exception=trained,gamma=1', 'give seq_len, batch_size, learning_rate, too'),
    ],
)
def test_a_wrong_point_is_one_line(by_batch, text, line):
    with pytest.raises(UserError, match=line):
        prediction.predict_point(by_batch, factors.parse_point(text))


# Files.


def run_law(monkeypatch, capsys, *words):
    """(exit code, stdout, stderr) of the command line."""
    monkeypatch.setattr('sys.argv', ['law.py', *map(str, words)])
    code = 0
    try:
        cli.run_command(law.command)
    except SystemExit as e:
        code = e.code
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_the_tables_are_regenerated_from_the_committed_file_with_equal_bytes(
    tmp_path, monkeypatch, capsys
):
    path = tmp_path / 'members.csv'
    planted = plant(let_batch_decide, seq_len=(9,))
    shuffled = planted.sample(frac=1, random_state=0)
    path.write_text(format_csv(table.sort_members(shuffled)))
    assert path.read_text() == format_csv(planted)
    assert format_csv(table.read_csv(path)) == path.read_text()
    written = []
    for name in ('first', 'second'):
        out = tmp_path / name
        code, printed, _ = run_law(monkeypatch, capsys, '--members', path, '--out', out)
        assert code == 0 and str(out / 'effects.md') in printed
        written.append({file.name: file.read_bytes() for file in out.iterdir()})
    first, second = written
    assert set(first) == set(second) >= {'cells.csv', 'effects.csv', 'law.png'}
    for name in set(first) - {'law.npz'}:  # it holds the time
        assert first[name] == second[name], name
    page = first['effects.md'].decode()
    assert '| a, batch | ' in page and '**holds**' in page


def test_cells_are_counted_by_hand(by_batch):
    summary = cells.summarize_cells(by_batch)
    assert len(summary) == 24 and (summary.trained == 3).all()
    at = (summary.batch_size == 2048) & (summary.gamma == 1.2)
    assert (summary[at].inferential == 3).all() and (summary[at].symmetric == 0).all()
    assert summary[at].inferential_mean.to_numpy() == pytest.approx(0.97)
    text = cells.format_cells(summary)
    assert '| 3 of 3 | inferential 3 | 0.97 (0.97–0.97) |' in text


def test_a_cell_names_third_solutions_and_shows_near_answers():
    solution = ('third', 'third', 'symmetric', 'third', 'inferential')
    members = plant_members(lambda point: solution[point['seed']], seeds=5)
    members.loc[members.seed == 1, 'answer'] = '(4, 4)'
    members['unseen_within_1'] = [0.0, 0.0, 0.1, 0.2, 0.97]
    members['unseen_within_2'] = [0.5, 0.5, 0.1, 0.4, 1.0]
    summary = cells.summarize_cells(members)
    assert summary.third.tolist() == [3] and summary.within_2_high.tolist() == [1.0]
    text = cells.format_cells(summary)
    assert '| inferential | within 1, 2 | symmetric |' in text
    assert 'inferential 1, symmetric 1, third (2, 4) 2, third (4, 4) 1 |' in text
    # Means of inferential (0.02 of third, 0.01 of symmetric) and of the planted ones.
    assert '| 0.21 (0.01–0.97) | 0.25, 0.50 | 0.22 (0.02–0.98) |' in text


def test_a_cell_without_a_converged_member_has_no_numbers():
    members = plant_members(let_seed_decide, loss=lambda _: 0.5)
    summary = cells.summarize_cells(members)
    assert summary[['converged', *SOLUTIONS[:2]]].to_numpy().sum() == 0
    assert '| 0 of 3 | – | – | – | – | – | 0.90, 0.00 |' in cells.format_cells(summary)


def break_column(column, value):
    def change(members):
        return members.assign(**{column: value})

    return change


def break_third_row(members):
    converged = members.converged.astype(object)
    converged.iloc[2] = 1
    return members.assign(converged=converged)


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda members: members.drop(columns='gamma'), 'the column gamma is missing'),
        (
            lambda members: members.drop(columns='answer'),
            'the column answer is missing',
        ),
        (lambda members: members[:0], 'has no members'),
        (break_column('split', 'odd'), "split = 'odd' in row 2: must be one of"),
        (break_column('gamma', 'x'), "gamma = 'x' in row 2: must be a number"),
        (break_column('gamma', np.inf), "gamma = 'inf' in row 2: must be a number"),
        (break_column('gamma', 1e308), "gamma = '1e+308' in row 2: must be a number"),
        (break_column('depth', -5), "depth = '-5' in row 2: must be a whole number"),
        (break_column('train_loss', np.inf), 'must be a finite number of at least 0'),
        (break_column('width', 0), "width = '0' in row 2: must be a whole number abo"),
        (break_column('width', 6.5), "width = '6.5' in row 2: must be a whole number"),
        (break_column('weight_decay', -1), "'-1' in row 2: must be a number of at lea"),
        (break_column('seed', -1), "seed = '-1' in row 2: must be a whole number"),
        (
            break_column('train_loss', ''),
            "train_loss = '' in row 2: must be a finite number",
        ),
        (break_column('unseen_symmetric', 2), "'2' in row 2: must be a number from 0"),
        (break_column('lookup_heldout', 'x'), "'x' in row 2: must be a number from 0"),
        (break_column('solution', 'x'), "solution = 'x' in row 2: must be one of"),
        (break_column('converged', 'x'), "converged = 'x' in row 2: must be one of"),
        (break_third_row, "converged = '1' in row 4: must be one of True, False"),
    ],
)
def test_a_wrong_table_is_one_line_and_exit_code_2(
    by_batch, tmp_path, monkeypatch, capsys, change, line
):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(change(by_batch)))
    code, _, error = run_law(monkeypatch, capsys, '--members', path)
    assert code == 2 and line in error and error.count('\n') == 1


def test_a_table_that_is_cut_off_is_one_line(by_batch, tmp_path, monkeypatch, capsys):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(by_batch)[:-3])
    code, _, error = run_law(monkeypatch, capsys, '--members', path)
    assert code == 2 and error.count('\n') == 1
    assert 'its last row has no end of line' in error


def test_a_member_that_diverged_may_have_no_numbers(by_batch, tmp_path):
    nothing = {name: np.nan for name in ('train_loss', 'unseen_symmetric')}
    diverged = by_batch[:1].assign(converged=False, **nothing)
    members = pd.concat([diverged, by_batch[1:]], ignore_index=True)
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(members))
    assert table.read_csv(path).train_loss.isna().sum() == 1


def test_wrong_flags_are_one_line(tmp_path, monkeypatch, capsys):
    empty = tmp_path / 'law_*'
    cases = {
        'no such file': ['--members', tmp_path / 'none.csv'],
        'no folder of a run matches': ['--runs', empty, '--out', tmp_path],
        'give --out, too': ['--runs', empty],
        '--runs, --members: give one of them, or both': [],
    }
    for line, words in cases.items():
        code, _, error = run_law(monkeypatch, capsys, *words)
        assert code == 2 and line in error and error.count('\n') == 1


# The picture.


def test_the_picture_counts_and_is_drawn(result):
    picture = figure.arrange_picture(result.members, result.effects)
    assert picture.share.shape == (8, len(GAMMAS), len(SOLUTIONS))
    np.testing.assert_allclose(picture.share.sum(-1), 1)
    assert (picture.trained == 3).all() and (picture.converged == 3).all()
    assert 'width 64' in picture.common
    batch = list(picture.factor).index('batch')
    assert set(picture.level[:, batch]) == {'512', '2048'}
    assert any(name.startswith('batch: 512 → 2048') for name in picture.effect_factor)
    for values in picture:  # an npz without pickled objects
        assert np.asarray(values).dtype != object
    pixels = draw_pixels(picture, law)
    assert (pixels[..., :3] < 200).any()


def test_a_picture_of_a_single_cell_is_drawn():
    members = plant_members(let_seed_decide, loss=lambda _: 0.5)
    single = law.compute(members)
    picture = figure.arrange_picture(members, single.effects)
    assert picture.converged.sum() == 0 and len(picture.effect) == 0
    draw_pixels(picture, law)


# Runs.


def test_runs_are_collected_from_their_folders(
    finished, one_member, tmp_path, monkeypatch, capsys
):
    for name, folder in (
        ('law_a', finished.folder.workdir),
        ('law_b', finished.folder.workdir),
        ('law_c', one_member),
    ):
        (tmp_path / name).symlink_to(pathlib.Path(folder).resolve())
    (tmp_path / 'law_d.log').write_text('no run')
    out = tmp_path / 'out'
    code, printed, error = run_law(
        monkeypatch, capsys, '--runs', tmp_path / 'law_*', '--out', out
    )
    assert code == 0, error
    assert 'law_a: 8 of 8 trained' in printed
    assert '8 members are in two runs and are kept once' in printed
    members = table.read_csv(out / 'members.csv')
    assert list(members.columns) == list(table.COLUMNS)
    assert set(members.run) >= {'law_a'} and 'law_b' not in set(members.run)
    of_a = members[members.run == 'law_a']
    assert sorted(of_a.depth) == [1] * 4 + [2] * 4
    assert (of_a.seq_len == 4).all() and (of_a.split == 'random').all()
    assert (of_a.exception == 'trained').all() and (of_a.batch_size == 16).all()
    assert of_a.hardware.str.startswith('cpu ').all()
    assert set(of_a.gamma) == {0.3, 0.8} and set(of_a.seed) == {0, 1}
    expected = finished.results.train_loss.sel(depth=2, gamma=0.8, seed=1).item()
    row = of_a[(of_a.depth == 2) & (of_a.gamma == 0.8) & (of_a.seed == 1)]
    assert row.train_loss.item() == pytest.approx(expected, rel=1e-5)
    again = tmp_path / 'again'
    run_law(monkeypatch, capsys, '--members', out / 'members.csv', '--out', again)
    for name in ('cells.csv', 'verdicts.md', 'effects.csv', 'effects.md'):
        assert (again / name).read_bytes() == (out / name).read_bytes()


def test_runs_are_added_to_a_table(by_batch, one_member, tmp_path, monkeypatch, capsys):
    base = tmp_path / 'base.csv'
    base.write_text(format_csv(by_batch))
    folder = tmp_path / 'law_new'
    folder.symlink_to(pathlib.Path(one_member).resolve())
    out = tmp_path / 'out'
    words = ('--members', base, '--runs', folder, '--out', out)
    code, printed, error = run_law(monkeypatch, capsys, *words)
    assert code == 0, error
    assert f'members added to {base}: 1' in printed
    added = (out / 'members.csv').read_text().splitlines()
    known = base.read_text().splitlines()
    new = [line for line in added if ',law_new,' in line]
    assert len(new) == 1 and sorted(known + new) == sorted(added)
    # Once more: the run is there already, and replaces itself.
    words = ('--members', out / 'members.csv', '--runs', folder, '--out', out)
    code, printed, error = run_law(monkeypatch, capsys, *words)
    assert code == 0 and 'members.csv: 0' in printed, error
    assert (out / 'members.csv').read_text().splitlines() == added


def test_a_member_of_the_table_and_of_another_run_is_kept_once(by_batch):
    again = by_batch[:3].assign(run='law_again')
    members, repeated = table.add_members(by_batch, again)
    assert repeated == 3
    pd.testing.assert_frame_equal(members, by_batch)


def test_a_run_that_went_on_replaces_its_members_and_loses_none(by_batch):
    """A run that was started anew and is partly trained must not empty the table."""
    again = by_batch[:3].assign(train_loss=0.001)
    members, repeated = table.add_members(by_batch, again)
    assert repeated == 3
    assert len(members) == len(by_batch)
    assert (members.train_loss[:3] == 0.001).all()
    pd.testing.assert_frame_equal(members[3:], by_batch[3:])


def test_tables_do_not_replace_those_of_a_run(finished, monkeypatch, capsys):
    folder = pathlib.Path(finished.folder.workdir)
    members = (folder / 'members.csv').read_bytes()
    words = ('--runs', folder, '--out', folder)
    code, _, error = run_law(monkeypatch, capsys, *words)
    assert code == 2 and error.count('\n') == 1
    assert 'is a run; give another folder' in error
    assert (folder / 'members.csv').read_bytes() == members


@pytest.mark.parametrize(
    ('unseen', 'noninferential', 'exception'),
    [
        (((4, 3),), ((3, 4, -6),), 'trained'),
        (((4, 3), (3, 4)), (), 'both unseen'),
        (((4, 3), (3, 4)), ((3, 4, -6),), 'both unseen'),  # it is not trained
        (((4, 3),), (), 'none'),
    ],
)
def test_the_exception_is_read_from_the_task(unseen, noninferential, exception):
    planned = experiment(task__unseen=unseen, task__noninferential=noninferential)
    described = factors.describe_experiment(planned)
    assert described['exception'] == exception
    of_members = {'learning_rate', 'weight_decay', 'gamma', 'qk_offset'}
    assert set(described) | of_members == set(factors.NAMES)


@pytest.mark.parametrize(
    ('own_gammas', 'offsets'),
    [
        ((), [0.0, 0.0]),
        ((('vo', 0.1),), [0.0, 0.0]),
        ((('mlp', 0.9), ('qk', 0.4)), [0.2, -0.2]),
    ],
)
def test_the_gamma_of_attention_counts_from_that_of_the_member(own_gammas, offsets):
    planned = experiment(model__own_gammas=own_gammas)
    gamma = pd.Series([0.2, 0.6])
    assert list(factors.measure_qk_offset(planned, gamma)) == offsets


def test_what_differs_and_is_no_factor_is_said():
    first = experiment()
    second = experiment(
        optimizer__floor=0.0, train__batch_size=32, grid__gamma=(0.5,), name='other'
    )
    lines = collect.find_other_differences([first, second, second])
    assert len(lines) == 1 and lines[0].startswith('optimizer.floor differs')


def test_a_part_with_a_gamma_of_its_own_is_no_factor_unless_it_is_attention():
    plain = experiment()
    attention = experiment(model__own_gammas=(('qk', 0.2),))
    values = experiment(model__own_gammas=(('qk', 0.2), ('vo', 0.2)))
    assert collect.find_other_differences([plain, attention]) == []
    lines = collect.find_other_differences([plain, values])
    assert len(lines) == 1 and lines[0].startswith('model.own_gammas differs')


def test_a_model_without_a_depth_is_refused():
    planned = config.resolve(config.default(model='emb_mlp'))
    with pytest.raises(UserError, match="model = 'emb_mlp': the law is about models"):
        factors.describe_experiment(planned)


def test_another_task_is_refused():
    task = types.SimpleNamespace(name='copy')
    planned = types.SimpleNamespace(name='toy', task=task)
    with pytest.raises(UserError, match="toy: task = 'copy'"):
        factors.describe_experiment(planned)
