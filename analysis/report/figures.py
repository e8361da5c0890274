"""Every figure of the report and how to compute it; a new figure is a row here."""

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from analysis import (
    attention_flow,
    causal,
    complexity,
    condensation,
    condensation_grid,
    cosine,
    curves,
    eigenvalues,
    embedding,
    embedding_grid,
    lazy,
    mechanisms,
    phase,
    tsne,
)
from analysis.members.member import member_of
from anchorjax.storage.reader import Run

Point = dict[str, Any]


class Row(NamedTuple):
    """One figure: its module has compute, draw and layout."""

    module: ModuleType
    title: str
    caption: str
    compute: Callable[..., Any]  # (module, run, point of the shown member, **options)
    # Cheaper options where nothing is drawn, which leave the numbers of claims alone.
    undrawn: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """'phase', the name of the module: claims name a figure by it."""
        return self.module.__name__.rpartition('.')[2]


def compute_from_results(module: ModuleType, run: Run, point: Point) -> Any:
    return module.compute(run.results)


def compute_from_run(module: ModuleType, run: Run, point: Point) -> Any:
    return module.compute(run)


def compute_at_point(module: ModuleType, run: Run, point: Point) -> Any:
    return module.compute(run, **point)


def compute_from_member(
    module: ModuleType, run: Run, point: Point, **options: Any
) -> Any:
    return module.compute(member_of(run, **point), **options)


# Figures of a whole sweep. Those that follow one member take the most inferential one.
SWEEP = (
    Row(
        phase,
        'Phase diagram',
        'Agreement on the unseen pair: inferential above, symmetric below. Left to '
        'right: the best learning rate for each mapping, one learning rate for all, '
        'and the share of converged seeds (P1 Fig 2).',
        compute_from_results,
    ),
    Row(
        mechanisms,
        'Mechanisms',
        'Which set of attention edges is enough to keep the answers of a network when '
        'all other edges are cut. This tests P1 Fig 3 on every converged member.',
        compute_from_run,
    ),
    Row(
        eigenvalues,
        'Eigenvalues and singular values',
        'Eigenvalues of the covariance of the embedding, by γ and over training, and '
        'singular values of every matrix (P1 Figs 12, 13).',
        compute_at_point,
    ),
    Row(
        complexity,
        'Complexity',
        'Stable rank and participation ratio over the grid, next to the solution that '
        'the networks reach (P3 Figs 3, 5C).',
        compute_from_run,
    ),
    Row(
        lazy,
        'Distance from the initialization',
        'How far training moves a network: its tangent kernel, its parameters and its '
        'activation patterns.',
        compute_from_run,
    ),
    Row(
        condensation_grid,
        'Condensation over the grid',
        'Cosines between the input weights of the neurons of the first W_Q '
        '(P1 Fig 10).',
        compute_from_run,
    ),
    Row(
        embedding_grid,
        'Embedding over the grid',
        'The first two principal components of the embedding of the key items '
        '(P1 Fig 11).',
        compute_from_run,
    ),
)
# Figures of one member, drawn for each of the chosen members.
MEMBER = (
    Row(
        attention_flow,
        'Attention flow',
        'Which position attends to which. The line width is the attention; the bars '
        'are means over random sequences (P1 Fig 3 a, c).',
        compute_from_member,
    ),
    Row(
        causal,
        'Causal tests',
        'Which attention edges the answer needs, whether the suggested mechanism is '
        'sufficient, and what each position knows. This tests P1 Fig 3.',
        compute_from_member,
        {'number': 256},  # sequences to patch: no claim reads patches
    ),
    Row(
        tsne,
        'Map of the pairs',
        't-SNE of X_ao of layer 1 at the last token. A pair and its reverse share a '
        'hue (P1 Fig 3 b).',
        functools.partial(compute_from_member, map_number=2_000),
        {'map_number': 200},  # claims read the full space
    ),
    Row(
        cosine,
        'Cosines of vectors',
        'Are the vectors parallel when the targets are equal? Red boxes mark equal '
        'targets (P1 Fig 4).',
        compute_from_member,
    ),
    Row(
        condensation,
        'Condensation',
        'Do neurons share their direction? (P1 Fig 5 a, b)',
        compute_from_member,
    ),
    Row(
        embedding,
        'Embedding',
        'Does the embedding of a key item contain its value? (P1 Fig 5 c, d; '
        'P3 Fig 5B)',
        compute_from_member,
    ),
    Row(
        curves,
        'Training curves',
        'When the network learns what.',
        compute_at_point,
    ),
)
