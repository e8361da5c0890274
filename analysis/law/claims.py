"""What the law predicted before its networks were trained.

The predictions are in gallery/log/predictions_law.md. Each claim is about one setting
with at least six fresh seeds; where several settings were predicted, about the one with
P1's four anchors. Everything else that the law measures is exploratory, and in
law_effects.csv: it averages settings that were chosen one after the other. No claim
goes from the lowest to the highest γ, which would cross two borders, from a table to
symmetric and from symmetric to composed.
"""

from analysis.claims import LESS, MORE, Claim, Rule
from analysis.estimates import Group, difference
from analysis.law import members

INTRODUCTION = (
    'Numbers are shares of answers to the unseen pair (4, 3), of all networks at the '
    'end of training, paired by seed. In brackets: the γ that starts with the same '
    "standard deviation at width 400, P1's. The sentences are ours. Each follows a "
    'prediction that was written before its networks were trained '
    '(at the time in its source), with the exception trained; which predictions became '
    'claims was chosen afterwards. What the law measures besides, in law_effects.csv, '
    'is exploratory.'
)
tabulate = members.tabulate

COMPOSED = 'unseen_composed'
SYMMETRIC = 'unseen_symmetric'

AT_1 = Group('γ 1.0', {'gamma': 1.0})
AT_1_4 = Group('γ 1.4', {'gamma': 1.4})
AT_2 = Group('γ 2.0', {'gamma': 2.0})
NOISE_LAST = Group('noise last', {'last_token': 'noise'})
PAIR_LAST = Group('pair last', {'last_token': 'pair'})
LARGER = Group('W_Q, W_K larger', {'qk_offset': -0.8})
EQUAL = Group('equal', {'qk_offset': 0.0})
FOUR = Group('four', {'anchors': 4, 'gamma': 0.2})
EIGHT = Group('eight', {'anchors': 8, 'gamma': 0.2})


def claim(
    name: str,
    time: str,
    sentence: str,
    runs: tuple[str, ...],
    column: str,
    groups: tuple[Group, Group],
    rule: Rule,
) -> Claim:
    """The first group less the second, as it was predicted at this time.

    Args:
      name: the address, without the paper.
    """
    estimate = difference(column, *groups)
    address, source = f'law.{name}', f'ours, 2026-11-{time}'
    return Claim(address, source, sentence, runs, estimate, rule)


CLAIMS = (
    claim(
        'order.w64_d2.composed',
        '23 04:02',
        'Four tokens and anchors, decay 0.15, 12,000 steps: from γ 1.0 (0.69 at width '
        '400) to 2.0 (1.39) more answers are composed.',
        ('law_order',),
        COMPOSED,
        (AT_2, AT_1),
        MORE,
    ),
    claim(
        'order.w64_d2.symmetric',
        '23 04:02',
        'The same: from γ 1.0 (0.69) to 2.0 (1.39) fewer answers are symmetric.',
        ('law_order',),
        SYMMETRIC,
        (AT_2, AT_1),
        LESS,
    ),
    claim(
        'tipping.w64_d2.composed',
        '23 01:03',
        'Four tokens and anchors, decay 0.15, 6,000 steps: from γ 1.0 (0.69) to 1.4 '
        '(0.97) more answers are composed.',
        ('law_tipping',),
        COMPOSED,
        (AT_1_4, AT_1),
        MORE,
    ),
    claim(
        'tipping.w64_d2.symmetric',
        '23 01:03',
        'The same: from γ 1.0 (0.69) to 1.4 (0.97) fewer answers are symmetric.',
        ('law_tipping',),
        SYMMETRIC,
        (AT_1_4, AT_1),
        LESS,
    ),
    claim(
        'pair_last.w64_d2.symmetric',
        '23 08:26',
        'Four tokens and anchors, decay 0.15, γ 0.6 and 1.0 (0.42 and 0.69): where '
        'the pair always comes last, fewer answers are symmetric than where noise '
        'does.',
        ('law_noise_before', 'law_noise_last'),
        SYMMETRIC,
        (PAIR_LAST, NOISE_LAST),
        LESS,
    ),
    claim(
        'attention.w64_d2.composed',
        '23 11:45',
        'Four tokens, eight anchors, decay 0.15, γ 0.6 (0.42): with W_Q and W_K alone '
        'drawn larger, at γ −0.2 (−0.14), more answers are composed.',
        ('phase_attention',),
        COMPOSED,
        (LARGER, EQUAL),
        MORE,
    ),
    claim(
        'batch.w64_d2.composed',
        '24 15:08',
        'Nine tokens, four anchors, decay 0.1, γ 1.0 (0.69), split by pair: with batch '
        '2048 more answers are composed than with 512.',
        ('law_square_r2_d10_9_2048_fresh', 'law_square_r2_d10_9_512_fresh'),
        COMPOSED,
        (Group('2048', {'batch_size': 2048}), Group('512', {'batch_size': 512})),
        MORE,
    ),
    claim(
        'anchors.w64_d2.composed',
        '22 23:53',
        'Four tokens, decay 0.03, noise always last, γ 0.2 (0.14): with eight anchors '
        'more answers are composed than with four.',
        ('law_anchors_fresh',),
        COMPOSED,
        (EIGHT, FOUR),
        MORE,
    ),
)
