"""Every figure of the report, and how to draw it from a run; a new figure is a row here."""

import base64
import pathlib
import time
from collections.abc import Callable
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
    position,
    tsne,
)
from analysis.drawing import style
from analysis.members.member import label, member_of, varying
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Row(NamedTuple):
    """One figure: its module has compute, draw and layout."""

    module: ModuleType
    caption: str
    compute: Callable[[Run, dict], Any]  # (run, point of the member it is about)


class Drawn(NamedTuple):
    """A figure as the page shows it, and the numbers behind it for the claims."""

    figure: str  # module
    solution: str | None  # of the member it is about
    name: str
    title: str
    caption: str
    png: bytes | None
    missing: str | None  # why there is no picture
    result: Any


def _of_member(module: ModuleType, **options):
    return lambda run, point: module.compute(member_of(run, **point), **options)


# Figures of a whole sweep; where they follow one member, it is the most inferential one.
SWEEP = (
    Row(
        phase,
        'Agreement on the unseen pair: inferential above, symmetric below. Left to right: best '
        'learning rate for each mapping, one rate for all, share of seeds (P1 Fig 2).',
        lambda run, point: phase.compute(run.results),
    ),
    Row(
        mechanisms,
        'Which set of attention edges suffices for the answers a network gives, all other edges '
        'cut (tests P1 Fig 3 on every member).',
        lambda run, point: mechanisms.compute(run),
    ),
    Row(
        eigenvalues,
        'Eigenvalues of the covariance of the embedding, by γ and over training; singular values '
        'of every matrix (P1 Figs 12, 13).',
        lambda run, point: eigenvalues.compute(run, **point),
    ),
    Row(
        complexity,
        'Stable rank and participation ratio over the grid, beside what the network ends at '
        '(P3 Figs 3, 5C).',
        lambda run, point: complexity.compute(run),
    ),
    Row(
        lazy,
        'How far a network went from where it began: its tangent kernel, its parameters, its '
        'activation patterns.',
        lambda run, point: lazy.compute(run),
    ),
    Row(
        condensation_grid,
        'Cosines between the input weights of the neurons of the first W_Q (P1 Fig 10).',
        lambda run, point: condensation_grid.compute(run),
    ),
    Row(
        embedding_grid,
        'Leading two components of the embedding of the key items (P1 Fig 11).',
        lambda run, point: embedding_grid.compute(run),
    ),
)
# Figures of one member, drawn for each of the chosen ones.
MEMBER = (
    Row(
        attention_flow,
        'Who reads whom: width is attention; bars are means over random sequences (P1 Fig 3 a, c).',
        _of_member(attention_flow),
    ),
    Row(
        causal,
        'Which edges of attention the answer needs, whether the suggested mechanism suffices, and '
        'where a position knows what (tests P1 Fig 3).',
        _of_member(causal),
    ),
    Row(
        position,
        'Agreement on the unseen pair by the position of the key: half and half may be two '
        'solutions in one network.',
        _of_member(position),
    ),
    Row(
        tsne,
        't-SNE of X_ao of layer 1 at the last token; a pair and its reverse share a hue '
        '(P1 Fig 3 b).',
        _of_member(tsne, map_number=2_000),
    ),
    Row(
        cosine,
        'Do equal targets have parallel vectors? Red boxes: equal targets (P1 Fig 4).',
        _of_member(cosine),
    ),
    Row(
        condensation,
        'Do neurons share their direction? (P1 Fig 5 a, b)',
        _of_member(condensation),
    ),
    Row(
        embedding,
        'Is the value of a key item in its embedding? (P1 Fig 5 c, d; P3 Fig 5B)',
        _of_member(embedding),
    ),
    Row(
        curves,
        'What is learned when.',
        lambda run, point: curves.compute(run, **point),
    ),
)


def draw_all(
    run: Run, chosen: dict[str, dict], folder: pathlib.Path, tell
) -> list[Drawn]:
    """Draws every figure the run supports into `folder`; the others say what is missing."""
    rows = [(row, None, next(iter(chosen.values()))) for row in SWEEP]
    rows += [
        (row, solution, point) for solution, point in chosen.items() for row in MEMBER
    ]
    drawn = []
    for i, (row, solution, point) in enumerate(rows):
        began = time.monotonic()
        drawn.append(_draw(row, run, solution, point, folder))
        seconds = time.monotonic() - began
        tell(
            f'{i + 1}/{len(rows)} {drawn[-1].name}: {drawn[-1].missing or f"{seconds:.1f} s"}'
        )
    return drawn


def _draw(row: Row, run: Run, solution: str | None, point: dict, folder) -> Drawn:
    short = row.module.__name__.split('.')[-1]
    name, title = short, short.replace('_', ' ')
    if solution:
        where = label(varying(run, point))
        name, title = f'{short}_{where}', f'{title}: most {solution} member ({where})'
    try:
        result = row.compute(run, point)
        png, *_ = style.written(
            result, row.module.draw, row.module.layout, folder / name
        )
    except UserError as e:
        return Drawn(short, solution, name, title, row.caption, None, str(e), None)
    return Drawn(
        short, solution, name, title, row.caption, png.read_bytes(), None, result
    )


def payload(drawn: list[Drawn]) -> list[dict]:
    """The figures as the page takes them."""
    encode = lambda png: base64.b64encode(png).decode() if png else None
    return [
        {
            'name': d.name,
            'title': d.title,
            'caption': d.caption,
            'png_base64': encode(d.png),
            'missing': d.missing,
        }
        for d in drawn
    ]
