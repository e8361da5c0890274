"""Every figure of the report and how to compute it; a new figure is a row here."""

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from analysis import (
    anchor_cosines,
    embedding_pca,
    label_law,
    learning_order,
    reasoning_bias,
)
from analysis.members.member import member_of
from analysis.p1 import (
    accuracy,
    attention_flow,
    causal,
    condensation,
    condensation_grid,
    cosine,
    curves,
    eigenvalues,
    embedding,
    embedding_grid,
    lazy,
    mechanisms,
    pair_order,
    phase,
    tsne,
)
from analysis.p3 import complexity
from analysis.p4 import decay_complexity, decay_grid, decay_windows, start_or_end
from analysis.text_tasks import generalization
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
    varying: tuple[str, ...] = ()  # needs several values of one of these axes

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


CONDENSATION = Row(
    condensation_grid,
    'Condensation over the grid',
    'Do neurons come to share a direction? Cosines between the input weights of the '
    'neurons of the first query matrix, W_Q: blocks near 1 mean yes (P1 Fig 10).',
    compute_from_run,
)
# Figures of a whole sweep of the anchor task. Those that follow one member take the
# most inferential one.
SWEEP = (
    Row(
        phase,
        'Phase diagram',
        'How networks answer the unseen pair. Above: the share of composed '
        '(inferential) answers; below: the share of answers that are those of the '
        'reversed pair (symmetric). Left: every cell at its best learning rate; '
        'middle: one learning rate for all; right: the share of converged seeds '
        '(P1 Fig 2).',
        compute_from_results,
    ),
    Row(
        mechanisms,
        'Mechanisms',
        'Attention moves information along edges, from one kind of token to another. '
        'Which few edges are enough for a network to keep its answers when all others '
        'are cut? This tests P1 Fig 3 on every converged network.',
        compute_from_run,
    ),
    Row(
        pair_order,
        'Order of the pair',
        'Can a network tell a pair from its reverse where it answers? The distance '
        'between its activations for the two, by that between pairs with another '
        'anchor, through training and beside its answers. 0: the order is not there, '
        'so both get one answer.',
        compute_from_run,
    ),
    Row(
        eigenvalues,
        'Eigenvalues and singular values',
        'How many directions the weights use. Eigenvalues of the covariance of the '
        'embedding, by γ and over training, and singular values of every matrix: few '
        'large ones mean few directions (P1 Figs 12, 13).',
        compute_at_point,
    ),
    Row(
        complexity,
        'Complexity',
        'Two measures of how many directions the weights use (stable rank and '
        'participation ratio), next to how the networks answer (P3 Figs 3, 5C).',
        compute_from_run,
    ),
    Row(
        lazy,
        'Distance from the initialization',
        'How far training moves a network from its start: its weights, which neurons '
        'are active, and its tangent kernel (how a step on one example changes the '
        'answers to others). Near 0 the network would hardly have learned features.',
        compute_from_run,
    ),
    CONDENSATION,
    Row(
        embedding_grid,
        'Embedding over the grid',
        'Do networks place the numbers x in their order? The embeddings of the numbers '
        'in the plane in which they differ most (first two principal components; '
        'P1 Fig 11).',
        compute_from_run,
    ),
)
# Figures of one member, drawn for each of the chosen members of the anchor task.
MEMBER = (
    Row(
        attention_flow,
        'Attention flow',
        'Which token reads which, from the input below to the last layer above. A wide '
        'line is much attention, on one sequence; the bars are means over random '
        'sequences (P1 Fig 3 a, c).',
        compute_from_member,
    ),
    Row(
        causal,
        'Causal tests',
        'Which edges of attention the answer needs (left, one cut at a time), whether '
        'the mechanism of P1 Fig 3 is enough by itself (middle), and which position '
        'knows the number and the anchors in each layer (right).',
        compute_from_member,
        {'number': 256},  # sequences to patch: no claim reads patches
    ),
    Row(
        tsne,
        'Map of the pairs',
        'What the last token holds after the first attention, drawn so that similar '
        'sequences lie close (t-SNE). A pair and its reverse share a hue: where they '
        'mix, the network does not tell them apart (P1 Fig 3 b).',
        functools.partial(compute_from_member, map_number=2_000),
        {'map_number': 200},  # claims read the full space
    ),
    Row(
        cosine,
        'Cosines of vectors',
        'Does the network hold the same vector for questions with the same right '
        'answer? Cosines between such vectors; red boxes mark equal answers '
        '(P1 Fig 4).',
        compute_from_member,
    ),
    Row(
        condensation,
        'Condensation',
        'Do the neurons of the first query matrix share their direction? '
        '(P1 Fig 5 a, b)',
        compute_from_member,
    ),
    Row(
        embedding,
        'Embedding',
        'Does the embedding of a number x contain its value? (P1 Fig 5 c, d; '
        'P3 Fig 5B)',
        compute_from_member,
    ),
    Row(
        curves,
        'Training curves',
        'When the network learns which answers, from the first step to the last.',
        compute_at_point,
    ),
)
# Figures of a sweep of any other task.
GENERAL = (
    Row(
        accuracy,
        'Accuracy by setting',
        'Everything that the task measures, by the axes of the sweep: means over seeds '
        'with their 95 % interval.',
        compute_from_run,
    ),
    CONDENSATION,
)
# Figures of two members of such a sweep, the best and the worst.
GENERAL_MEMBER = (
    Row(
        curves,
        'Training curves',
        'What the network learns when, from the first step to the last.',
        compute_at_point,
    ),
)
_REAL = (
    Row(
        generalization,
        'Generalization',
        'Exact match by the size of the training set, for every γ and decay, beside '
        'what a table of the training data would answer (grey); right: when networks '
        'converge, and what γ and decay each do (P1 Figs 6, 7, 17 a).',
        compute_from_run,
    ),
)
_WINDOWS = (
    Row(
        decay_windows,
        decay_windows.TITLE,
        decay_windows.CAPTION,
        compute_from_run,
        varying=('decay_window',),
    ),
    Row(
        decay_grid,
        decay_grid.TITLE,
        decay_grid.CAPTION,
        compute_from_run,
        varying=('gamma', 'weight_decay'),
    ),
    Row(
        decay_complexity,
        decay_complexity.TITLE,
        decay_complexity.CAPTION,
        compute_from_run,
        varying=('gamma', 'weight_decay', 'decay_window'),
    ),
    Row(
        start_or_end,
        start_or_end.TITLE,
        start_or_end.CAPTION,
        compute_from_run,
        varying=('decay_window',),
    ),
)
# Figures of the sweeps of single tasks, besides those of any task.
OF_TASK = {
    'addition': _REAL,
    'cogs': _REAL,
    'prontoqa': _REAL,
    'scan': _REAL,
    'anchor_permutations': _WINDOWS,
    'modular_addition': _WINDOWS,
    'mixture': (
        Row(
            reasoning_bias,
            'Proofs before stories',
            'Is PrOntoQA learned before stories, the more so from small weights? Loss '
            'of both, their relative difference, and the cosines of their tokens (P2 '
            'Figs 1, 7).',
            compute_from_run,
        ),
    ),
    'memory_reasoning': (
        Row(
            learning_order,
            'Order of learning',
            'What is learned first, sums or facts? Loss and accuracy of both over '
            'training, by γ (P2 Fig 3).',
            compute_from_run,
        ),
        Row(
            anchor_cosines,
            'Cosines of anchors',
            'Are the embeddings of anchors ordered by what they add? Cosine by '
            'distance (P2 Figs 4 A, 5 A, 14).',
            compute_from_run,
        ),
        Row(
            embedding_pca,
            'Embedding of anchors and keys',
            'Their order along the first principal components (P2 Fig 5 B).',
            compute_from_run,
        ),
        Row(
            label_law,
            'Law of labels',
            'Do the labels that occur with a token predict its embedding? Predicted '
            'and measured cosines (P2 Figs 4 B, C, 5 C, D).',
            compute_from_run,
        ),
    ),
}
