"""What a network is called where it ends, and a third solution by its answer."""

import pandas as pd
import pytest

from anchorjax.tasks.solution import SOLUTIONS, list_names, name_ends, name_thirds


@pytest.mark.parametrize(
    ('solution', 'answer', 'name'),
    [
        ('third', '(4, 4)', 'third (4, 4)'),
        ('third', '(2, 4) or (4, 2)', 'third (2, 4)'),
        ('third', '(3, 8) or (6, 6) or (8, 3)', 'third (3, 8) or (6, 6)'),
        ('third', '(1, 10) or (10, 1)', 'third (1, 10)'),
        ('third', '(1, 2) or (2, 3)', 'third (1, 2) or (2, 3)'),
        ('third', 'composed − 3', 'third (composed − 3)'),
        ('other', '(4, 4)', 'other'),  # in most of its answers, not in 90 %
        ('memorizing', float('nan'), 'memorizing'),
        ('', '', ''),  # not trained
    ],
)
def test_third_solutions_alone_are_named(solution, answer, name):
    named = name_thirds(pd.Series([solution], [7]), pd.Series([answer], [7]))
    assert named.to_dict() == {7: name}


def test_names_stand_where_third_solutions_stand():
    names = ['third (4, 4)', 'other', 'third (2, 4)', 'third (4, 4)', 'not converged']
    place = SOLUTIONS.index('third')
    expected = list(SOLUTIONS)
    expected[place : place + 1] = ['third (2, 4)', 'third (4, 4)']
    assert list_names(names) == expected
    assert 'third' not in list_names(['other'])


@pytest.mark.parametrize(
    ('answers', 'solution'),
    [((1, 0, 1), 'composed'), ((0, 1, 1), 'symmetric'), ((0, 0, 0), 'memorizing')],
)
@pytest.mark.parametrize(
    ('trained', 'diverged', 'converged', 'end'),
    [
        (True, -1, True, None),  # its solution
        (True, -1, False, 'not converged'),
        (True, 30, False, 'diverged'),
        (True, 30, True, 'diverged'),
        (False, -1, False, ''),
    ],
)
def test_only_a_converged_network_has_a_solution(
    answers, solution, trained, diverged, converged, end
):
    columns = ['unseen_composed', 'unseen_symmetric', 'seen_heldout_assigned']
    members = pd.DataFrame([answers], columns=columns, index=[7])
    members = members.assign(trained=trained, diverged=diverged, converged=converged)
    expected = solution if end is None else end
    assert name_ends(members.assign(unseen_answer_share=0.0)).to_dict() == {7: expected}
