"""Which edges of attention carry the solution? Tested by cutting and by patching.

P1 Fig 3 reads a mechanism off the attention of one sequence. No code of the papers
tests one; P3 Fig 4D masks one position by hand. Here four tests ask what the answers
depend on:

  one edge cut            is this edge necessary?
  a mechanism's edges     do they suffice alone, and are they necessary together?
                          Beside them: as many edges drawn at random.
  edges cut one by one    which few edges still give the same answers: the circuit?
  activations patched in  which position knows the key item and the anchors?

  python -m analysis causal --run runs/phase --gamma=2.04 --depth=3 --seed=0
"""

from typing import Annotated

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis.circuits import edge_sets, patching, sequences
from analysis.circuits.edge_sets import Edge
from analysis.drawing import style
from analysis.members.untrained import require_attention
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network

TITLE = 'Causal tests'
PAPER = 'ours, on P1 Fig 3'
CAPTION = (
    'The panels show which edges of attention the answer needs (left, one cut at a '
    'time), whether the mechanism of P1 Fig 3 is enough by itself (middle; of networks '
    'of two layers), and which position knows the number and the anchors in each layer '
    '(right).'
)


# Columns of the panel of single edges: (eval set, mapping, label).
_AGREEMENTS = (
    ('unseen', 'composed', 'unseen\ncomposed'),
    ('unseen', 'symmetric', 'unseen\nsymm.'),
    ('seen_heldout', 'assigned', 'held-\nout'),
)
# Rows of the panel of mechanisms, by the tests of `edge_sets.TESTS`.
_ROWS = {'alone': '{}: alone', 'random': '  as many at random', 'cut': '{}: cut'}


def compute(
    member: Network,
    number: Annotated[
        int, at_least(1), at_most(100_000), 'random sequences to patch'
    ] = 1024,
    draws: Annotated[
        int, at_least(1), at_most(1_000), 'random sets of edges beside each mechanism'
    ] = 16,
) -> xr.Dataset:
    """Cuts edges on the member's own eval sets, and patches `number` random sequences.

    Edges are cut on sequences whose last token is noise, if there are any. Agreement is
    with the answers of a mapping, `unchanged` the share of answers that stay the intact
    network's.

      intact, nothing    [eval set, mapping] agreement with all edges, and with none
      agreement, unchanged [edge, eval set, ...] with that edge alone cut
      of_mechanism            [mechanism, edge] its edges, of those that there are
      mechanism_agreement, mechanism_unchanged
                              [mechanism, test, eval set, ...] of `compare_mechanisms`
      pruned, pruned_unchanged  [cut] edges in the order in which pruning cuts them,
                              and the share after each, mean over the eval sets
      circuit                 [edge] what `edge_sets.find_circuit` leaves
      moved, kept             [factor, layer, place] of `patching.patch_everywhere`

    Raises:
      UserError: the member's task is not the anchor task with an unseen pair, its model
        has no attention, or one eval set alone has no sequence that ends in noise.
    """
    sequences.require_unseen_pair(member)
    require_attention(member)
    ablation = edge_sets.prepare_ablation(member)
    edges = ablation.edges
    ends = edge_sets.measure_effects(ablation, [edges, []]).agreement
    removed, unchanged_E = edge_sets.prune_edges(ablation)
    circuit = edge_sets.find_circuit(removed, unchanged_E)
    found = measure_cuts(ablation, draws).assign(
        intact=ends.isel(set=0),
        nothing=ends.isel(set=1),
        pruned=('cut', list(map(name_edge, removed))),
        pruned_unchanged=('cut', unchanged_E),
        circuit=('edge', [edge in circuit for edge in edges]),
    )
    return found.merge(patching.patch_everywhere(member, number))


def measure_cuts(ablation: edge_sets.Ablation, draws: int) -> xr.Dataset:
    """Of `compute`: each edge cut alone, and the mechanisms as a whole."""
    edges = ablation.edges
    single = edge_sets.measure_effects(ablation, edge_sets.leave_out_each(edges))
    compared = edge_sets.compare_mechanisms(ablation, draws)
    of_mechanism = []
    for own in edge_sets.list_mechanisms(ablation).values():
        of_mechanism.append([edge in own for edge in edges])
    found = single.rename(set='edge').assign(
        of_mechanism=(('mechanism', 'edge'), of_mechanism),
        mechanism_agreement=compared.agreement,
        mechanism_unchanged=compared.unchanged,
    )
    return found.assign_coords(edge=list(map(name_edge, edges)))


def name_edge(edge: Edge) -> str:
    """'1: key → last', layers counted from 1."""
    layer, source, target = edge
    return f'{layer + 1}: {source} → {target}'


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: each edge alone, the mechanisms as a whole, patching.

    Without the mechanisms, which are of two layers and a key first, axes [1, 2].
    """
    _draw_edges(axes[0, 0], result)
    if _has_mechanisms(result):
        _draw_mechanisms(axes[0, 1], result)
    _draw_patches(axes[0, -1], result)
    for axis in axes[0]:
        axis.tick_params(axis='x', labelsize='small')


def layout(result: xr.Dataset) -> style.Layout:
    """Two or three panels, as high as the list of edges is long."""
    panels = 3 if _has_mechanisms(result) else 2
    return style.Layout(1, panels, 7.6, 1.0 + 0.19 * result.sizes['edge'])


def _has_mechanisms(result: xr.Dataset) -> bool:
    return bool(np.isfinite(result.mechanism_unchanged).any())


def _draw_edges(axis: Axes, result: xr.Dataset) -> None:
    """Heatmap: how much each agreement changes when that edge alone is cut."""
    change = result.agreement - result.intact
    table = pd.DataFrame(index=result.edge.values)
    for eval_set, mapping, label in _AGREEMENTS:
        table[label] = change.sel(eval_set=eval_set, mapping=mapping)
    style.draw_heatmap(axis, table, 'RdBu', (-1, 1), number='+.2f')
    axis.set_title('agreement: change when\nthis edge alone is cut')


def _draw_mechanisms(axis: Axes, result: xr.Dataset) -> None:
    """Heatmap: answers unchanged with a mechanism's edges alone, and with all cut.

    Between the two, as many random edges alone.
    """
    unchanged = result.mechanism_unchanged.sel(eval_set=['seen_heldout', 'unseen'])
    tests = unchanged.stack(row=('mechanism', 'test')).transpose('row', 'eval_set')
    names = []
    for mechanism, test in tests.row.values:
        names.append(_ROWS[test].format(mechanism))
    table = pd.DataFrame(tests.values, names, ['held-out', 'unseen'])
    style.draw_heatmap(axis, table, 'Greys', (0, 1))
    axis.set_title("answers unchanged with\na mechanism's edges")


def _draw_patches(axis: Axes, result: xr.Dataset) -> None:
    """Heatmap: share of answers that follow the other sequence."""
    moved = result.moved.stack(row=('layer', 'place')).transpose('row', 'factor')
    names = [f'{layer}: {place}' for layer, place in moved.row.values]
    factors = [factor.replace('_', '\n') for factor in result.factor.values]
    table = pd.DataFrame(moved.values, names, factors)
    style.draw_heatmap(axis, table, 'Greens', (0, 1))
    axis.set_title('answers that follow another\nsequence, whose X_ao is put in')
    axis.set_xlabel('which differs in its')
