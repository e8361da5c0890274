"""Claims about the levels of a solution (P1 Sec 5 and its slides; PAPERS 1.1).

Every number is a share of a member's own answers that one level explains; its null is
said with it. What is read at the end of training needs MIN_SEEDS converged members;
`read_memory_first` and `read_fewer_examples` say what they count.
"""

import numpy as np

from analysis.families.readings.members import (
    describe_members,
    find_ends,
    require_converged,
)
from analysis.members.levels import KINDS, LEVELS
from analysis.members.seeds import match_seeds, pair_seeds
from analysis.members.table import list_converged
from analysis.old_claims.borders import (
    conclude_seeds,
    estimate,
    format_mean,
    judge,
    negate,
)
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.old_claims.verdicts import OPPOSITE
from analysis.p1.levels import LINES, Result

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

    The share of held-out answers that one function a pair explains when KNOWN of the
    trained questions are known: between the snapshots before and after, on the line
    through both.

    large: holds if surely below HALF, opposite if surely above
    small: the other way round
    """
    ends = find_ends(result.members)
    if ends is None:
        return undecided(_ONE_GAMMA)
    gamma = getattr(ends, start)
    is_here_M = _is_at(result, setting, gamma)
    trained_MS = result.line(TRAINED)[is_here_M]
    heldout_MS = result.line(HELDOUT)[is_here_M]
    shares = []
    steps = []
    for trained_S, heldout_S in zip(trained_MS, heldout_MS, strict=True):
        is_known_S = trained_S >= KNOWN
        if not is_known_S.any():
            shares.append(np.nan)
            continue
        first = is_known_S.argmax()
        around = slice(max(first - 1, 0), first + 1)
        shares.append(np.interp(KNOWN, trained_S[around], heldout_S[around]))
        steps.append(result.step_S[first])
    share_M = np.array(shares)
    found = estimate(share_M)
    verdict = judge(found, HALF, opposite=HALF)
    if start == 'large':
        verdict = judge(negate(found), -HALF, opposite=-HALF)
    when = f'by step {np.mean(steps):,.0f}' if steps else 'never'
    return conclude_seeds(
        verdict,
        number=f'held-out explained by functions when the data are known ({when}): '
        f'{format_mean(found)}',
        null='a table of the data: 0.00',
        note=_describe_gamma(result, gamma, is_here_M),
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
    members = result.members
    ends = find_ends(members)
    if ends is None or not result.has_sizes:
        return undecided('one gamma or one number of examples only')
    fewest = result.num_train_M.min()
    most = result.num_train_M.max()
    is_small_M = members['gamma'] == ends.small
    has_fewest_M = is_small_M & (result.num_train_M == fewest)
    has_most_M = is_small_M & (result.num_train_M == most)
    at_most, at_fewest = pair_seeds(
        members['seed'], np.flatnonzero(has_most_M), np.flatnonzero(has_fewest_M)
    )
    share_M = result.line(HELDOUT)[:, -1]
    with_fewest = share_M[at_fewest]
    with_most = share_M[at_most]
    gain = with_most - with_fewest
    found = estimate(gain)
    reading = conclude_seeds(
        judge(found, HALF, opposite=0),
        number=f'{with_fewest.mean():.2f} with {fewest:,} examples, '
        f'{with_most.mean():.2f} with {most:,}; difference {format_mean(found)}',
        null='a table of the data: 0.00',
        note=_describe_gamma(result, ends.small, is_small_M),
        values=gain,
    )
    groups = {
        f'{fewest:,} examples': has_fewest_M,
        f'{most:,} examples': has_most_M,
    }
    return require_converged(reading, members, groups)


def read_fewer_examples(result: Result, setting: str) -> Reading:
    """A small start needs fewer examples to leave memory.

    The explained share of held-out answers, averaged over the numbers of examples at
    which all seeds have converged, at a small start less that at a large one, seed by
    seed.

    holds, opposite  the interval is above FLAT, below -FLAT
    does not hold    it is below FLAT
    """
    members = result.members
    ends = find_ends(members)
    if ends is None or not result.has_sizes:
        return undecided('one gamma or one number of examples only')
    is_small_M = members['gamma'] == ends.small
    is_large_M = members['gamma'] == ends.large
    is_here_M = is_small_M | is_large_M
    sizes = list_converged(members, is_here_M, result.num_train_M)
    if len(sizes) == 0:
        return undecided('no number of examples at which all seeds have converged')
    seed_of_small, small = _average_heldout(result, is_small_M, sizes)
    seed_of_large, large = _average_heldout(result, is_large_M, sizes)
    i, j = match_seeds(seed_of_small, seed_of_large)
    difference = small[i] - large[j]
    found = estimate(difference)
    of_small = f'{format_gamma(ends.small)}: {small.mean():.2f}'
    of_large = f'{format_gamma(ends.large)}: {large.mean():.2f}'
    return conclude_seeds(
        judge(found, FLAT, opposite=-FLAT),
        number=f'{of_small}, {of_large}; difference {format_mean(found)}',
        null='a difference of 0',
        note=f'{", ".join(f"{size:,}" for size in sizes.tolist())} examples; '
        f'{describe_members(members, is_here_M)}',
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
    is_here_M = _is_at(result, setting, gamma)
    is_counted_M = is_here_M & result.members['converged']
    share_M = result.line(line)[is_counted_M, -1]
    found = estimate(share_M)
    of_rival = estimate(result.line(rival)[is_counted_M, -1])
    verdict = judge(found, HALF)
    if of_rival.low > HALF:
        verdict = OPPOSITE
    kind, level = LINES[line]
    _, name_of_rival = LINES[rival]
    null_MKL = result.table_MLKL[is_here_M, LEVELS.index('ordered pair')]
    null_M = null_MKL[:, KINDS.index(kind), LEVELS.index(level)]
    reading = conclude_seeds(
        verdict,
        number=f'{level} {format_mean(found)}; {name_of_rival} {format_mean(of_rival)}',
        null=f'a function of each pair: {null_M.mean():.2f}',
        note=_describe_gamma(result, gamma, is_here_M),
        values=share_M,
        why='the interval covers a half',
    )
    groups = {format_gamma(gamma): is_here_M}
    return require_converged(reading, result.members, groups)


def _is_at(result: Result, setting: str, gamma: float) -> np.ndarray:
    """Which members have this setting and gamma, bool [M]."""
    is_setting_M = result.members['setting'] == setting
    return is_setting_M & (result.members['gamma'] == gamma)


def _average_heldout(
    result: Result, is_here_M: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the seeds with all these sizes, their mean explained share of held-out answers)

    The shares are those at the end of training.
    """
    share_M = result.line(HELDOUT)[:, -1]
    seed_M = result.members['seed']
    is_counted_M = is_here_M & np.isin(result.num_train_M, sizes)
    seeds = []
    averages = []
    for seed in np.unique(seed_M[is_counted_M]).tolist():
        is_seed_M = is_counted_M & (seed_M == seed)
        if is_seed_M.sum() == len(sizes):
            seeds.append(seed)
            averages.append(share_M[is_seed_M].mean())
    return np.array(seeds), np.array(averages)


def _describe_gamma(result: Result, gamma: float, is_here_M: np.ndarray) -> str:
    """'γ 0.8: 5 of 5 converged, train loss 0.01'."""
    return f'{format_gamma(gamma)}: {describe_members(result.members, is_here_M)}'
