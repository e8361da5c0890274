"""Which mechanism suffices in which member: its edges alone, all others cut.

P1 Fig 3 shows one network of each kind. Here every converged two-layer network of a
sweep is tested: which of the sets of edges in `circuits.edge_sets` suffice for the
answers that it gives, right or wrong?

  python -m analysis mechanisms --run runs/phase
"""

import numpy as np
import pandas as pd

from analysis import frame
from analysis.circuits import edge_sets, sequences
from analysis.drawing import style
from analysis.members.point import select_varying
from analysis.names import name_values
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Mechanisms'
PAPER = 'P1 Fig 3'
CAPTION = (
    'Attention moves information along edges, from one kind of token to another. '
    'Which few edges are enough for a network to keep its answers when all others are '
    'cut? This tests P1 Fig 3 on every converged network of two layers.'
)
# Columns of the first panel.
SCORES = {
    'unseen_composed': 'unseen: composed',
    'unseen_symmetric': 'unseen: symm.',
    'seen_heldout_assigned': 'held-out',
}


def compute(run: Run) -> pd.DataFrame:
    """Cuts all edges but a mechanism's in every converged member.

    Returns:
      A row per converged member that `edge_sets.has_mechanism`: its `point`
      ('depth=2,gamma=1.5,seed=0'), its `name` in words, `solution` and SCORES,
      and 'only MECHANISM': the share of answers that its edges alone leave unchanged,
      the lower of unseen pair and held-out sequences. In all rows how many members are
      left_out because they have not converged, and how many for their other_layout.

    Raises:
      UserError: the task is not the anchor task with an unseen pair, or there is no
        such member.
    """
    usable = frame.list_usable(run, 'anchors')
    converged = usable[usable.converged]
    rows = {}
    for place, member in frame.open_networks(run, converged, 'mechanisms'):
        if edge_sets.has_mechanism(member):
            rows[place] = _test_mechanisms(member)
    if not rows:
        raise UserError(
            'no converged member has two layers and a key before its anchors, which '
            'the mechanisms are about'
        )
    found = pd.DataFrame.from_dict(rows, 'index')
    members = found.join(converged[['solution', *SCORES]])
    points = frame.find_points(run, members)
    members.insert(0, 'point', frame.name_settings(run, members))
    names = [name_values(select_varying(run, point)) for point in points]
    members.insert(1, 'name', names)
    return members.assign(
        left_out=len(usable) - len(converged), other_layout=len(converged) - len(rows)
    )


def _test_mechanisms(member: Network) -> dict[str, float]:
    """{'only MECHANISM': the lower share of answers unchanged}."""
    sequences.require_unseen_pair(member)
    ablation = edge_sets.prepare_ablation(member)
    mechanisms = edge_sets.list_mechanisms(ablation)
    unchanged = edge_sets.measure_effects(ablation, mechanisms.values()).unchanged
    lower_C = unchanged.sel(eval_set=['unseen', 'seen_heldout']).min('eval_set').values
    names = [f'only {name}' for name in mechanisms]
    return dict(zip(names, lower_C.tolist(), strict=True))


def draw(members: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: what each member answers, and which edges suffice for it."""
    scores, suffices = axes[0]
    answers = members.set_index('name')[[*SCORES]].rename(columns=SCORES)
    style.draw_heatmap(scores, answers, 'Greys', (0, 1))
    first = members.iloc[0]
    missing = f'{first.left_out} not converged, {first.other_layout} not of two layers'
    scores.set_title(f'agreement\nleft out: {missing}')
    unchanged = members.set_index('solution').filter(like='only ')
    unchanged.columns = unchanged.columns.str.removeprefix('only ')
    style.draw_heatmap(suffices, unchanged, 'Purples', (0, 1))
    suffices.set_title('answers unchanged with these edges alone')
    for axis in axes[0]:
        axis.tick_params(axis='y', labelsize=6)
        for label in axis.get_xticklabels():
            label.set(rotation=30, ha='right')


def layout(members: pd.DataFrame) -> style.Layout:
    """Two panels with one row a member."""
    return style.Layout(1, 2, 7.0, 1.5 + 0.16 * len(members))
