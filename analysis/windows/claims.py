"""What P4 says, and what it left open: a claim is a row of CLAIMS (PAPERS 4.2).

Claims are about the presets of configs/critical_windows.py, which the names of their
runs tell. Windows are named by their shares of training: 0–0.25 is P4's [0, 5k).
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from analysis import decay_complexity, decay_grid, decay_windows, start_or_end
from analysis.old_claims.reading import Reading
from analysis.windows import readings
from analysis.windows.members import ALL, NONE
from analysis.windows.readings import (
    MUCH,
    NEAR,
    Group,
    judge_better,
    judge_equal,
    judge_no_worse,
)
from anchorjax.experiment import Experiment

_NAME = 'critical_windows'


class Claim(NamedTuple):
    """A sentence, the preset that it is about, and how to read its figure."""

    source: str
    sentence: str
    preset: str  # '': the first
    figure: ModuleType
    read: Callable[[Any], Reading]

    def fits(self, experiment: Experiment) -> bool:
        """Whether a run is of the claim's preset, at our size or at the paper's."""
        names = {f'{_NAME}_{self.preset}' if self.preset else _NAME}
        names.add(f'{_NAME}_paper_{self.preset or "position"}')
        return experiment.name in names


def _compare(
    first: Group,
    second: Group,
    rule: Callable[..., Any] = judge_better,
    border: float = MUCH,
) -> Callable[[Any], Reading]:
    """A reading of the difference of two groups."""
    return partial(
        readings.read_difference, first=first, second=second, rule=rule, border=border
    )


_EARLY = Group('early', window='0–0.25')
_MIDDLE = Group('middle', window='0.25–0.5')
_LATE = Group('late', window='0.75–1')
_CONSTANT = Group('constant', window=ALL)
_WITHOUT = Group('none', window=NONE)


def _list_positions(source: str, preset: str, model: str) -> list[Claim]:
    """P4's main result, for each model and optimizer: five rows."""
    early_equal = _compare(_EARLY, _WITHOUT, judge_equal, NEAR)
    late_equal = _compare(_LATE, _WITHOUT, judge_equal, NEAR)
    rows = (
        (
            'A window that begins with training is worth as much as no decay.',
            early_equal,
        ),
        (
            'A window in the middle is much better than one at the beginning.',
            _compare(_MIDDLE, _EARLY),
        ),
        (
            'A window in the middle is no worse than the same decay in all steps.',
            _compare(_MIDDLE, _CONSTANT, judge_no_worse, NEAR),
        ),
        (
            'A window at the end is worse than one in the middle.',
            _compare(_MIDDLE, _LATE, judge_better, 0.0),
        ),
        (
            'Theory: decay after the critical window does nothing; a window at the end '
            'is worth as much as no decay.',
            late_equal,
        ),
    )
    claims = []
    for sentence, read in rows:
        claims.append(Claim(source, model + sentence, preset, decay_windows, read))
    return claims


def _at(name: str, per_step: float) -> Group:
    """Networks at γ 0.8 with a constant decay of λ a step, at the rate 3e-3."""
    return Group(name, decay=per_step / 3e-3, gamma=0.8)


_LAMBDA_NONE = _at('λ 0', 0.0)
_LAMBDA_BEST = _at('λ 1e-3', 1e-3)
_LAMBDA_LARGE = _at('λ 3e-3', 3e-3)
_LAMBDA_HUGE = _at('λ 1e-2', 1e-2)
_LITERAL = _at('η λ with λ 1e-3', 3e-6)


def _list_scan() -> list[Claim]:
    """P4's windows on SCAN, for both readings of its decay, and for one between."""
    half = Group('0.25–0.75', window='0.25–0.75')
    rows = [
        Claim(
            'P4 E9',
            'SCAN: no network answers a whole command with `jump`.',
            'scan',
            decay_windows,
            readings.read_no_answer,
        ),
        Claim(
            'P4 E9',
            'SCAN: without decay the share of right tokens falls after a third of '
            'training.',
            'scan',
            decay_windows,
            partial(readings.read_fall, group=_WITHOUT._replace(decay=5e-3)),
        ),
    ]
    # The last number is the border: half of the smallest gain that P4 prints, 0.06.
    decays = {
        'P4 E9, as written': ('λ 5e-3 with η in it', 5e-3, 0.03),
        'P4 E9': ('λ 5e-3 a step of P4', 50.0, 0.03),
        'ours, on P4 E9': ('decay 0.5, between the two', 0.5, 0.0),
    }
    windows = {
        'the first quarter': _EARLY,
        'the middle half': half,
        'all steps': _CONSTANT,
    }
    for source, (words, decay, border) in decays.items():
        for where, group in windows.items():
            at_decay = group._replace(decay=decay)
            without = _WITHOUT._replace(decay=decay)
            rows.append(
                Claim(
                    source,
                    f'SCAN, {words}: with decay in {where} more tokens are right than '
                    'without.',
                    'scan',
                    decay_windows,
                    _compare(at_decay, without, judge_better, border),
                )
            )
    return rows


