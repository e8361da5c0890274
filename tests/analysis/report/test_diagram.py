"""Claims about the phase diagram, on planted members: each of their verdicts occurs."""

import numpy as np
import pytest

from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
)
from analysis.report.readings import diagram
from tests.support.planted_members import (
    GAMMAS,
    TABLES,
    make_members,
    solve_as_paper,
    solve_by_halves,
    solve_flat,
    solve_neither,
    solve_reversed,
)

READINGS = (
    diagram.read_symmetric_half,
    diagram.read_inferential_half,
    diagram.read_phase_order,
    diagram.read_seen_pairs,
)
HALVES = READINGS[:2]


@pytest.mark.parametrize('read', READINGS)
def test_a_sweep_that_agrees_with_the_paper_holds(read):
    solve = solve_as_paper if read is diagram.read_seen_pairs else solve_by_halves
    reading = read(make_members(solve))
    assert reading.verdict is HOLDS
    assert reading.null
    assert '5 seeds' in reading.note or 'inferential and' in reading.note
    assert '[' in reading.number


def test_members_of_a_setting_with_one_side_only_are_said():
    settings = ('depth=2', 'depth=3')
    members = make_members(solve_by_halves, settings=settings)
    is_alone = (members.setting == 'depth=3') & (members.gamma <= GAMMAS[1])
    members = members.select(~is_alone)
    note = diagram.read_symmetric_half(members).note
    is_compared = members.setting == 'depth=2'
    assert f'{is_compared.sum()} converged members, 5 seeds; ' in note
    assert f'{(~is_compared).sum()} more in settings with one side only' in note


def solve_seen_reversed(gamma: float, seed: int) -> str:
    return 'inferential' if gamma == GAMMAS[0] else 'memorizing'


@pytest.mark.parametrize('read', READINGS)
def test_the_reversed_pattern_is_the_opposite(read):
    is_seen = read is diagram.read_seen_pairs
    solve = solve_seen_reversed if is_seen else solve_reversed
    assert read(make_members(solve)).verdict is OPPOSITE


@pytest.mark.parametrize('read', READINGS)
def test_a_flat_pattern_does_not_hold(read):
    settings = ('depth=2', 'depth=3', 'depth=4')
    members = make_members(solve_flat, seeds=6, settings=settings)
    assert read(members).verdict is DOES_NOT_HOLD


@pytest.mark.parametrize('read', HALVES)
def test_a_solution_that_no_member_reaches_does_not_hold(read):
    reading = read(make_members(solve_neither))
    assert reading.verdict is DOES_NOT_HOLD
    assert ' 0 of 10 ' in reading.number


def test_without_members_of_both_kinds_there_is_no_order():
    reading = diagram.read_phase_order(make_members(solve_neither))
    assert reading.verdict is UNDECIDED
    assert reading.note.startswith('fewer than 3 members of a kind')


@pytest.mark.parametrize('read', READINGS)
def test_members_that_have_not_converged_decide_nothing(read):
    reading = read(make_members(solve_as_paper, converged=False))
    assert reading.verdict is UNDECIDED
    assert '20 of 20 members left out: 20 not converged' in reading.note


@pytest.mark.parametrize('read', READINGS)
def test_some_left_out_members_are_counted(read):
    solve = solve_as_paper if read is diagram.read_seen_pairs else solve_by_halves
    members = make_members(solve, settings=('depth=2', 'depth=3'))
    is_short = (members.setting == 'depth=3') & (members.seed == 4)
    is_diverged = is_short & (members.gamma == GAMMAS[0])
    members = members._replace(converged=~is_short, diverged=is_diverged)
    reading = read(members)
    assert reading.verdict is HOLDS
    expected = '4 of 40 members left out: 3 not converged, 1 diverged'
    assert reading.note.endswith(expected)


