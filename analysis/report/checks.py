"""Checks every claim of the papers against the results of this run's figures."""

from analysis.report.claims import CLAIMS
from analysis.report.pictures import Figure
from analysis.report.readings.reading import UNKNOWN
from analysis.report.verdicts import make_verdict


def check_claims(figures: list[Figure]) -> list[dict[str, str]]:
    """Every claim with its number and verdict."""
    results = {}
    for figure in figures:
        results[figure.module, figure.solution] = figure.result
    rows = []
    for claim in CLAIMS:
        inputs = [results.get((claim.figure, name)) for name in claim.solutions]
        reading = None
        if all(result is not None for result in inputs):
            reading = claim.read(*inputs)
        reading = reading or UNKNOWN
        rows.append(
            {
                'source': claim.source,
                'sentence': claim.sentence,
                'number': reading.number,
                'verdict': make_verdict(reading.holds).words,
                'note': reading.note,
            }
        )
    return rows


def format_markdown(rows: list[dict[str, str]]) -> str:
    """The claims as a Markdown table, claims.md."""
    lines = ['| paper | claim | this run | verdict |', '|---|---|---|---|']
    for row in rows:
        number = row['number']
        if row['note']:
            number += f' ({row["note"]})'
        cells = []
        for cell in (row['source'], row['sentence'], number, row['verdict']):
            cells.append(cell.replace('|', '\\|'))
        lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines) + '\n'
