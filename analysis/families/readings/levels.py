"""Claims about the levels of a solution (P1 Sec 5 and its slides; PAPERS 1.1).

Every number is a share of a member's own answers that one level explains where the
level before it says nothing: the null is 0. Both rules need MIN_SEEDS converged members
of the gamma that they are about.
"""

import numpy as np

from analysis.families.readings.members import (
    describe_members,
    find_ends,
    require_converged,
)
from analysis.levels import LINES, Result
from analysis.members.levels import KINDS, LEVELS
from analysis.members.rows import average_by_seed
from analysis.members.seeds import pair_seeds
from analysis.report.readings.borders import (
    conclude_seeds,
    estimate,
    format_mean,
    judge,
    negate,
)
from analysis.report.readings.reading import Reading, format_gamma, undecided
from analysis.report.verdicts import OPPOSITE

HALF = 0.5  # of the answers: a level explains most of them
KNOWN = 0.9  # of the trained questions: the data are learned
FLAT = 0.1
TRAINED, HELDOUT, REVERSED, COMPOSED = range(len(LINES))
_ONE_GAMMA = 'one gamma only'


def read_composed(result: Result, setting: str) -> Reading:
    """At a small start composition explains the answers to unseen pairs.

    holds, opposite  surely more than HALF of them; less than the reverse explains
    does not hold    surely less than HALF
    """
    return _read_line(result, setting, 'small', COMPOSED, REVERSED)


def read_reversed(result: Result, setting: str) -> Reading:
    """At a large start one function an unordered pair explains them.

    holds, opposite  surely more than HALF of them; less than composition explains
    does not hold    surely less than HALF
    """
    return _read_line(result, setting, 'large', REVERSED, COMPOSED)


def read_memory_first(result: Result, setting: str, start: str) -> Reading:
    """Large start: the data are known before other questions; small: not before.

    The share of held-out answers that one function a pair explains at the first
    snapshot that knows KNOWN of the trained questions.

    large: holds if surely below HALF, opposite if surely above
    small: the other way round
    """
    ends = find_ends(result.members)
    if ends is None:
        return undecided(_ONE_GAMMA)
    gamma = getattr(ends, start)
    is_setting_M = result.members['setting'] == setting
    is_here_M = is_setting_M & (result.members['gamma'] == gamma)
    trained_MS = result.line(TRAINED)[is_here_M]
    heldout_MS = result.line(HELDOUT)[is_here_M]
    is_known_MS = trained_MS >= KNOWN
    first_M = is_known_MS.argmax(-1)
    share_M = heldout_MS[np.arange(len(first_M)), first_M]
    share_M = np.where(is_known_MS.any(-1), share_M, np.nan)
    found = estimate(share_M)
    verdict = judge(found, HALF, opposite=HALF)
    if start == 'large':
        verdict = judge(negate(found), -HALF, opposite=-HALF)
    steps = result.step_S[first_M[is_known_MS.any(-1)]]
    when = f'step {steps.mean():,.0f}' if len(steps) else 'never'
    return conclude_seeds(
        verdict,
        number=f'held-out explained by functions when the data are known ({when}): '
        f'{format_mean(found)}',
        null='a table of the data: 0.00',
        note=f'{format_gamma(gamma)}: {describe_members(result.members, is_here_M)}',
        values=share_M,
        why='the interval covers a half, or the data are never known',
    )


