"""What P4 says about windows of weight decay, and what was left open (PAPERS 4.2).

Judged are P4's results at P4's own size. The same at half its width and a quarter of
its steps gives other answers, and is exploratory.
"""

from functools import partial

from analysis.claims import Claim, Group, above, difference, within

MUCH = 0.25  # P4's differences of its main result are 0.75 to 0.8
NEAR = 0.1  # "as much as": P4's standard deviations are 0.02 to 0.13

INTRODUCTION = (
    'Numbers are accuracies on what was never trained, of all networks at the end of '
    'training: unseen pairs, unseen sums, tokens of SCAN. Differences are paired by '
    'seed. The null is the accuracy of a network that does not compose.'
)

less = partial(difference, 'unseen')

EARLY = Group('early', {'window': '0–0.25'})
MIDDLE = Group('middle', {'window': '0.25–0.5'})
LATE = Group('late', {'window': '0.75–1'})
CONSTANT = Group('constant', {'window': 'all steps'})
NONE = Group('none', {'window': 'none'})


def list_positions(
    source: str, words: str, runs: tuple[str, ...], is_judged: bool
) -> list[Claim]:
    """P4's main result for one model and optimizer: five claims."""
    rows = (
        (
            'A window that begins with training is worth as much as no decay.',
            EARLY,
            NONE,
            within(NEAR),
        ),
        (
            'A window in the middle is much better than one at the beginning.',
            MIDDLE,
            EARLY,
            above(MUCH),
        ),
        (
            'A window in the middle is no worse than the same decay in all steps.',
            MIDDLE,
            CONSTANT,
            above(-NEAR),
        ),
        (
            'A window at the end is worse than one in the middle.',
            MIDDLE,
            LATE,
            above(0),
        ),
        (
            'Theory: decay after the critical window does nothing.',
            LATE,
            NONE,
            within(NEAR),
        ),
    )
    claims = []
    for sentence, first, second, rule in rows:
        judged_rule = rule if is_judged else None
        claims.append(
            Claim(source, words + sentence, runs, less(first, second), judged_rule)
        )
    return claims


CLAIMS = (
    *list_positions('P4 E2a', '', ('critical_windows_paper_position',), True),
    *list_positions('P4 E2a', 'Half the width: ', ('critical_windows',), False),
)
