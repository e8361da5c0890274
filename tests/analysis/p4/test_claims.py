"""P4's claims: planted as the paper prints, and flat."""

import pandas as pd

from analysis import claims
from analysis.p4.claims import CLAIMS
from analysis.p4.members import ALL, NONE

# A claim of ours may contradict P4.
JUDGED = [claim for claim in CLAIMS if claim.day and claim.source.startswith('P4')]
# P4's accuracies (PAPERS 4.2): E2a and E11.
ADAMW = {NONE: 0.15, '0–0.25': 0.15, '0.25–0.5': 0.93, '0.75–1': 0.74, ALL: 0.91}
SGD = {NONE: 0.11, '0–0.25': 0.32, '0.25–0.5': 0.99, '0.75–1': 0.96, ALL: 0.52}
PRINTED = {
    'critical_windows_paper_position': ADAMW,
    'critical_windows_paper_sgd': SGD,
}


def plant(accuracy):
    """Six seeds of every window; `accuracy` is a function of what P4 prints."""
    rows = []
    for run, printed in PRINTED.items():
        for window, value in printed.items():
            for seed in range(6):
                noise = 0.005 * (-1) ** (seed + len(window))
                rows.append((run, window, seed, accuracy(value) + noise))
    members = pd.DataFrame(rows, columns=['run', 'window', 'seed', 'unseen'])
    return members.assign(converged=True)


def judge(members):
    """{(source, sentence): verdict} of the judged claims."""
    table = claims.tabulate(JUDGED, members)
    return table.set_index(['source', 'claim']).verdict.to_dict()


def test_what_is_planted_as_the_paper_prints_holds():
    assert set(judge(plant(float)).values()) == {'holds'}


def test_in_a_flat_world_nothing_is_better():
    found = judge(plant(lambda printed: 0.5))
    for (_, sentence), verdict in found.items():
        if 'much better' in sentence:
            assert verdict == 'does not hold', sentence
        if 'worth as much' in sentence or 'no worse' in sentence:
            assert verdict == 'holds', sentence