def read_examples(result: Result, setting: str) -> Reading:
    """With more examples, held-out answers are functions: memory to inference.

    Explained share with the most training examples less that with the fewest, at a
    small start, seed by seed.

    holds          the interval is above HALF
    opposite       it is below 0
    does not hold  it is between
    """
    ends = find_ends(result.members)
    sizes = np.unique(result.num_train_M)
    if ends is None or not result.has_sizes:
        return undecided('one gamma or one number of examples only')
    is_small_M = result.members['gamma'] == ends.small
    is_most_M = is_small_M & (result.num_train_M == sizes[-1])
    is_fewest_M = is_small_M & (result.num_train_M == sizes[0])
    most, fewest = pair_seeds(
        result.members['seed'], np.flatnonzero(is_most_M), np.flatnonzero(is_fewest_M)
    )
    share_M = result.line(HELDOUT)[:, -1]
    found = estimate(share_M[most] - share_M[fewest])
    of_fewest = f'{share_M[fewest].mean():.2f} with {sizes[0]:,} examples'
    of_most = f'{share_M[most].mean():.2f} with {sizes[-1]:,}'
    members = describe_members(result.members, is_small_M)
    reading = conclude_seeds(
        judge(found, HALF, opposite=0),
        number=f'{of_fewest}, {of_most}; difference {format_mean(found)}',
        null='a table of the data: 0.00',
        note=f'{format_gamma(ends.small)}: {members}',
        values=share_M[most] - share_M[fewest],
    )
    ends_of_sizes = {
        f'{sizes[0]:,} examples': is_fewest_M,
        f'{sizes[-1]:,} examples': is_most_M,
    }
    return require_converged(reading, result.members, ends_of_sizes)


def read_fewer_examples(result: Result, setting: str) -> Reading:
    """A small start needs fewer examples to leave memory.

    The explained share of held-out answers, averaged over the numbers of examples, at a
    small start less that at a large one, seed by seed.

    holds, opposite  the interval is above FLAT, below -FLAT
    does not hold    it is below FLAT
    """
    ends = find_ends(result.members)
    if ends is None or not result.has_sizes:
        return undecided('one gamma or one number of examples only')
    share_M = result.line(HELDOUT)[:, -1]
    is_small_M = result.members['gamma'] == ends.small
    is_large_M = result.members['gamma'] == ends.large
    small = average_by_seed(share_M[is_small_M], result.members['seed'][is_small_M])
    large = average_by_seed(share_M[is_large_M], result.members['seed'][is_large_M])
    number = min(len(small), len(large))
    difference = small[:number] - large[:number]
    found = estimate(difference)
    of_small = f'{format_gamma(ends.small)}: {small.mean():.2f}'
    of_large = f'{format_gamma(ends.large)}: {large.mean():.2f}'
    is_any_M = is_small_M | is_large_M
    return conclude_seeds(
        judge(found, FLAT, opposite=-FLAT),
        number=f'{of_small}, {of_large}; difference {format_mean(found)}',
        null='a difference of 0',
        note=describe_members(result.members, is_any_M),
        values=difference,
    )


def _read_line(
    result: Result, setting: str, start: str, line: int, rival: int
) -> Reading:
    """The share that one line explains at the end, and the share of its rival."""
    ends = find_ends(result.members)
    if ends is None:
        return undecided(_ONE_GAMMA)
    gamma = getattr(ends, start)
    is_setting_M = result.members['setting'] == setting
    is_here_M = is_setting_M & (result.members['gamma'] == gamma)
    is_counted_M = is_here_M & result.members['converged']
    share_M = result.line(line)[is_counted_M, -1]
    rival_M = result.line(rival)[is_counted_M, -1]
    found = estimate(share_M)
    verdict = judge(found, HALF)
    rival_found = estimate(rival_M)
    if rival_found.low > HALF:
        verdict = OPPOSITE
    kind, level = LINES[line]
    table = result.table_MLKL[is_here_M, LEVELS.index('ordered pair')]
    null = table[:, KINDS.index(kind), LEVELS.index(level)].mean()
    reading = conclude_seeds(
        verdict,
        number=f'{level} {format_mean(found)}; {LINES[rival][1]} '
        f'{format_mean(rival_found)}',
        null=f'a function of each pair: {null:.2f}',
        note=f'{format_gamma(gamma)}: {describe_members(result.members, is_here_M)}',
        values=share_M,
        why='the interval covers a half',
    )
    groups = {format_gamma(gamma): is_here_M}
    return require_converged(reading, result.members, groups)
