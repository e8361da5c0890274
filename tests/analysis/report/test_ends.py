"""The two ends of gamma at which enough seeds of one setting have converged."""

import numpy as np

from analysis.report.readings import ends


def make_points(*members: tuple[float, int, int]) -> dict[str, np.ndarray]:
    """Labels of members (gamma, seed, depth)."""
    gamma, seed, depth = zip(*members, strict=True) if members else ((), (), ())
    return {
        'depth': np.array(depth),
        'gamma': np.array(gamma),
        'seed': np.array(seed),
    }


def test_the_ends_have_three_seeds_of_one_setting():
    seeds = range(3)
    full = [(gamma, seed, 2) for gamma in (0.3, 0.6, 0.9) for seed in seeds]
    assert ends.find_ends(make_points(*full)) == (0.3, 0.9)
    # The largest gamma has one converged seed: the next one is the end.
    assert ends.find_ends(make_points(*full, (1.2, 0, 2))) == (0.3, 0.9)
    assert ends.find_ends(make_points()) == 'no converged member'
    assert ends.find_ends(make_points(*full[:3])) == 'one gamma only'
    few = ends.find_ends(make_points(*full[:3], *full[6:8]))
    assert few == 'fewer than two γ with 3 converged seeds'
    other_depth = [(gamma, seed, 1) for gamma, seed, _ in full[6:]]
    apart = ends.find_ends(make_points(*full[:3], *other_depth))
    assert apart == 'no setting with 3 converged seeds at both ends of γ'


def test_a_setting_at_one_end_alone_does_not_count():
    members = [(gamma, seed, 2) for gamma in (0.3, 0.9) for seed in range(3)]
    members += [(0.9, seed, 1) for seed in range(3)]
    values = np.array([1.0, 2, 3, 4, 5, 6, 100, 100, 100])
    found = ends.measure_ends(make_points(*members), values, (0.3, 0.9))
    assert found.large.mean == 2 and found.small.mean == 5
    assert found.members == 6 and found.seeds == 3
