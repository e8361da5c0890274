"""Which edges of attention carry the solution? Tested by cutting and by patching.

P1 Fig 3 reads a mechanism off the attention of one sequence. No code of the papers
tests one; P3 Fig 4D masks one position by hand. Here four tests ask what the answers
depend on:

  one edge cut            is this edge necessary?
  a mechanism's edges     do they suffice alone, and are they necessary together?
                          Beside them: as many edges drawn at random.
  edges cut one by one    which few edges still give the same answers: the circuit?
  activations patched in  which position knows the key item and the anchors?

  python -m analysis causal --run runs/phase --gamma=1.7 --seed=0
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.circuits import (
    edge_sets,
    hypotheses,
    patching,
    pruning,
    random_sets,
    sequences,
)
from analysis.circuits.edge_sets import Edge
from analysis.drawing import style
from analysis.members.member import Member, require_attention
from anchorjax.limits import at_least, at_most

TITLE = 'Causal tests'
PAPER = 'ours, on P1 Fig 3'
CAPTION = (
    'The panels show which edges of attention the answer needs (left, one cut at a '
    'time), whether the mechanism of P1 Fig 3 is enough by itself (middle), and which'
    ' position knows the number and the anchors in each layer (right).'
)


FAITHFUL = 0.9  # least share of the intact network's answers that a circuit must give

# Columns of the panel of single edges: (probe, mapping, label).
_AGREEMENTS = (
    ('unseen', 'inferential', 'unseen\ninfer.'),
    ('unseen', 'symmetric', 'unseen\nsymm.'),
    ('seen_heldout', 'assigned', 'held-\nout'),
)


class Result(NamedTuple):
    """Edges E, probes P, mappings R, mechanisms C; factors U, layers N, places L.

    Edges are cut on sequences whose last token is noise, if there are any. The results
    of mechanisms are NaN where `hypotheses.apply_to` is false.
    """

    edges: tuple[str, ...]  # [E] '1: key → last', layers from 1
    probe_names: tuple[str, ...]
    mapping_names: tuple[str, ...]
    intact_PR: np.ndarray  # agreement of the intact network
    without_EPR: np.ndarray  # agreement with that edge alone cut
    unchanged_EP: np.ndarray  # share of answers that stay the intact network's
    mechanism_names: tuple[str, ...]
    mechanism_has_CE: np.ndarray  # bool: its edges, without those that no sequence has
    only_CPR: np.ndarray  # agreement with the mechanism's edges alone: sufficient?
    only_unchanged_CP: np.ndarray
    random_unchanged_CP: np.ndarray  # mean over random sets of as many edges alone
    without_mechanism_CPR: np.ndarray  # agreement with all of them cut: necessary?
    without_mechanism_unchanged_CP: np.ndarray
    nothing_PR: np.ndarray  # agreement with every edge cut: chance level
    removed: tuple[str, ...]  # [E] edges in the order in which pruning cut them
    removed_unchanged_E: np.ndarray  # share of answers unchanged after each
    circuit: tuple[str, ...]  # edges left while FAITHFUL of the answers were unchanged
    factors: tuple[str, ...]  # of patching: what differs in the other sequence
    places: tuple[str, ...]
    moved_UNL: np.ndarray  # share of answers that move to the other sequence's
    kept_UNL: np.ndarray  # share of answers that stay


def compute(
    member: Member,
    number: Annotated[
        int, at_least(1), at_most(100_000), 'random sequences to patch'
    ] = 1024,
    renormalize: Annotated[
        bool, 'False: the weights that are left stay as they were'
    ] = True,
    draws: Annotated[
        int, at_least(1), at_most(1_000), 'random sets of edges beside each mechanism'
    ] = 16,
) -> Result:
    """Cuts edges on the member's own probes, and patches `number` random sequences.

    Args:
      draws: random sets of edges beside each mechanism (`random_sets.draw_set`).
      renormalize: whether attention sums to one again after a cut
        (`interventions.make_cut_edit`).

    Raises:
      UserError: the member's task is not the anchor task with an unseen pair, its model
        has no attention, or one probe alone has no sequence that ends in noise.
    """
    sequences.require_unseen_pair(member)
    require_attention(member)
    ablation = edge_sets.prepare_ablation(member, renormalize)
    single = edge_sets.cut_each_edge(ablation, ablation.edges)
    mechanisms = hypotheses.measure_mechanisms(ablation)
    edges_of = hypotheses.list_mechanisms(ablation)
    random_CDP = random_sets.measure_random_sets(ablation, draws)
    removed, unchanged_E = pruning.prune_edges(ablation)
    circuit = pruning.find_circuit(removed, unchanged_E, FAITHFUL)
    patches = patching.compute(member, number)
    return Result(
        edges=tuple(map(name_edge, ablation.edges)),
        probe_names=member.task.probe_names,
        mapping_names=member.task.mapping_names,
        intact_PR=single.intact_PR,
        without_EPR=single.agreement_CPR,
        unchanged_EP=single.unchanged_CP,
        mechanism_names=tuple(edges_of),
        mechanism_has_CE=edge_sets.mark_edges(edges_of.values(), ablation.edges),
        only_CPR=mechanisms.only.agreement_CPR,
        only_unchanged_CP=mechanisms.only.unchanged_CP,
        random_unchanged_CP=random_CDP.mean(1),
        without_mechanism_CPR=mechanisms.without.agreement_CPR,
        without_mechanism_unchanged_CP=mechanisms.without.unchanged_CP,
        nothing_PR=edge_sets.cut_all_edges(ablation),
        removed=tuple(map(name_edge, removed)),
        removed_unchanged_E=unchanged_E,
        circuit=tuple(map(name_edge, circuit)),
        factors=patches.factors,
        places=patches.places,
        moved_UNL=patches.moved_UNL,
        kept_UNL=patches.kept_UNL,
    )


def name_edge(edge: Edge) -> str:
    """'1: key → last', layers counted from 1."""
    layer, source, target = edge
    return f'{layer + 1}: {source} → {target}'


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: each edge alone, the mechanisms as a whole, patching."""
    _draw_edges(axes[0, 0], result)
    _draw_mechanisms(axes[0, 1], result)
    _draw_patches(axes[0, 2], result)


