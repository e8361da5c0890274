"""The law's claims: planted as predicted, the other way round, and flat."""

import pandas as pd
import pytest

from analysis import claims
from analysis.law.claims import CLAIMS

# Run, what tells its groups apart, and the factors of the group that should compose.
RUNS = (
    ('law_order', {'gamma': 1.0}, {'gamma': 2.0}),
    ('law_tipping', {'gamma': 1.0}, {'gamma': 1.4}),
    ('law_noise_last', {'last_token': 'noise'}, {}),
    ('law_noise_before', {}, {'last_token': 'pair'}),
    ('phase_attention', {'qk_offset': 0.0}, {'qk_offset': -0.8}),
    ('law_square_r2_d10_9_512_fresh', {'batch_size': 512}, {}),
    ('law_square_r2_d10_9_2048_fresh', {}, {'batch_size': 2048}),
    ('law_anchors_fresh', {'anchors': 4}, {'anchors': 8}),
)
USUAL = {'last_token': 'any', 'qk_offset': 0.0, 'batch_size': 512, 'anchors': 4}


def plant(symmetric, composing):
    """Six seeds of either group; the shares of composed answers in both."""
    rows = []
    for run, *sides in RUNS:
        for share, levels in zip((symmetric, composing), sides, strict=True):
            if not levels:  # the run has the other group alone
                continue
            for seed in range(6):
                answers = share * (1 + 0.01 * (seed % 3))
                row = {'run': run, 'seed': seed, 'gamma': 0.2} | USUAL | levels
                row |= {'unseen_composed': answers, 'unseen_symmetric': 1 - answers}
                rows.append(row | {'converged': True})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ('shares', 'verdict'),
    [((0.1, 0.9), 'holds'), ((0.9, 0.1), 'opposite'), ((0.5, 0.5), 'undecided')],
)
def test_every_claim_finds_what_is_planted(shares, verdict):
    table = claims.tabulate(CLAIMS, plant(*shares))
    assert table.n.tolist() == [6] * len(CLAIMS)
    assert set(table.verdict) == {verdict}
