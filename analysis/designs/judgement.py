"""What the contrasts make of a hypothesis.

One contrast

  holds           its interval is on the expected side of 0
  opposite        its interval is on the other side
  does not hold   its interval lies within MARGIN of 0, whether it covers 0 or not
  undecided       the interval covers 0 and larger effects, there are fewer than
                  MIN_SEEDS seeds, or there is no room: fewer than MARGIN of the
                  members have the outcome that the factor should remove (lack the one
                  that it should bring), so that no effect could be larger

Matched cells decide if they come from at least MIN_SETTINGS settings; else the marginal
contrast does, with at least MIN_LEVEL_SETTINGS at either level; else it is undecided,
and what is shown is the matched contrast, if there is one. A hypothesis about one
setting is decided by the matched cells of at least MIN_SETTINGS gammas; if it is about
gamma itself, by its two cells. A hypothesis of several contrasts holds, or is opposite,
if all of them are; it does not hold if one of them does not, or if two contradict each
other; else it is undecided.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import contrasts, outcomes
from analysis.designs.contrasts import Contrast
from analysis.designs.hypotheses import Hypothesis, Part
from analysis.members.statistics import MIN_SEEDS
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)

MARGIN = 0.2  # of shares: an effect that is surely smaller does not hold
MIN_SETTINGS = 2  # a single one is one point of the design
MIN_LEVEL_SETTINGS = 3
_NULL = 'no effect: 0'


class Measured(NamedTuple):
    """A contrast, and how much its outcome could change in the expected direction."""

    contrast: Contrast
    room: float  # of the share at the lower level; by length, the smaller of the two


class Evidence(NamedTuple):
    """The contrast that decides a part, and the one that does not."""

    measured: Measured
    method: str
    enough: bool
    aside: str  # the other one, in words


def read_hypothesis(members: pd.DataFrame, hypothesis: Hypothesis) -> Reading:
    """What the members say about a hypothesis."""
    block = outcomes.name_block(hypothesis.block)
    members = outcomes.select_block(members, hypothesis.block)
    for name, value in (hypothesis.at or {}).items():
        members = members[members[name] == value]
    for name, levels in (hypothesis.among or {}).items():
        members = members[members[name].isin(levels)]
    if members.empty:
        where = 'at this setting' if hypothesis.at else f'with {block}'
        return undecided(f'no members {where}', null=_NULL)
    readings = []
    notes = []
    for part in hypothesis.parts:
        evidence = find_evidence(members, part, bool(hypothesis.at))
        reading = judge(evidence, part)
        readings.append(reading)
        notes += reading.note.split('; ')
    unconverged = len(members) - int(members.converged.sum())
    notes.append(f'left out, not converged: {unconverged} of {len(members)} ({block})')
    numbers = [reading.number for reading in readings]
    verdict = combine_verdicts([reading.verdict for reading in readings])
    note = '; '.join(dict.fromkeys(notes))  # each once, in order
    return Reading('; '.join(numbers), verdict, _NULL, note)


def find_evidence(
    members: pd.DataFrame, part: Part, is_single_setting: bool = False
) -> Evidence:
    """The matched contrast of a part if there is enough of it, else the marginal."""
    matched = _measure(contrasts.contrast_matched, members, part)
    is_gamma = part.factor == 'gamma'
    if is_single_setting:
        enough = is_gamma or matched.contrast.sets >= MIN_SETTINGS
        return Evidence(matched, 'matched', enough, '')
    marginal = _measure(contrasts.contrast_marginal, members, part)
    has_enough_matched = matched.contrast.settings >= MIN_SETTINGS
    if is_gamma or has_enough_matched:
        aside = '' if is_gamma else _describe_aside('marginal', marginal.contrast)
        return Evidence(matched, 'matched', has_enough_matched, aside)
    if not np.isfinite(marginal.contrast.effect):
        return Evidence(matched, 'matched', False, '')
    enough = marginal.contrast.settings >= MIN_LEVEL_SETTINGS
    aside = _describe_aside('matched', matched.contrast)
    return Evidence(marginal, 'marginal', enough, aside)


def judge(evidence: Evidence, part: Part) -> Reading:
    """The verdict on one contrast by the rule above."""
    contrast, room = evidence.measured
    number = f'{part.outcome} {format_effect(contrast)}'
    if not np.isfinite(contrast.effect):
        why = f'{part.outcome}: {contrast.note}'
        return undecided(why, number, _NULL, evidence.aside)
    note = f'{evidence.method}: {_count_evidence(contrast)}'
    if evidence.aside:
        note = f'{note}; {part.outcome} {evidence.aside}'
    if not evidence.enough:
        return undecided('too few settings', number, _NULL, note)
    if contrast.seeds < MIN_SEEDS:
        return undecided(f'fewer than {MIN_SEEDS} seeds', number, _NULL, note)
    low, high = sorted((part.sign * contrast.low, part.sign * contrast.high))
    if low >= -MARGIN and high <= MARGIN:
        if room < MARGIN:
            why = f'{part.outcome}: there is room for {room:.2f} only'
            return undecided(why, number, _NULL, note)
        return Reading(number, DOES_NOT_HOLD, _NULL, note)
    if low > 0:
        return Reading(number, HOLDS, _NULL, note)
    if high < 0:
        return Reading(number, OPPOSITE, _NULL, note)
    why = f'{part.outcome}: the interval covers 0 and effects beyond ±{MARGIN:g}'
    return undecided(why, number, _NULL, note)


def combine_verdicts(verdicts: list[Verdict]) -> Verdict:
    """The verdict on a hypothesis with these verdicts on its contrasts."""
    distinct = set(verdicts)
    if len(distinct) == 1:
        return verdicts[0]
    if DOES_NOT_HOLD in distinct or {HOLDS, OPPOSITE} <= distinct:
        return DOES_NOT_HOLD
    return UNDECIDED


def format_effect(contrast: Contrast) -> str:
    """'+0.40 [+0.12, +0.61]'; '–' if it cannot be estimated."""
    if not np.isfinite(contrast.effect):
        return '–'
    effect = format_signed(contrast.effect)
    return f'{effect} [{format_signed(contrast.low)}, {format_signed(contrast.high)}]'


def format_signed(value: float) -> str:
    """'+0.40', and '+0.00' for what rounds to -0.00."""
    return f'{round(value, 2) + 0.0:+.2f}'


def describe_number(number: int, thing: str) -> str:
    """'1 cell', '2 cells'."""
    return f'{number} {thing}' if number == 1 else f'{number} {thing}s'


def _measure(
    contrast: Callable[..., Contrast], members: pd.DataFrame, part: Part
) -> Measured:
    """One kind of contrast of a part, or its difference between lengths."""
    if not part.by_length:
        found = contrast(members, part.factor, part.outcome)
        return Measured(found, _find_room(found, part))
    is_longest = members.seq_len == members.seq_len.max()
    longest = contrast(members[is_longest], part.factor, part.outcome)
    shorter = contrast(members[~is_longest], part.factor, part.outcome)
    room = min(_find_room(longest, part), _find_room(shorter, part))
    return Measured(contrasts.subtract_contrasts(longest, shorter), room)


def _find_room(contrast: Contrast, part: Part) -> float:
    """How far the share at the lower level is from where the factor should take it."""
    return contrast.share_lower if part.sign < 0 else 1 - contrast.share_lower


def _describe_aside(method: str, contrast: Contrast) -> str:
    """The contrast that does not decide; '' if there is none."""
    if not np.isfinite(contrast.effect):
        return ''
    return f'{method} {format_effect(contrast)} ({_count_evidence(contrast)})'


def _count_evidence(contrast: Contrast) -> str:
    """'8 cells, 1 setting, 3 seeds, levels 3 → 4'."""
    numbers = [
        describe_number(contrast.sets, 'cell'),
        describe_number(contrast.settings, 'setting'),
        describe_number(contrast.seeds, 'seed'),
    ]
    text = f'{", ".join(numbers)}, levels {contrast.levels}'
    if contrast.empty:
        sets = describe_number(contrast.empty, 'more set')
        text += f', {sets} without members to compare'
    return text