CLAIMS = (
    Claim(
        'P4 E1',
        'Without decay a network at γ 0.8 hardly answers unseen pairs.',
        'static',
        decay_grid,
        partial(readings.read_low, group=_LAMBDA_NONE, border=MUCH),
    ),
    Claim(
        'P4 Sec 4, as written',
        'θ ← θ − η λ θ with λ 1e-3 makes it much better than no decay.',
        'static',
        decay_grid,
        _compare(_LITERAL, _LAMBDA_NONE),
    ),
    Claim(
        'P4 E1',
        'A decay of λ 1e-3 a step makes it much better than no decay.',
        'static',
        decay_grid,
        _compare(_LAMBDA_BEST, _LAMBDA_NONE),
    ),
    Claim(
        'P4 E1',
        'Three times more, λ 3e-3 a step, collapses: much worse than λ 1e-3.',
        'static',
        decay_grid,
        _compare(_LAMBDA_BEST, _LAMBDA_LARGE),
    ),
    Claim(
        'P4 E1',
        'At λ 1e-3 a start with γ 0.8 is much better than one with γ 0.5.',
        'static',
        decay_grid,
        _compare(
            Group('γ 0.8', decay=1 / 3, gamma=0.8),
            Group('γ 0.5', decay=1 / 3, gamma=0.5),
        ),
    ),
    *_list_positions('P4 E2a', '', ''),
    Claim(
        'P4 E2b',
        'Narrow windows (a tenth of training): the middle is much better than the '
        'beginning.',
        'widths',
        decay_windows,
        _compare(
            Group('narrow middle', window='0.25–0.35'),
            Group('narrow early', window='0–0.1'),
        ),
    ),
    Claim(
        'P4 E2b',
        'In the middle, a wide window is no worse than a narrow one.',
        'widths',
        decay_windows,
        _compare(_MIDDLE, Group('narrow', window='0.25–0.35'), judge_no_worse, NEAR),
    ),
    Claim(
        'P4 E2b',
        'At the end, a wide window is much better than a narrow one.',
        'widths',
        decay_windows,
        _compare(_LATE, Group('narrow', window='0.9–1'), judge_better, NEAR),
    ),
    Claim(
        'P4 E3',
        'There is a good band: λ 1e-3 is much better than λ 0 and than λ 1e-2.',
        'complexity',
        decay_complexity,
        partial(
            readings.read_peak,
            middle=_LAMBDA_BEST,
            ends=(_LAMBDA_NONE, _LAMBDA_HUGE),
        ),
    ),
    Claim(
        'P4 E3',
        'Early complexity does not rank networks: its correlation with accuracy is '
        'weak.',
        'complexity',
        decay_complexity,
        readings.read_weak_correlation,
    ),
    Claim(
        'P4 E5',
        'With a window in the middle a start with γ 1.1 is much better than one with '
        'γ 0.5.',
        'gammas',
        decay_windows,
        _compare(
            Group('γ 1.1', window='0.25–0.5', gamma=1.1),
            Group('γ 0.5', window='0.25–0.5', gamma=0.5),
        ),
    ),
    Claim(
        'P4 E6, E7',
        'A cliff: a window from 0.02 of training on is better by half than one from 0.',
        'onset',
        decay_windows,
        _compare(
            Group('from 0.02', window='0.02–0.27'), _EARLY, judge_better, border=0.5
        ),
    ),
    Claim(
        'P4 E6, E7',
        'The cliff is all: a window from 0.2 on is no better than one from 0.02.',
        'onset',
        decay_windows,
        _compare(
            Group('from 0.02', window='0.02–0.27'),
            Group('from 0.2', window='0.2–0.45'),
            judge_no_worse,
            NEAR,
        ),
    ),
    Claim(
        'P4 E8',
        'With a window in the middle and γ 1.1, most of twelve seeds answer more than '
        'half of the unseen pairs.',
        'seeds',
        decay_windows,
        partial(readings.read_share, group=Group('γ 1.1', gamma=1.1), border=0.5),
    ),
    Claim(
        'P4 E8',
        'A start with γ 1.1 is better than one with γ 0.5.',
        'seeds',
        decay_windows,
        _compare(
            Group('γ 1.1', gamma=1.1), Group('γ 0.5', gamma=0.5), judge_better, 0.0
        ),
    ),
    *_list_positions('P4 E10', 'deep', 'Four layers: '),
    *_list_positions('P4 E11', 'sgd', 'SGD with momentum: '),
    Claim(
        'P4 E4',
        'Grokking: a window does not make a network learn earlier than constant decay.',
        'grokking',
        decay_windows,
        partial(
            readings.read_moments,
            first=Group('window 0.1–0.6', window='0.1–0.6'),
            second=_CONSTANT,
        ),
    ),
    *_list_scan(),
    Claim(
        'Ours, on P4 E6',
        'Composition shows when decay stops: accuracy rises more in the eighth of '
        'training after a window than in the quarter inside it.',
        'onset',
        decay_windows,
        readings.read_release,
    ),
    Claim(
        'Ours, on P4 E6',
        'It is the end of decay that decides, not its start.',
        'start_or_end',
        start_or_end,
        readings.read_end_decides,
    ),
    Claim(
        'Ours, on P4 E6',
        'At the same end, a later start is better.',
        'start_or_end',
        start_or_end,
        partial(readings.read_effect, row=start_or_end.START),
    ),
    Claim(
        'Ours, on P4 E6',
        'At the same start, a later end is better.',
        'start_or_end',
        start_or_end,
        partial(readings.read_effect, row=start_or_end.END),
    ),
    Claim(
        'Ours, on P4 E6',
        'Half of the decay at the beginning and half late is no worse than all of it '
        'from the middle to the same end.',
        'start_or_end',
        start_or_end,
        _compare(
            Group('two pieces', window='0–0.125, 0.625–0.75'),
            Group('one', window='0.5–0.75'),
            judge_no_worse,
            NEAR,
        ),
    ),
)
