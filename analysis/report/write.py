"""Writes the report of a run: the page and the table of claims."""

import pathlib
from collections.abc import Callable

from analysis.report import checks, collect, page, pictures
from analysis.report.choose import choose_members
from analysis.report.evidence import collect_evidence
from analysis.report.outcome import describe_outcome
from analysis.report.playground.describe import describe_playground
from analysis.report.playground.request import AUTO, parse_request
from anchorjax.storage import atomic
from anchorjax.storage.reader import Run


def write_report(
    run: Run,
    path: pathlib.Path,
    report_progress: Callable[[str], None],
    playground: str = AUTO,
) -> None:
    """Writes the page to `path`, claims.md next to it, figures to the run's folder.

    Args:
      playground: the networks that answer in the page, as `parse_request` takes them.

    Raises:
      UserError: no member is trained yet, the task has no unseen pair, or there is no
        member such as `playground` names.
    """
    request = parse_request(playground)
    choices = choose_members(run)
    networks = describe_playground(run, choices, request, report_progress)
    payload = collect.collect(run, report_progress)
    payload['playground'] = networks
    folder = run.folder.workdir / 'figures'
    drawn = pictures.draw_all(run, choices, folder, report_progress)
    payload['figures'] = pictures.describe_figures(drawn)
    evidence = collect_evidence(run, choices, drawn, report_progress)
    payload['claims'] = checks.check_claims(evidence)
    payload['outcome'] = describe_outcome(run, payload['claims'])
    table = checks.format_markdown(payload['claims'])
    atomic.write_text(path, page.render(payload))
    atomic.write_text(path.with_name('claims.md'), table)
