"""What the papers say, beside what this run shows: a claim is a row of CLAIMS."""

from collections.abc import Callable
from typing import NamedTuple

from analysis.report import readings
from analysis.report.figures import Drawn
from analysis.report.readings import Reading

VERDICTS = {True: 'holds', False: 'does not hold', None: 'cannot be tested here'}
BOTH = ('inferential', 'symmetric')


class Claim(NamedTuple):
    """A sentence of a paper, in our words, and the results that decide it."""

    source: str
    sentence: str
    figure: str
    solutions: tuple[
        str | None, ...
    ]  # of the members whose figure it is; None: of the sweep
    read: Callable[..., Reading | None]  # results -> what they say; None: they cannot


CLAIMS = (
    Claim(
        'P1 Sec 4, Fig 2',
        'Large initialization (small γ) ends at the symmetric solution.',
        'phase',
        (None,),
        readings.reaches_symmetric,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'Small initialization (large γ) ends at the inferential solution.',
        'phase',
        (None,),
        readings.reaches_inferential,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'The inferential phase lies at larger γ than the symmetric one.',
        'phase',
        (None,),
        readings.order_of_phases,
    ),
    Claim(
        'P1 Sec 4, Fig 2',
        'With too large an initialization even seen pairs are not generalized.',
        'phase',
        (None,),
        readings.too_large,
    ),
    Claim(
        'P1 Fig 3 (a)',
        'Symmetric: layer 1 moves both anchors to the last token, layer 2 the key.',
        'attention_flow',
        ('symmetric',),
        readings.flows('anchors → last', 'key → last'),
    ),
    Claim(
        'P1 Fig 3 (c)',
        'Inferential: layer 1 moves the key to both anchors, layer 2 both anchors to the last.',
        'attention_flow',
        ('inferential',),
        readings.flows('key → anchors', 'anchors → last'),
    ),
    *(
        Claim(
            'P1 Fig 3, tested',
            f'The {solution} edges of Fig 3 are each necessary.',
            'causal',
            (solution,),
            readings.necessary(solution),
        )
        for solution in BOTH
    ),
    *(
        Claim(
            'P1 Fig 3, tested',
            f'The {solution} edges of Fig 3 are together sufficient.',
            'causal',
            (solution,),
            readings.sufficient(solution),
        )
        for solution in BOTH
    ),
    Claim(
        'P1 Fig 3, tested',
        'Every network of a solution works by the edges of its picture.',
        'mechanisms',
        (None,),
        readings.own_mechanism,
    ),
    Claim(
        'P1 Fig 3 (b)',
        'Symmetric: a pair and its reverse lie together after the first attention.',
        'tsne',
        ('symmetric',),
        readings.reverse_is_near,
    ),
    Claim(
        'P1 Fig 4 (a)',
        'Inferential: vectors of equal targets are nearly parallel.',
        'cosine',
        ('inferential',),
        readings.parallel,
    ),
    Claim(
        'P1 Fig 4 (b)',
        'Symmetric: vectors are hardly similar even where targets are equal.',
        'cosine',
        ('symmetric',),
        readings.not_parallel,
    ),
    Claim(
        'P1 Fig 4 (c)',
        'Inferential: values at the first anchor align with single-anchor functions.',
        'cosine',
        ('inferential',),
        readings.single_anchor,
    ),
    Claim(
        'P1 Fig 5 (a, b)',
        'Neurons of the first W_Q condense at the small initialization, not at the large one.',
        'condensation',
        BOTH,
        readings.condenses,
    ),
    Claim(
        'P1 Fig 5 (c, d)',
        'The embedding is ordered by value at the small initialization, not at the large one.',
        'embedding',
        BOTH,
        readings.ordered,
    ),
    Claim(
        'P1 Fig 12 (a)',
        'The smaller the initialization, the fewer large eigenvalues the embedding has.',
        'eigenvalues',
        (None,),
        readings.few_eigenvalues,
    ),
    Claim(
        'P1 Fig 12 (b)',
        'At a small initialization the largest eigenvalue grows first, the others later.',
        'eigenvalues',
        (None,),
        readings.largest_first,
    ),
    Claim(
        'P1 Fig 13',
        'At a small initialization few singular values stand out; at a large one none do.',
        'eigenvalues',
        (None,),
        readings.falls_off,
    ),
    Claim(
        'P3 Figs 3, 5 (c)',
        'The lower the stable rank, the more inferential the network.',
        'complexity',
        (None,),
        readings.low_rank_reasons,
    ),
    Claim(
        'P1 Figs 14 to 16',
        'A larger learning rate and weight decay favour the inferential solution.',
        'phase',
        (),
        readings.never,
    ),
    Claim(
        'P1 Fig 2 (c)',
        'GPT-2 shows the same trend over a narrower range of γ.',
        'phase',
        (),
        readings.never,
    ),
)


def table(drawn: list[Drawn]) -> list[dict[str, str]]:
    """Every claim with its number and verdict."""
    results = {(d.figure, d.solution): d.result for d in drawn}
    rows = []
    for claim in CLAIMS:
        wanted = [results.get((claim.figure, solution)) for solution in claim.solutions]
        known = all(result is not None for result in wanted)
        found = (claim.read(*wanted) if known else None) or readings.UNKNOWN
        rows.append(
            {
                'source': claim.source,
                'sentence': claim.sentence,
                'number': found.number,
                'verdict': VERDICTS[found.holds],
                'note': found.note,
            }
        )
    return rows


def markdown(rows: list[dict[str, str]]) -> str:
    """The table for RESULTS.md."""
    lines = ['| paper | claim | here | verdict |', '|---|---|---|---|']
    for row in rows:
        number = f'{row["number"]} ({row["note"]})' if row['note'] else row['number']
        cells = (row['source'], row['sentence'], number, row['verdict'])
        lines.append(
            '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'
        )
    return '\n'.join(lines) + '\n'
