"""Writes the report of a run: the page and the table of claims."""

import pathlib
from collections.abc import Callable

from analysis.report import checks, collect, page, pictures
from analysis.report.choose import choose_members
from analysis.report.evidence import collect_evidence
from anchorjax.storage import atomic
from anchorjax.storage.reader import Run


def write_report(
    run: Run, path: pathlib.Path, report_progress: Callable[[str], None]
) -> None:
    """Writes the page to `path`, claims.md next to it, figures to the run's folder.

    Raises:
      UserError: no member is trained yet, or the task has no unseen pair.
    """
    choices = choose_members(run)
    payload = collect.collect(run, report_progress)
    folder = run.folder.workdir / 'figures'
    drawn = pictures.draw_all(run, choices, folder, report_progress)
    payload['figures'] = pictures.describe_figures(drawn)
    evidence = collect_evidence(run, choices, drawn, report_progress)
    payload['claims'] = checks.check_claims(evidence)
    table = checks.format_markdown(payload['claims'])
    atomic.write_text(path, page.render(payload))
    atomic.write_text(path.with_name('claims.md'), table)
