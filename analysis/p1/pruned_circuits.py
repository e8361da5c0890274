"""Which few edges does each member work with? The circuit that pruning leaves.

`mechanisms` tests sets of edges that were written down before. Here nothing is assumed:
in every converged member edges are cut one after the other, always the one that changes
the fewest answers, as long as most answers stay as they were (`edge_sets.FAITHFUL`).

  python -m analysis pruned_circuits --run runs/phase_noise
"""

import numpy as np
import pandas as pd

from analysis import frame
from analysis.circuits import edge_sets
from analysis.drawing import style
from analysis.p1.causal import name_edge
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Pruned circuits'
PAPER = 'ours, on P1 Fig 3'
CAPTION = (
    'The smallest set of edges of attention that keeps the answers of each network.'
)


def compute(run: Run) -> pd.DataFrame:
    """Prunes the edges of every converged member.

    Returns:
      A row per converged member (`point`: 'gamma=0.6,seed=0') and `edge` ('1: key →
      last') that its sequences have: whether its circuit has `kept` it. The same in all
      rows of a member: its `solution`, and the share of answers `unchanged` with the
      circuit alone. In all rows how many members are left_out: they have not converged.

    Raises:
      UserError: no member has converged, or the task is not the anchor task.
    """
    usable = frame.list_usable(run, 'anchors')
    converged = usable[usable.converged]
    if not len(converged):
        raise UserError('no member has converged')
    names = frame.name_settings(run, converged)
    members = converged[['solution']].assign(point=names)
    tables = []
    for place, member in frame.open_networks(run, converged, 'pruned circuits'):
        ablation = edge_sets.prepare_ablation(member)
        removed, unchanged_E = edge_sets.prune_edges(ablation)
        circuit = edge_sets.find_circuit(removed, unchanged_E)
        cuts = len(removed) - len(circuit)
        of_member = {
            'edge': list(map(name_edge, ablation.edges)),
            'kept': [edge in circuit for edge in ablation.edges],
            'unchanged': unchanged_E[cuts - 1] if cuts else 1.0,
        }
        tables.append(pd.DataFrame(of_member | members.loc[place].to_dict()))
    left_out = len(usable) - len(converged)
    return pd.concat(tables, ignore_index=True).assign(left_out=left_out)


def draw(edges: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: the edges of each member's circuit; pale: not in its task."""
    axis = axes[0, 0]
    members = edges.drop_duplicates('point')
    shade = edges.assign(kept=edges.kept.astype(float))
    shade = shade.pivot(index='point', columns='edge', values='kept')
    shade = shade.loc[members.point].fillna(0.2)
    axis.imshow(shade, cmap='Purples', vmin=0, vmax=1.2, aspect='auto')
    labels = []
    for member in members.itertuples():
        labels.append(f'{member.point}: {member.solution}, {member.unchanged:.2f}')
    axis.set_yticks(range(len(labels)), labels, fontsize=6)
    axis.set_xticks(range(shade.shape[1]), shade.columns, rotation=60, ha='right')
    axis.set_title(
        'edges that give the same answers alone; left: the share that stays\n'
        f'{edges.left_out.iloc[0]} not converged, left out'
    )


def layout(edges: pd.DataFrame) -> style.Layout:
    """One panel with one row a member."""
    width = 3.0 + 0.22 * edges.edge.nunique()
    return style.Layout(1, 1, width, 1.8 + 0.16 * edges.point.nunique())
