"""Writes the report of a run: the page and the table of claims."""

import pathlib
from collections.abc import Callable

from analysis.report import checks, collect, page, pictures
from analysis.report.choose import choose_members, has_unseen_pair
from analysis.report.evidence import collect_evidence
from analysis.report.general.baselines import describe_baselines
from analysis.report.general.collect import collect_general
from analysis.report.general.pictures import draw_general
from analysis.report.general.subject import read_subject
from analysis.report.outcome import describe_outcome
from analysis.report.playground.describe import describe_playground
from analysis.report.playground.request import AUTO, parse_request
from anchorjax import files
from anchorjax.storage.reader import Run


def write_report(
    run: Run,
    path: pathlib.Path,
    report_progress: Callable[[str], None],
    playground: str = AUTO,
) -> None:
    """Writes the page to `path`, its figures to the folder `figures` beside it.

    A sweep of the anchor task with an unseen pair gets claims.md next to the page, and
    networks that answer in it; any other has neither, and the page says so.

    Args:
      playground: the networks that answer in the page, as `parse_request` takes them.

    Raises:
      UserError: no member is trained yet, or there is no member such as `playground`
        names; StoreError: the page or a figure cannot be written.
    """
    request = parse_request(playground)
    if not has_unseen_pair(run.experiment.task):
        _write_general(run, path, report_progress)
        return
    choices = choose_members(run)
    networks = describe_playground(run, choices, request, report_progress)
    payload = collect.collect(run, report_progress)
    payload['playground'] = networks
    folder = path.with_name('figures')
    drawn = pictures.draw_all(run, choices, folder, report_progress)
    payload['figures'] = pictures.describe_figures(drawn)
    evidence = collect_evidence(run, choices, drawn, report_progress)
    payload['claims'] = checks.check_claims(evidence)
    payload['outcome'] = describe_outcome(run, payload['claims'])
    table = checks.format_markdown(payload['claims'])
    files.write_text(path, page.render(payload))
    files.write_text(path.with_name('claims.md'), table)


def _write_general(
    run: Run, path: pathlib.Path, report_progress: Callable[[str], None]
) -> None:
    """Writes the page of a task without an unseen pair of anchors."""
    subject = read_subject(run)
    payload = collect_general(subject, report_progress)
    folder = path.with_name('figures')
    drawn = draw_general(subject, folder, report_progress)
    payload['figures'] = pictures.describe_figures(drawn)
    payload['general']['baselines'] = describe_baselines(drawn, subject.tested)
    files.write_text(path, page.render(payload))