@pytest.mark.parametrize('read', READINGS)
@pytest.mark.parametrize(
    ('changes', 'why'),
    [({'gammas': (0.3,)}, 'one gamma only'), ({'seeds': 2}, '2 seeds|fewer than 3')],
)
def test_too_little_decides_nothing(read, changes, why):
    settings = ('depth=2', 'depth=3')
    reading = read(make_members(solve_as_paper, settings=settings, **changes))
    assert reading.verdict is UNDECIDED
    assert any(reading.note.startswith(text) for text in why.split('|'))


@pytest.mark.parametrize('read', HALVES)
def test_settings_without_the_other_side_do_not_count(read):
    """Otherwise a row that converges in one half only would stand for that half."""
    members = make_members(solve_neither, settings=('depth=2', 'depth=3'))
    is_row = members.setting == 'depth=3'
    is_upper = members.gamma > 0.6
    is_named = is_upper == (read is diagram.read_inferential_half)
    name = 'inferential' if read is diagram.read_inferential_half else 'symmetric'
    solution = np.where(is_row & is_named, name, members.solution)
    converged = ~is_row | is_named
    reading = read(members._replace(solution=solution, converged=converged))
    assert reading.verdict is DOES_NOT_HOLD
    assert ' 0 of 10 ' in reading.number


def solve_some(gamma: float, seed: int) -> str:
    """Two seeds of ten at large gammas, no seed at small ones."""
    return 'inferential' if gamma > 0.6 and seed < 2 else 'other'


def test_a_rise_to_a_few_members_is_not_a_phase():
    settings = ('depth=2', 'depth=3', 'depth=4')
    members = make_members(solve_some, seeds=10, settings=settings)
    reading = diagram.read_inferential_half(members)
    assert reading.verdict in (DOES_NOT_HOLD, UNDECIDED)
    assert 'best: 2 of 10' in reading.note


def test_one_seed_that_disagrees_is_enough_to_be_undecided():
    """The members of a seed stand or fall together: the bootstrap sees that."""

    def solve(gamma: float, seed: int) -> str:
        return (
            solve_reversed(gamma, seed) if seed == 0 else solve_by_halves(gamma, seed)
        )

    settings = ('depth=2', 'depth=3', 'depth=4', 'depth=5')
    members = make_members(solve, seeds=3, settings=settings)
    reading = diagram.read_inferential_half(members)
    assert reading.verdict is UNDECIDED
    assert reading.note.startswith('the interval covers 0')


def test_an_order_that_few_permutations_could_show_is_undecided():
    """One member of either kind in each of 4 seeds: p is 1/8 at the least."""
    members = make_members(solve_by_halves, gammas=(0.3, 1.2), seeds=4)
    reading = diagram.read_phase_order(members)
    assert reading.verdict is UNDECIDED
    assert reading.note.startswith('too few members for a small p')
    more = make_members(solve_by_halves, gammas=(0.3, 1.2), seeds=7)
    assert diagram.read_phase_order(more).verdict is HOLDS


def test_an_order_needs_three_seeds_of_either_kind():
    def solve(gamma: float, seed: int) -> str:
        return 'inferential' if seed < 2 and gamma == GAMMAS[0] else 'symmetric'

    settings = ('depth=2', 'depth=3')
    reading = diagram.read_phase_order(make_members(solve, settings=settings))
    assert reading.verdict is UNDECIDED
    assert reading.note.startswith('2 seeds have inferential members')


def test_seen_pairs_that_are_generalized_everywhere_do_not_hold():
    reading = diagram.read_seen_pairs(make_members(solve_by_halves))
    assert reading.verdict is DOES_NOT_HOLD
    assert '5 of 5 at γ 0.3' in reading.number


def test_where_a_table_would_generalize_held_out_pairs_say_nothing():
    tables = TABLES | {'ordered pair': 1.0}
    reading = diagram.read_seen_pairs(make_members(solve_as_paper, tables=tables))
    assert reading.verdict is UNDECIDED
    assert reading.note.startswith('a table would generalize too')
    assert 'by ordered pair 1.00' in reading.null
