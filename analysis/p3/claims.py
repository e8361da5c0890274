"""What P3 says of decay, γ and complexity, and P1 of the same sweeps (PAPERS 1.5, 3.3).

P1's are those about the same runs and figures: the time to fit (v1 Fig 6), the rate and
the decay (Figs 14 to 16).

The time to fit was measured at P1's own standard deviations, with six seeds, of which
one never fits and has no ratio. All other runs have three or five seeds. So every row
is exploratory; a rule is judged once a run has six. Rows without a rule stay
exploratory: what occurs or "does not" is no direction, and P1's rates ask for more
steps. γ and steps of these runs are not P3's: the largest γ, 1.3, has not learned its
data in 1,500 steps. A trend is Spearman's correlation of a number with the rate or the
decay, over the networks of a seed that share the other one, averaged over these.
"""

import numpy as np
import pandas as pd

from analysis import stats
from analysis.changes.crossings import Lag, compare_crossings
from analysis.claims import EARLIER, LESS, MORE, Claim, above
from analysis.estimates import (
    CORRELATION,
    Estimate,
    Estimator,
    Group,
    at_gamma,
    average_flags,
    compare_lags,
    compare_moments,
    difference,
    measure,
    pair,
    paired_difference,
    ratio,
    select,
    select_pairs,
)
from analysis.p3 import members
from analysis.p3.members import PHASES
from analysis.spectra import rank_correlation

WIDTH = 64  # of all networks but those of MATCHED
INTRODUCTION = (
    'Small initialization is the larger γ, in brackets with the γ of the same standard '
    "deviation at width 400; at 640, P3's width in Figs 3 and 5 C, γ 0.3, 0.7, 1.0 and "
    '1.3 are 0.19, 0.45, 0.64 and 0.84. P3 shows 0.40 to 0.80. Times to fit are in '
    'epochs; a network that never fits counts as if it did at the end, so that its '
    'ratio is a bound ("at least", "at most").'
)

tabulate = members.tabulate


def measure_growth(table: pd.DataFrame, column: str) -> Lag:
    """The time with five wrong pairs by that with none."""
    table = table.fillna({column: np.inf})
    pairs = pair(table, (column, {'complexity': 5}), (column, {'complexity': 0}))
    return compare_crossings(pairs.first, pairs.second, table.last_epoch.max())


def growth(column: str, group: Group) -> Estimator:
    """By how much five wrong pairs lengthen the time to fit: logarithms."""

    def estimate(table: pd.DataFrame) -> Estimate:
        found = measure_growth(select(table, group.levels), column)
        names = f'{group.name}, five wrong', f'{group.name}, none'
        return compare_moments(found, *names)._replace(note='')

    return estimate


def compare_growths(column: str, first: Group, second: Group) -> Estimator:
    """The first growth by the second, of the seeds that have both: logarithms."""

    def estimate(table: pd.DataFrame) -> Estimate:
        members = select_pairs(table, first.levels, second.levels)
        growths = [measure_growth(of_group, column) for of_group in members]
        return compare_lags(growths, (first.name, second.name))

    return estimate


def count_phases(table: pd.DataFrame) -> Estimate:
    """By seed the share of networks in phase 3; the note counts those in each."""
    counts = table.phase.value_counts()
    parts = []
    for place, name in enumerate(PHASES):
        parts.append(f'{name}: {counts.get(place, 0)}')
    is_last = table.phase == PHASES.index('3')
    found = measure('in phase 3', average_flags(is_last, table))
    return found._replace(note=f'networks by phase: {", ".join(parts)}')


def trend(column: str, along: str) -> Estimator:
    """How a column goes with the rate or the decay (`along`), by seed."""
    across = {'learning_rate': 'weight_decay', 'weight_decay': 'learning_rate'}[along]

    def estimate(table: pd.DataFrame) -> Estimate:
        rows = []
        for (seed, _), line in table.groupby(['seed', across]):
            rows.append((seed, rank_correlation(line[along], line[column])))
        lines = pd.DataFrame(rows, columns=['seed', 'rho'])
        values = lines.groupby('seed').rho.mean().dropna()
        note = f'from {table[column].min():.2f} to {table[column].max():.2f}'
        note = note if len(values) else ''
        return Estimate(values, CORRELATION, note=note, possible=stats.COSINE)

    return estimate


