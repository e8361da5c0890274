"""What P4 says about windows of weight decay, and what was left open (PAPERS 4.2).

Judged is what P4 prints, where the networks have P4's size: windows under AdamW and
SGD at its own width and steps (E2a, E11). The same at half the width and a quarter of
the steps gives other answers, and is exploratory.

Exploratory at every size, too, is P4's theory that decay after the window does nothing:
P4's own table contradicts it (0.74 and 0.96 for the last quarter, 0.15 and 0.11 without
decay). So is SCAN (E9), where nothing could have come out otherwise: none of the 72
networks answers a whole command, decay as P4 writes it shrinks the weights by 0.6 %,
and decay a step leaves networks that have learned nothing. Windows are named by shares
of training: 0–0.25 is P4's [0, 5k).
"""

from functools import partial

import numpy as np
import pandas as pd

from analysis import stats
from analysis.changes.crossings import compare_crossings
from analysis.claims import EARLIER, Claim, Rule, above, within
from analysis.estimates import (
    DIFFERENCE,
    Estimate,
    Estimator,
    Group,
    Side,
    compare_moments,
    difference,
    fraction_above,
    level,
    measure,
    pair,
    paired_difference,
    rank_correlation,
)
from analysis.p4 import members, start_or_end
from analysis.p4.decay_complexity import measure_early
from anchorjax.storage.reader import Run

MUCH = 0.25  # P4's differences of its main result: 0.78 (E2a), 0.82 and 0.67 (E11)
NEAR = 0.1  # "as much as": P4's standard deviations in E2a are 0.02 to 0.08

INTRODUCTION = (
    'Numbers are accuracies on what was never trained, of all networks at the end of '
    'training: unseen pairs, unseen sums, tokens of SCAN. Differences are paired by '
    'seed. The null is the accuracy of a network that does not compose '
    '(`analysis/p4/nulls.py`). P4 prints no borders; ours were fixed before the runs: '
    '"much" is a difference of 0.25, "as much as" one below 0.1, "no worse" '
    'at most 0.1 less. λ is the decay of one step; P4 writes ηλ, which at its rate '
    'does nothing.'
)

gap = partial(difference, 'unseen')


def decayed(name: str, window: str, **levels: float) -> Group:
    """Networks with this window of decay, by shares of training."""
    return Group(name, {'window': window, **levels})


def at_decay(name: str, per_step: float) -> Group:
    """Networks at γ 0.8 with a constant decay of λ a step, at the rate 3e-3."""
    return Group(name, {'decay': per_step / 3e-3, 'gamma': 0.8})


EARLY = decayed('early', '0–0.25')
MIDDLE = decayed('middle', '0.25–0.5')
LATE = decayed('late', '0.75–1')
CONSTANT = decayed('constant', members.ALL)
NONE = decayed('none', members.NONE)
NO_DECAY = at_decay('λ 0', 0)
BEST = at_decay('λ 1e-3', 1e-3)
# P4's γ is a factor of the initial weights.
LARGE = Group('γ 1.1', {'gamma': 1.1})
SMALL = Group('γ 0.5', {'gamma': 0.5})
SCAN = ('critical_windows_scan',)


def tabulate(run: Run) -> pd.DataFrame:
    """A row per network: the columns of `members`, and its early complexity (E3)."""
    table = members.tabulate(run)
    return table.assign(early_complexity=measure_early(run, table))


def explore(
    name: str, source: str, preset: str, sentence: str, estimate: Estimator
) -> Claim:
    """An exploratory claim about a preset of configs/critical_windows.py.

    Args:
      name: the address of the claim, without the paper.
    """
    runs = (f'critical_windows_{preset}',)
    return Claim(f'p4.{name}', source, sentence, runs, estimate)


AS_NONE = 'A window that begins with training is worth as much as no decay.'
MIDDLE_EARLY = 'A window in the middle is much better than one at the beginning.'
MIDDLE_ALL = 'A window in the middle is no worse than the same decay in all steps.'
MIDDLE_LATE = 'A window at the end is worse than one in the middle.'
LATE_NONE = (
    'Theory: decay after the critical window does nothing; a window at the end is '
    'worth as much as no decay.'
)


def _explored(rule: Rule) -> Rule:
    """The same side of the same border, without a verdict."""
    return rule._replace(day=None)