def layout(result: Result) -> style.Layout:
    """Three panels, as high as the list of edges is long."""
    height = 1.0 + 0.19 * len(result.edges)
    return style.Layout(1, 3, 7.6, height)


def _draw_edges(axis: Axes, result: Result) -> None:
    """Heatmap: how much each agreement changes when that edge alone is cut."""
    change_EPR = result.without_EPR - result.intact_PR
    columns = []
    labels = []
    for probe, mapping, label in _AGREEMENTS:
        p = result.probe_names.index(probe)
        r = result.mapping_names.index(mapping)
        columns.append(change_EPR[:, p, r])
        labels.append(label)
    change = np.stack(columns, axis=1)
    style.draw_heatmap(axis, change, 'RdBu', (-1, 1), signed=True)
    _label_cells(axis, result.edges, labels)
    axis.set_title('agreement: change when\nthis edge alone is cut')


def _draw_mechanisms(axis: Axes, result: Result) -> None:
    """Heatmap: answers unchanged with a mechanism's edges alone, and with all cut.

    Between the two, as many random edges alone.
    """
    heldout = result.probe_names.index('seen_heldout')
    unseen = result.probe_names.index('unseen')
    columns = [heldout, unseen]
    rows = []
    labels = []
    for c, mechanism in enumerate(result.mechanism_names):
        rows.append(result.only_unchanged_CP[c, columns])
        labels.append(f'{mechanism}: alone')
        rows.append(result.random_unchanged_CP[c, columns])
        labels.append('  as many at random')
        rows.append(result.without_mechanism_unchanged_CP[c, columns])
        labels.append(f'{mechanism}: cut')
    style.draw_heatmap(axis, np.stack(rows), 'Greys', (0, 1))
    _label_cells(axis, labels, ['held-out', 'unseen'])
    axis.set_title("answers unchanged with\na mechanism's edges")


def _draw_patches(axis: Axes, result: Result) -> None:
    """Heatmap: share of answers that follow the other sequence."""
    moved_NLU = result.moved_UNL.transpose(1, 2, 0)
    rows = []
    labels = []
    for layer, moved_LU in enumerate(moved_NLU, start=1):
        for place, moved_U in zip(result.places, moved_LU, strict=True):
            rows.append(moved_U)
            labels.append(f'{layer}: {place}')
    factors = [factor.replace('_', '\n') for factor in result.factors]
    style.draw_heatmap(axis, np.stack(rows), 'Greens', (0, 1))
    _label_cells(axis, labels, factors)
    axis.set_title('answers that follow another\nsequence, whose X_ao is put in')
    axis.set_xlabel('which differs in its')


def _label_cells(axis: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Names the rows and columns of a heatmap."""
    axis.set_yticks(range(len(rows)), rows)
    axis.set_xticks(range(len(columns)), columns, fontsize='small')
