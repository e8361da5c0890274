"""What a sweep shows when it is trained: two figures, and a line for each claim."""

import pathlib

from analysis import claims, frame
from analysis.drawing import style
from analysis.figure import ROOMS, has_claims, import_claims
from analysis.members.selection import has_heldout_probe, has_unseen_pair
from analysis.p1 import answers, phase
from anchorjax.storage.reader import Run


def save_figures(run: Run, folder: pathlib.Path) -> list[pathlib.Path]:
    """Draws `answers` and `phase`, if the task has what they show."""
    paths = []
    if has_unseen_pair(run.results):
        result = answers.compute(run)
        path = folder / 'answers'
        paths += style.write_figure(result, answers.draw, answers.layout, path)
    if has_heldout_probe(run.results):
        paths += phase.save(run, folder)
    return paths


def describe_claims(run: Run) -> list[str]:
    """A line for every claim about a run of this name that it has networks for."""
    name = run.folder.workdir.name
    lines = []
    for room in filter(has_claims, ROOMS):
        module = import_claims(room)
        about = [claim for claim in module.CLAIMS if name in claim.runs]
        if not about:
            continue
        table = claims.tabulate(about, frame.collect({name: run}, module.tabulate))
        for row in table[table.seeds > 0].itertuples():
            verdict = row.verdict or 'exploratory'
            lines.append(f'{row.claim}\n  {row.number} ({row.seeds} seeds): {verdict}')
    return lines