def list_positions(
    family: str, source: str, words: str, run: str, judged: tuple[str, ...] = ()
) -> list[Claim]:
    """P4's main result for one model and optimizer: five claims.

    Args:
      family: of their addresses, without the paper.
      judged: the sentences that are judged.
    """
    rows = (
        ('early_none', AS_NONE, EARLY, NONE, within(NEAR, EARLIER)),
        ('middle_early', MIDDLE_EARLY, MIDDLE, EARLY, above(MUCH, EARLIER)),
        ('middle_all', MIDDLE_ALL, MIDDLE, CONSTANT, above(-NEAR, EARLIER)),
        ('middle_late', MIDDLE_LATE, MIDDLE, LATE, above(0, EARLIER)),
        ('late_none', LATE_NONE, LATE, NONE, None),
    )
    claims = []
    for name, sentence, first, second, border in rows:
        address = f'p4.{family}.{name}'
        rule = border if sentence in judged or border is None else _explored(border)
        estimate = gap(first, second)
        claims.append(Claim(address, source, words + sentence, (run,), estimate, rule))
    return claims


def list_scan() -> list[Claim]:
    """P4's windows on SCAN, for both readings of its decay, and for one between."""
    windows = {
        'the first quarter': ('early', EARLY),
        'the middle half': ('middle', decayed('0.25–0.75', '0.25–0.75')),
        'all steps': ('all', CONSTANT),
    }
    decays = (
        ('written', 'P4 E9, as written', 'λ 5e-3 with η in it', 5e-3),
        ('step', 'P4 E9', 'λ 5e-3 a step of P4', 50.0),
        ('between', 'ours, on P4 E9', 'decay 0.5, between the two', 0.5),
    )
    claims = []
    for reading, source, words, decay in decays:
        without = decayed('none', members.NONE, decay=decay)
        for where, (name, group) in windows.items():
            address = f'p4.e09.scan_{reading}.{name}'
            sentence = (
                f'SCAN, {words}: with decay in {where} more tokens are right than '
                'without.'
            )
            windowed = Group(group.name, {**group.levels, 'decay': decay})
            estimate = gap(windowed, without)
            claims.append(Claim(address, source, sentence, SCAN, estimate))
    return claims


def lag(first: Group, second: Group) -> Estimator:
    """By how much later the first group learns what was held out: log ratio by seed."""

    def estimate(table: pd.DataFrame) -> Estimate:
        last = table.num_steps.max()
        table = table.fillna({'moment': np.inf})
        pairs = pair(table, ('moment', first.levels), ('moment', second.levels))
        found = compare_crossings(pairs.first, pairs.second, last)
        return compare_moments(found, first.name, second.name)

    return estimate


def gain_of(effect: str, left_out: str = '') -> Estimator:
    """What a later start or end of decay brings (start_or_end.py), without a window."""

    def estimate(table: pd.DataFrame) -> Estimate:
        single = select_grid(table)
        single = single[single.window != left_out]
        gain = start_or_end.measure_gain(single, effect)
        found = measure(f'a later {effect}', gain, stats.CHANGE)
        pairs = start_or_end.list_pairs(single, effect).groupby('seed').size().max()
        note = f'{pairs} pairs of windows'
        return found._replace(note=note if len(found.values) else '')

    return estimate


def compare_effects(table: pd.DataFrame) -> Estimate:
    """By how much a later end changes accuracy more than a later start does."""
    single = select_grid(table)
    sizes = {}
    sides = []
    for effect in ('end', 'start'):
        gain = start_or_end.measure_gain(single, effect)
        sizes[effect] = gain * np.sign(gain.mean())
        sides.append(Side(f'a later {effect}', stats.mean_interval(gain, stats.CHANGE)))
    values = (sizes['end'] - sizes['start']).dropna()
    note = 'the difference is of their sizes' if len(values) else ''
    return Estimate(values, DIFFERENCE, tuple(sides), note=note)


def select_grid(table: pd.DataFrame) -> pd.DataFrame:
    """The windows of one piece, of the seeds that have all of them."""
    return start_or_end.select_complete(table[start_or_end.is_one_piece(table)])