def list_times() -> list[Claim]:
    """The time to fit, by both published thresholds."""
    published = (
        ('p3.p1v1_fig06', 'P1 v1 Fig 6', 0.05, MORE),
        ('p3.fig08', 'P3 Fig 8 A, B', 0.1, above(0, EARLIER)),
    )
    claims = []
    for figure, source, threshold, rule in published:
        column = f'epochs_{threshold:g}'
        words = f'the time to a train loss of {threshold:g}'
        claims += [
            Claim(
                f'{figure}.w32_d2.small',
                source,
                f'Small initialization: {words} grows with five wrong pairs.',
                MATCHED,
                growth(column, MATCHED_SMALL),
                MORE,
            ),
            Claim(
                f'{figure}.w32_d2.large',
                source,
                f'Large initialization: {words} does not grow.',
                MATCHED,
                growth(column, MATCHED_LARGE),
                LESS,
            ),
            Claim(
                f'{figure}.w32_d2.gamma',
                source,
                f'{words.capitalize()} grows more at a small than at a large '
                'initialization.',
                MATCHED,
                compare_growths(column, MATCHED_SMALL, MATCHED_LARGE),
                rule,
            ),
            Claim(
                f'{figure}.w64.depth',
                source,
                f'Small initialization: {words} grows less in deeper networks.',
                ('inferential_complexity_08',),
                compare_growths(column, SHALLOW, DEEP),
                MORE,
            ),
        ]
    return claims


def list_trends() -> list[Claim]:
    """P1 Figs 14 to 16: three numbers along two axes."""
    columns = {
        'unseen_composed': ('14', 'the unseen pair is composed more often', MORE),
        'directions': ('15', 'W_Q has fewer directions', LESS),
        'order': ('16', 'the embedding is more ordered', MORE),
    }
    claims = []
    for column, (figure, words, rule) in columns.items():
        for along, axis in (('learning_rate', 'rate'), ('weight_decay', 'decay')):
            sentence = f'The larger the {axis}, the more: {words}.'
            estimate = trend(column, along)
            address = f'p3.p1_fig{figure}.w64.{axis}'
            source = f'P1 Fig {figure}'
            runs = ('decay_rates',)
            claims.append(Claim(address, source, sentence, runs, estimate, rule))
    return claims


SMALL_DECAY = {'weight_decay': 0.01}  # of P3's sharp transition (Fig 3 A)
# On both sides of P3's border (0.55 to 0.60 at its width of 640) and in its range.
SMALL = at_gamma(1.0, WIDTH, **SMALL_DECAY)
LARGE = at_gamma(0.7, WIDTH, **SMALL_DECAY)
WEAK = Group('decay 0.01', {'gamma': 0.3, **SMALL_DECAY})
STRONG = Group('decay 0.3', {'gamma': 0.3, 'weight_decay': 0.3})

# P1's pair at width 32, nine tokens.
MATCHED = ('inferential_complexity_matched',)
MATCHED_LARGE = at_gamma(0.865, width=32)
MATCHED_SMALL = at_gamma(1.38, width=32)
SHALLOW = Group('depth 2', {'gamma': 0.8, 'depth': 2})
DEEP = Group('depth 4', {'gamma': 0.8, 'depth': 4})

CLAIMS = (
    *list_times(),
    Claim(
        'p3.fig03.w64_d2.gamma',
        'P3 Fig 3 A',
        'At decay 0.01 small initialization composes the unseen pairs more often than '
        'large.',
        ('decay',),
        difference('unseen_composed', SMALL, LARGE),
        above(0, EARLIER),
    ),
    Claim(
        'p3.fig03.w64_d2.decay',
        'P3 Fig 3',
        'At large initialization more decay makes networks compose.',
        ('decay',),
        difference('unseen_composed', STRONG, WEAK),
        above(0, EARLIER),
    ),
    Claim(
        'p3.fig03.w64_d2.phases',
        'P3 Fig 3',
        'The four phases occur.',
        ('decay',),
        count_phases,
    ),
    Claim(
        'p3.fig03.w64_d2.commutes',
        'P3 Fig 3',
        'Between memory and reasoning, where nothing is composed, the unseen pair and '
        'its reverse get the same answer more often than another pair gets it.',
        ('decay',),
        paired_difference(
            'commutativity', 'chance', ('reverse', 'another'), {'gamma': 0.7}
        ),
        above(0, EARLIER),
    ),
    Claim(
        'p3.fig05.w64_d2.rank_gamma',
        'P3 Fig 5 C',
        'At decay 0.01 the stable rank of W_Q is lower at small initialization.',
        ('decay',),
        ratio('stable_rank', LARGE, SMALL),
        above(0, EARLIER),
    ),
    Claim(
        'p3.fig05.w64_d2.rank_decay',
        'P3 Fig 5 C',
        'At large initialization the stable rank of W_Q is lower with more decay.',
        ('decay',),
        ratio('stable_rank', WEAK, STRONG),
        above(0, EARLIER),
    ),
    Claim(
        'p3.fig03.w64_d2.best_record',
        'Ours, on P3 Fig 3',
        'The best record of training is higher than the last one.',
        ('decay',),
        paired_difference('best_record', 'unseen_composed', ('best', 'last'), {}),
    ),
    *list_trends(),
)
