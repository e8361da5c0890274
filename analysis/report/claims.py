"""What the papers say, next to what this run shows: a claim is a row of CLAIMS."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from analysis.old_claims.reading import Reading, leave_open
from analysis.report.readings import (
    circuits,
    diagram,
    mechanisms,
    networks,
    vectors,
    weights,
)

MEMBERS = 'members'  # no figure: the rows of all trained members, `member_rows`
SWEEP = (None,)  # the result of a figure of the whole sweep
INFERENTIAL = ('inferential',)  # the results of the figures of these members
SYMMETRIC = ('symmetric',)


class Claim(NamedTuple):
    """A sentence of a paper, in our words, and the results that decide it.

    `read` gets an argument for each of `solutions`: for None the result of the sweep's
    figure, for a solution the results of the members that stand for it (`choose`), at
    least one.
    """

    source: str
    sentence: str
    figure: str  # name of its module, or MEMBERS
    solutions: tuple[str | None, ...]
    read: Callable[..., Reading]


CLAIMS = (
    Claim(
        'P1 Sec 4, Fig 2',
        'A large initialization (small γ) leads to the symmetric solution.',
        MEMBERS,
        SWEEP,
        diagram.read_symmetric_half,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'A small initialization (large γ) leads to the inferential solution.',
        MEMBERS,
        SWEEP,
        diagram.read_inferential_half,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'The inferential phase lies at larger γ than the symmetric phase.',
        MEMBERS,
        SWEEP,
        diagram.read_phase_order,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'If the initialization is too large, not even seen pairs are generalized.',
        MEMBERS,
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
        mechanisms.read_mechanisms,
    ),
    Claim(
        'P1 Fig 3, tested',
        'The edges that suffice in some networks of a solution suffice in networks of '
        'fresh seeds.',
        'mechanisms',
        SWEEP,
        mechanisms.read_confirmed_mechanisms,
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
        'condensation_grid',
        SWEEP,
        weights.read_condensation,
    ),
    Claim(
        'P1 Fig 5 (c, d)',
        'The embedding is ordered by value at a small initialization, but not at a '
        'large one.',
        'embedding_grid',
        SWEEP,
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
        networks.read_stable_rank,
    ),
    Claim(
        'Ours',
        'No network stays near its initialization: all of them learn their tangent '
        'kernel.',
        'lazy',
        SWEEP,
        networks.read_lazy,
    ),
    Claim(
        'P1 Figs 14 to 16',
        'A larger learning rate and a larger weight decay favour the inferential '
        'solution.',
        MEMBERS,
        (),
        leave_open,
    ),
    Claim(
        'P1 Fig 2 (c)',
        'GPT-2 shows the same trend over a narrower range of γ.',
        MEMBERS,
        (),
        leave_open,
    ),
)
