"""Checks every claim of the papers against the results of this run."""

from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import UNTESTED, count_verdicts
from analysis.report.claims import CLAIMS, Claim
from analysis.report.evidence import Evidence
from analysis.tables.text import format_table

COLUMNS = ('source', 'sentence', 'number', 'null', 'verdict', 'note', 'left_out')
TITLES = ('paper', 'claim', 'this run', 'null', 'verdict', 'note', 'left out')


def check_claims(evidence: Evidence) -> list[dict[str, str]]:
    """Every claim with the values of COLUMNS."""
    rows = []
    for claim in CLAIMS:
        reading = _read(claim, evidence)
        is_tested = reading.verdict is not UNTESTED
        rows.append(
            {
                'source': claim.source,
                'sentence': claim.sentence,
                'number': reading.number,
                'null': reading.null,
                'verdict': reading.verdict.words,
                'note': _drop(evidence.left_out, reading.note),
                'left_out': evidence.left_out if is_tested else '',
            }
        )
    return rows


def format_markdown(rows: list[dict[str, str]]) -> str:
    """The claims as a Markdown table below their verdicts' counts, claims.md."""
    words = [row['verdict'] for row in rows]
    cells = [[row[column] for column in COLUMNS] for row in rows]
    return f'{count_verdicts(words)}\n\n{format_table(TITLES, cells)}\n'


def _read(claim: Claim, evidence: Evidence) -> Reading:
    inputs = []
    for solution in claim.solutions:
        source = (claim.figure, solution)
        if source not in evidence.results:
            return undecided(evidence.missing.get(source, 'no figure'))
        inputs.append(evidence.results[source])
    return claim.read(*inputs)


def _drop(text: str, note: str) -> str:
    """The note without a text that has a column of its own."""
    if not text:
        return note
    return note.replace(text, '').strip('; ')
