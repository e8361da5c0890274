"""What the papers say, next to what this run shows: a claim is a row of CLAIMS."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from analysis.report.readings import circuits, diagram, vectors, weights
from analysis.report.readings.reading import Reading, leave_open

SWEEP = (None,)  # the result of a figure of the whole sweep
INFERENTIAL = ('inferential',)  # the result of the figure of that member
SYMMETRIC = ('symmetric',)
BOTH = ('inferential', 'symmetric')


class Claim(NamedTuple):
    """A sentence of a paper, in our words, and the results that decide it."""

    source: str
    sentence: str
    figure: str
    solutions: tuple[str | None, ...]  # of the members whose results are read
    read: Callable[..., Reading | None]  # results -> reading; None: undecided


CLAIMS = (
    Claim(
        'P1 Sec 4, Fig 2',
        'A large initialization (small γ) leads to the symmetric solution.',
        'phase',
        SWEEP,
        diagram.read_symmetric_peak,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'A small initialization (large γ) leads to the inferential solution.',
        'phase',
        SWEEP,
        diagram.read_inferential_peak,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'The inferential phase lies at larger γ than the symmetric phase.',
        'phase',
        SWEEP,
        diagram.read_phase_order,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'If the initialization is too large, not even seen pairs are generalized.',
        'phase',
        SWEEP,
        diagram.read_seen_pairs,
    ),
    Claim(
        'P1 Fig 3 (a)',
        'Symmetric: layer 1 moves both anchors to the last token, and layer 2 moves '
        'the key there.',
        'attention_flow',
        SYMMETRIC,
        partial(circuits.read_flows, layer_1='anchors → last', layer_2='key → last'),
    ),
    Claim(
        'P1 Fig 3 (c)',
        'Inferential: layer 1 moves the key to both anchors, and layer 2 moves both '
        'anchors to the last token.',
        'attention_flow',
        INFERENTIAL,
        partial(circuits.read_flows, layer_1='key → anchors', layer_2='anchors → last'),
    ),
    Claim(
        'P1 Fig 3, tested',
        'Each of the inferential edges of Fig 3 is necessary.',
        'causal',
        INFERENTIAL,
        partial(circuits.read_necessary_edges, solution='inferential'),
    ),
    Claim(
        'P1 Fig 3, tested',
        'Each of the symmetric edges of Fig 3 is necessary.',
        'causal',
        SYMMETRIC,
        partial(circuits.read_necessary_edges, solution='symmetric'),
    ),
    Claim(
        'P1 Fig 3, tested',
        'Together, the inferential edges of Fig 3 are sufficient.',
        'causal',
        INFERENTIAL,
        partial(circuits.read_sufficient_edges, solution='inferential'),
    ),
    Claim(
        'P1 Fig 3, tested',
        'Together, the symmetric edges of Fig 3 are sufficient.',
        'causal',
        SYMMETRIC,
        partial(circuits.read_sufficient_edges, solution='symmetric'),
    ),
    Claim(
        'P1 Fig 3, tested',
        'Every network uses the edges that Fig 3 shows for its solution.',
        'mechanisms',
        SWEEP,
        circuits.read_mechanisms,
    ),
    Claim(
        'P1 Fig 3 (b)',
        'Symmetric: after the first attention layer, a pair and its reverse lie '
        'together.',
        'tsne',
        SYMMETRIC,
        vectors.read_reverse_neighbours,
    ),
    Claim(
        'P1 Fig 4 (a)',
        'Inferential: vectors with equal targets are nearly parallel.',
        'cosine',
        INFERENTIAL,
        vectors.read_parallel_values,
    ),
    Claim(
        'P1 Fig 4 (b)',
        'Symmetric: vectors are hardly similar even when their targets are equal.',
        'cosine',
        SYMMETRIC,
        vectors.read_unlike_values,
    ),
    Claim(
        'P1 Fig 4 (c)',
        'Inferential: values at the first anchor align with single-anchor functions.',
        'cosine',
        INFERENTIAL,
        vectors.read_single_anchor,
    ),
    Claim(
        'P1 Fig 5 (a, b)',
        'The neurons of the first W_Q condense at a small initialization, but not at a '
        'large one.',
        'condensation',
        BOTH,
        weights.read_condensation,
    ),
    Claim(
        'P1 Fig 5 (c, d)',
        'The embedding is ordered by value at a small initialization, but not at a '
        'large one.',
        'embedding',
        BOTH,
        weights.read_embedding_order,
    ),
    Claim(
        'P1 Fig 12 (a)',
        'The smaller the initialization, the fewer large eigenvalues the embedding '
        'has.',
        'eigenvalues',
        SWEEP,
        weights.read_large_eigenvalues,
    ),
    Claim(
        'P1 Fig 12 (b)',
        'At a small initialization, the largest eigenvalue grows first and the others '
        'grow later.',
        'eigenvalues',
        SWEEP,
        weights.read_first_rise,
    ),
    Claim(
        'P1 Fig 13',
        'At a small initialization, few singular values stand out; at a large one, '
        'none do.',
        'eigenvalues',
        SWEEP,
        weights.read_singular_values,
    ),
    Claim(
        'P3 Figs 3, 5 (c)',
        'The lower the stable rank, the more inferential the network.',
        'complexity',
        SWEEP,
        weights.read_stable_rank,
    ),
    Claim(
        'P1 Figs 14 to 16',
        'A larger learning rate and a larger weight decay favour the inferential '
        'solution.',
        'phase',
        (),
        leave_open,
    ),
    Claim(
        'P1 Fig 2 (c)',
        'GPT-2 shows the same trend over a narrower range of γ.',
        'phase',
        (),
        leave_open,
    ),
)
