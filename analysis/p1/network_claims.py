"""What P1 shows inside single networks, of every network of its pair of γ.

P1 Figs 3 to 5 show one network of each kind, Figs 10 to 12 a grid of γ (PAPERS 1.4).
Judged is what nine seeds of P1's own width have at its two γ, predicted before they
were opened. The other rows are exploratory: which networks are symmetric or compose is
not chosen by a seed, and those of width 32 were worded after they had been seen.
"""

import itertools
from types import MappingProxyType

import pandas as pd

from analysis import frame, stats
from analysis.circuits import edge_sets
from analysis.circuits.edge_sets import Edge
from analysis.claims import EARLIER, LESS, MORE, Claim, Rule, above, below
from analysis.estimates import Group, Levels, difference, fraction_above, level
from analysis.members.untrained import make_untrained
from analysis.p1 import causal, condensation, cosine, eigenvalues, embedding
from analysis.spectra import single_thread
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import UNSEEN_MAPPINGS, classify_members

SURVIVE = 0.1  # of the answers: the edge that was cut is not needed
DRAWS = 16  # random sets of edges beside those of P1
RATES = (
    'rates_32_71',
    'rates_32_74',
    'rates_32_1.5625e-3',
    'rates_32_1.875e-3',
    'rates_32_2.1875e-3',
    'rates_32_2.8125e-3',
    'rates_32_3.125e-3',
    'rates_32_3.4375e-3',
)  # P1's nine learning rates
# The lowest, middle and highest were explored; the others are the test.
LOOKED_INTO = RATES[:2]
LARGE = Group('large', {'gamma': 0.865})
SMALL = Group('small', {'gamma': 1.38})
SYMMETRIC = Group('symmetric', {'solution': 'symmetric'})
COMPOSING = Group('composing', {'solution': 'composed'})
PAPER_SIZE = ('paper_size_pair',)  # networks of P1's own size
PAPER_LARGE = Group('large', {'gamma': 0.5})
PAPER_SMALL = Group('small', {'gamma': 0.8})
WIDE_DIAGRAM = ('w64_diagram',)  # two to five blocks, three seeds, on an H100
DEEPER = ('w64_pair',)  # three and four blocks, twelve seeds, on an H100
# Three blocks: larger initializations, and without the attention of one block.
ROUTED = ('w64_d3_larger', 'w64_d3_cut_second', 'w64_d3_cut_first')
LARGE_64 = Group('large', {'gamma': 0.72})
SMALL_64 = Group('small', {'gamma': 1.15})
COLUMNS = (
    'solution',
    'needed',
    'route',
    'shown_edge_cut',
    'null_shown_edge_cut',
    'shown_edges_alone',
    'null_shown_edges_alone',
    'parallel',
    'null_parallel',
    'parallel_raw',
    'null_parallel_raw',
    'cosine_raw',
    'parallel_u',
    'null_parallel_u',
    'parallel_u_raw',
    'null_parallel_u_raw',
    'directions',
    'null_directions',
    'value_order',
    'null_value_order',
    'participation',
    'null_participation',
)


