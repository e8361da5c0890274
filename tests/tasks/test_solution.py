"""What a network is called where it ends."""

import pandas as pd
import pytest

from anchorjax.tasks.solution import name_ends


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