CLAIMS = (
    *list_positions(
        'e02a.w64',
        'P4 E2a',
        '',
        'critical_windows_paper_position',
        judged=(AS_NONE, MIDDLE_EARLY, MIDDLE_ALL, MIDDLE_LATE),
    ),
    # Of SGD P4 prints 0.32 for the beginning and 0.11 for no decay: not "as much as".
    *list_positions(
        'e11.w64',
        'P4 E11',
        'SGD with momentum: ',
        'critical_windows_paper_sgd',
        judged=(MIDDLE_EARLY, MIDDLE_ALL, MIDDLE_LATE),
    ),
    *list_positions('e02a.w32', 'P4 E2a', 'Half the width: ', 'critical_windows'),
    *list_positions(
        'e11.w32',
        'P4 E11',
        'SGD with momentum, half the width: ',
        'critical_windows_sgd_fresh',
    ),
    *list_positions(
        'e10.w32_d4', 'P4 E10', 'Four layers, half the width: ', 'critical_windows_deep'
    ),
    explore(
        'sec4.w32.decay_written',
        'P4 Sec 4, as written',
        'static',
        'θ ← θ − η λ θ with λ 1e-3 makes it much better than no decay.',
        gap(at_decay('η λ with λ 1e-3', 3e-6), NO_DECAY),
    ),
    explore(
        'e01.w32.decay',
        'P4 E1',
        'static',
        'A decay of λ 1e-3 a step makes it much better than no decay.',
        gap(BEST, NO_DECAY),
    ),
    explore(
        'e01.w32.collapse',
        'P4 E1',
        'static',
        'Three times more, λ 3e-3 a step, collapses: much worse than λ 1e-3.',
        gap(BEST, at_decay('λ 3e-3', 3e-3)),
    ),
    explore(
        'e02b.w32.narrow',
        'P4 E2b',
        'widths',
        'Narrow windows (a tenth of training): the middle is much better than the '
        'beginning.',
        gap(decayed('narrow middle', '0.25–0.35'), decayed('narrow early', '0–0.1')),
    ),
    explore(
        'e03.w32.band_low',
        'P4 E3',
        'complexity',
        'There is a good band: λ 1e-3 is much better than λ 0.',
        gap(BEST, NO_DECAY),
    ),
    explore(
        'e03.w32.band_high',
        'P4 E3',
        'complexity',
        'There is a good band: λ 1e-3 is much better than λ 1e-2.',
        gap(BEST, at_decay('λ 1e-2', 1e-2)),
    ),
    explore(
        'e03.w32.complexity',
        'P4 E3',
        'complexity',
        'Early complexity hardly ranks networks: correlation with accuracy, by seed.',
        rank_correlation('early_complexity', 'unseen', {}),
    ),
    explore(
        'e05.w32.gamma',
        'P4 E5',
        'gammas',
        'With a window in the middle a start with γ 1.1 is much better than one with '
        'γ 0.5.',
        gap(
            decayed('γ 1.1', '0.25–0.5', gamma=1.1),
            decayed('γ 0.5', '0.25–0.5', gamma=0.5),
        ),
    ),
    explore(
        'e06.w32.cliff',
        'P4 E6, E7',
        'onset',
        'A cliff: a window from 0.02 of training on is better by half than one from 0.',
        gap(decayed('from 0.02', '0.02–0.27'), EARLY),
    ),
    explore(
        'e08.w32.share',
        'P4 E8',
        'seeds',
        'With a window in the middle and γ 1.1, most of twelve seeds answer more than '
        'half of the unseen pairs.',
        fraction_above('unseen', 0.5, LARGE),
    ),
    explore(
        'e08.w32.gamma',
        'P4 E8',
        'seeds',
        'A start with γ 1.1 is better than one with γ 0.5.',
        gap(LARGE, SMALL),
    ),
    explore(
        'e04.grokking.lag',
        'P4 E4',
        'grokking',
        'Grokking: a window does not make a network learn earlier than constant decay.',
        lag(decayed('window 0.1–0.6', '0.1–0.6'), CONSTANT),
    ),
    explore(
        'e09.scan.whole',
        'P4 E9',
        'scan',
        'SCAN: no network answers a whole command with `jump`.',
        level('whole', Group('', {})),
    ),
    explore(
        'e09.scan.falls',
        'P4 E9',
        'scan',
        'SCAN: without decay the share of right tokens falls after a third of '
        'training.',
        paired_difference(
            'unseen_third',
            'unseen',
            ('a third of the way', 'at the end'),
            decayed('', members.NONE, decay=5e-3).levels,
        ),
    ),
    *list_scan(),
    explore(
        'e06.w32.after_or_inside',
        'Ours, on P4 E6',
        'onset',
        'Composition shows when decay stops: accuracy rises more in the eighth of '
        'training after a window than in the quarter inside it.',
        paired_difference(
            'rise_after', 'rise_inside', ('after', 'inside'), {}, stats.CHANGE
        ),
    ),
    explore(
        'e06.w32.end_or_start',
        'Ours, on P4 E6',
        'start_or_end',
        'It is the end of decay that decides, not its start.',
        compare_effects,
    ),
    explore(
        'e06.w32.start',
        'Ours, on P4 E6',
        'start_or_end',
        'At the same end, a later start is better.',
        gain_of('start'),
    ),
    explore(
        'e06.w32.end',
        'Ours, on P4 E6',
        'start_or_end',
        'At the same start, a later end is better.',
        gain_of('end'),
    ),
    explore(
        'e06.w32.end_later',
        'Ours, on P4 E6',
        'start_or_end',
        'The same without the window 0–0.25.',
        gain_of('end', left_out='0–0.25'),
    ),
    explore(
        'e06.w32.two_pieces',
        'Ours, on P4 E6',
        'start_or_end',
        'Half of the decay at the beginning and half late is no worse than all of it '
        'from the middle to the same end.',
        gap(decayed('two pieces', '0–0.125, 0.625–0.75'), decayed('one', '0.5–0.75')),
    ),
)