def add_insides(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with COLUMNS, of their last parameters.

    solution           of the answers (`classify_members`), converged or not; NaN in
                       the next six if it is neither symmetric nor composed
    needed             each edge without which fewer than half of the answers to the
                       unseen pair survive
    route              `name_route` of these edges
    shown_edge_cut     answers to it that survive a cut of one of the edges that P1 Fig
                       3 (a) or (c) shows for this solution, the edge that matters
                       least; null: a cut of any other edge, their mean. NaN, and so
                       the next two, if there are not two layers
    shown_edges_alone  that survive when only these edges are left; null: as many at
                       random
    parallel           cosine of vectors v of the last layer with equal composed targets
                       less that of others, mean vector removed (Fig 4 a)
    parallel_raw       the same of the cosines themselves, as in P1
    cosine_raw         of those with equal targets alone, themselves (Fig 4 b)
    parallel_u, parallel_u_raw  both of vectors u, with equal g(x; a1) (Fig 4 c)
    directions         of the first W_Q (Figs 5 a, b, 10)
    value_order        |rank correlation| of a key and the component of the embedding
                       that has most of its order (Figs 5 c, d, 11)
    participation      ratio of the eigenvalues of the embedding (Fig 12)

    The null of a difference of cosines, and of the last three, is the same network
    before training.

    Args:
      members: rows of `Run.members`, by their place in the sweep.
    """
    rows = {}
    members = members.assign(solution=classify_members(members))
    for place, member in frame.open_networks(run, members, 'claims'):
        row = _compare_vectors(member) | _measure_directions(member)
        if members.solution[place] in UNSEEN_MAPPINGS:
            row |= cut_edges(member, members.solution[place])
        for name, number in _measure_directions(make_untrained(member)).items():
            row[f'null_{name}'] = number
        rows[place] = row
    return members.join(pd.DataFrame.from_dict(rows, 'index'))


def add_routes(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with `needed` and `route`, as in `add_insides`.

    Of every network whose answers are composed, or symmetric, in over half; NaN of
    others.
    """
    is_one_way = members.unseen_answer.isin(UNSEEN_MAPPINGS)
    chosen = members[is_one_way & (members.unseen_answer_share > 0.5)]
    rows = {}
    for place, member in frame.open_networks(run, chosen, 'claims'):
        rows[place] = cut_edges(member, chosen.unseen_answer[place])
    return members.join(pd.DataFrame.from_dict(rows, 'index'))


def cut_edges(member: Network, solution: str) -> dict[str, float | str]:
    """`needed` and the columns of edges, of a network with this solution."""
    ablation = edge_sets.prepare_ablation(member)
    cuts = causal.measure_cuts(ablation, DRAWS)
    cuts = cuts.sel(eval_set='unseen', mechanism=solution)
    is_shown = cuts.of_mechanism
    needed = list(itertools.compress(ablation.edges, cuts.unchanged.values < 0.5))
    found: dict[str, float | str] = {
        'needed': ', '.join(map(causal.name_edge, needed)),
        'route': name_route(needed),
    }
    if not edge_sets.has_mechanism(member):
        return found
    return found | {
        'shown_edge_cut': cuts.unchanged[is_shown].max().item(),
        'null_shown_edge_cut': cuts.unchanged[~is_shown].mean().item(),
        'shown_edges_alone': cuts.mechanism_unchanged.sel(test='alone').item(),
        'null_shown_edges_alone': cuts.mechanism_unchanged.sel(test='random').item(),
    }


def name_route(needed: list[Edge]) -> str:
    """By which way, in a network of any depth, the answer comes to the last token.

    Returns:
      'key first' (P1 Fig 3 (c)): the key goes to an anchor, an anchor later to the last
      token; 'pair first' (a): an anchor goes to the last token, the key later; 'both';
      or 'neither'.
    """
    anchors = ('anchor_1', 'anchor_2')
    key_to_anchor = []  # layers, here and below
    key_to_last = []
    anchor_to_last = []
    for layer, source, target in needed:
        if source == 'key' and target in anchors:
            key_to_anchor.append(layer)
        elif source == 'key' and target == 'last':
            key_to_last.append(layer)
        elif source in anchors and target == 'last':
            anchor_to_last.append(layer)
    is_key_first = _comes_before(key_to_anchor, anchor_to_last)
    is_pair_first = _comes_before(anchor_to_last, key_to_last)
    if is_key_first and is_pair_first:
        return 'both'
    if is_key_first:
        return 'key first'
    return 'pair first' if is_pair_first else 'neither'


def _comes_before(layers: list[int], others: list[int]) -> bool:
    """Whether one of the layers comes before one of the others."""
    return bool(layers and others) and min(layers) < max(others)


def _compare_vectors(member: Network) -> dict[str, float]:
    found = cosine.compute(member)
    numbers = {}
    for name, vector, centred in (
        ('parallel', 'v', True),
        ('parallel_raw', 'v', False),
        ('parallel_u', 'u', True),
        ('parallel_u_raw', 'u', False),
    ):
        here = found.sel(vector=vector, centred=centred)
        numbers[name] = here.difference.sel(estimate='mean').item()
        numbers[f'null_{name}'] = here.untrained.item()
    raw = found.sel(vector='v', centred=False)
    return numbers | {'cosine_raw': raw.inside.mean().item()}


@single_thread
def _measure_directions(member: Network) -> dict[str, float]:
    of_embedding = eigenvalues.measure_matrix(member, embedding.MATRIX)
    return {
        'directions': condensation.count_directions(member),
        'value_order': embedding.correlate_with_value(member),
        'participation': of_embedding.participation.item(),
    }


def list_edges(networks: str, width: str, runs: tuple[str, ...]) -> list[Claim]:
    """Whether symmetric networks of this width work as P1 Fig 3 (a) shows.

    Args:
      networks: in the address of the claims.
    """
    networks = f'p1.fig03a.{networks}'
    source = f'P1 Fig 3 (a), {width}'
    return [
        Claim(
            f'{networks}.cut',
            source,
            'Symmetric networks need each of its three edges; a cut of the one that '
            'matters least leaves few answers.',
            runs,
            level('shown_edge_cut', SYMMETRIC),
        ),
        Claim(
            f'{networks}.spared',
            source,
            'Symmetric networks in which one of these edges is not needed.',
            runs,
            fraction_above('shown_edge_cut', SURVIVE, SYMMETRIC),
        ),
        Claim(
            f'{networks}.alone',
            source,
            'These edges are enough: alone they leave the answers of symmetric '
            'networks.',
            runs,
            level('shown_edges_alone', SYMMETRIC),
        ),
    ]


def list_spectra(
    networks: str,
    width: str,
    words: str,
    runs: tuple[str, ...],
    groups: tuple[Group, Group],
    rules: tuple[Rule, Rule, Rule] = (LESS, MORE, LESS),
    where: Levels = MappingProxyType({}),
) -> list[Claim]:
    """What P1 Figs 5 and 10 to 12 show of W_Q and of the embedding.

    Args:
      networks: in the address of the claims.
      words: of the two groups, the smaller start first.
    """
    rows = (
        (
            f'p1.fig05.{networks}.directions',
            f'P1 Figs 5 (a, b), 10, {width}',
            'W_Q of the first block has fewer directions.',
            difference('directions', *groups, stats.POSITIVE),
        ),
        (
            f'p1.fig05.{networks}.order',
            f'P1 Figs 5 (c, d), 11, {width}',
            'the embedding has more of the order of the keys.',
            difference('value_order', *groups, stats.SIZE),
        ),
        (
            f'p1.fig12.{networks}.participation',
            f'P1 Fig 12, {width}',
            'the embedding has fewer large eigenvalues.',
            difference('participation', *groups, stats.POSITIVE),
        ),
    )
    claims = []
    for (address, source, ending, estimate), rule in zip(rows, rules, strict=True):
        sentence = f'{words} {ending}'
        claims.append(Claim(address, source, sentence, runs, estimate, rule, where))
    return claims


CLAIMS = (
    *list_edges('w400_d2', "P1's width", PAPER_SIZE),
    Claim(
        'p1.fig03c.w400_d2.alone',
        "P1 Fig 3 (c), P1's width",
        'Its four edges are enough: alone they leave the answers of a composing '
        'network.',
        PAPER_SIZE,
        level('shown_edges_alone', COMPOSING),
    ),
    Claim(
        'p1.fig04.w400_d2.parallel',
        "P1 Fig 4 (a), P1's width",
        'From γ 0.5 to 0.8 vectors v of equal composed targets become more parallel '
        'than others; the difference of their cosines, mean vector removed.',
        PAPER_SIZE,
        difference('parallel', PAPER_SMALL, PAPER_LARGE, stats.ANY),
        above(0, EARLIER),
        note="P1's cosines are of the vectors as they are",
    ),
    Claim(
        'p1.fig04.w400_d2.raw',
        "P1 Fig 4 (a), P1's width",
        'The same of the vectors as they are.',
        PAPER_SIZE,
        difference('parallel_raw', PAPER_SMALL, PAPER_LARGE, stats.ANY),
        MORE,
    ),
    Claim(
        'p1.fig04.w400_d2.low',
        "P1 Fig 4 (b), P1's width",
        'At γ 0.5 the cosine of vectors v, as they are, is low even where targets are '
        'equal.',
        PAPER_SIZE,
        level('cosine_raw', PAPER_LARGE, stats.COSINE),
    ),
    Claim(
        'p1.fig04.w400_d2.first_anchor',
        "P1 Fig 4 (c), P1's width",
        'From γ 0.5 to 0.8 vectors u follow the function of the first anchor more; the '
        'difference of their cosines, mean vector removed.',
        PAPER_SIZE,
        difference('parallel_u', PAPER_SMALL, PAPER_LARGE, stats.ANY),
        MORE,
    ),
    *list_spectra(
        'w400_d2',
        "P1's width",
        'From γ 0.5 to 0.8',
        PAPER_SIZE,
        (PAPER_SMALL, PAPER_LARGE),
        rules=(below(0, EARLIER), above(0, EARLIER), below(0, EARLIER)),
    ),
    *list_edges('w32_d2', 'width 32', LOOKED_INTO),
    Claim(
        'p1.fig03c.w32_d2.cut',
        'P1 Fig 3 (c), width 32',
        'Composing networks need each of its four edges; a cut of the one that matters '
        'least leaves few answers.',
        LOOKED_INTO,
        level('shown_edge_cut', COMPOSING),
    ),
    Claim(
        'p1.fig03c.w32_d2.alone',
        'P1 Fig 3 (c), width 32',
        'These edges are enough: alone they leave the answers of composing networks.',
        LOOKED_INTO,
        level('shown_edges_alone', COMPOSING),
    ),
    Claim(
        'p1.fig04.w32_d2.composing',
        'P1 Fig 4 (a), width 32',
        'Composing networks: vectors of equal composed targets are parallel; their '
        'cosine less that of others.',
        LOOKED_INTO,
        level('parallel', COMPOSING, stats.ANY),
    ),
    Claim(
        'p1.fig04.w32_d2.symmetric',
        'P1 Fig 4 (b), width 32',
        'Symmetric networks: they are not.',
        LOOKED_INTO,
        level('parallel', SYMMETRIC, stats.ANY),
    ),
    *list_spectra(
        'w32_d2',
        'width 32',
        'From γ 0.865 (0.50 at width 400) to 1.38 (0.80)',
        LOOKED_INTO,
        (SMALL, LARGE),
    ),
    *list_spectra(
        'w64_d2',
        'width 64',
        'From γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        WIDE_DIAGRAM,
        (SMALL_64, LARGE_64),
        where={'depth': 2},
    ),
    *list_spectra(
        'w64_d3',
        'width 64, depth 3',
        'Three blocks: from γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        DEEPER,
        (SMALL_64, LARGE_64),
        where={'depth': 3},
    ),
    *list_spectra(
        'w64_d4',
        'width 64, depth 4',
        'Four blocks: from γ 0.72 (0.50 at width 400) to 1.15 (0.80)',
        DEEPER,
        (SMALL_64, LARGE_64),
        where={'depth': 4},
    ),
)
