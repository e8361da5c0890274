"""Writes the page of a run."""

import pathlib
from collections.abc import Callable

from analysis.report import page, pictures
from analysis.report.choose import choose_networks
from analysis.report.claims import check_claims
from analysis.report.collect import collect
from analysis.report.playground.describe import Playground, describe_playground
from analysis.report.playground.request import AUTO, parse_request
from analysis.report.subject import read_subject
from anchorjax import files
from anchorjax.storage.reader import Run


def write_report(
    run: Run,
    path: pathlib.Path,
    report_progress: Callable[[str], None],
    playground: str = AUTO,
) -> None:
    """Writes the page to `path`, its figures to the folder `figures` beside it.

    Networks answer in the page of a sweep of anchors with an unseen pair.

    Args:
      playground: the networks that answer in the page, as `parse_request` takes them.

    Raises:
      UserError: no member is trained yet, or there is no member such as `playground`
        names; StoreError: the page or a figure cannot be written.
    """
    request = parse_request(playground)
    subject = read_subject(run)
    choices = choose_networks(subject)
    networks: Playground = {'missing': '', 'networks': [], 'tasks': []}
    if subject.unseen is not None:
        networks = describe_playground(subject, choices, request, report_progress)
    payload = collect(subject, report_progress)
    drawn = pictures.draw_all(
        subject, choices, path.with_name('figures'), report_progress
    )
    payload['playground'] = networks
    payload['figures'] = drawn.sections
    payload['missing'] = drawn.missing
    payload['claims'] = check_claims(run, path)._asdict()
    files.write_text(path, page.render(payload))
