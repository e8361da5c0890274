"""The results that claims read: of the sweep, and of the members of each solution."""

from collections.abc import Callable
from typing import Any, NamedTuple

from analysis.members.point import Point, name_point
from analysis.report import figures
from analysis.report.choose import Choice
from analysis.report.claims import CLAIMS, MEMBERS
from analysis.report.member_rows import describe_left_out, list_members
from analysis.report.pictures import Figure
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

Source = tuple[str, str | None]  # (figure, solution of the members; None: the sweep)


class Evidence(NamedTuple):
    """What there is to read, or why there is nothing."""

    results: dict[Source, Any]  # of a solution: a list, not empty
    missing: dict[Source, str]
    left_out: str  # trained members that no verdict counts; '' if none


def collect_evidence(
    run: Run,
    choices: dict[str, Choice],
    drawn: list[Figure],
    report_progress: Callable[[str], None],
) -> Evidence:
    """The results of the figures, and those of the members that are not shown."""
    rows = list_members(run)
    results: dict[Source, Any] = {(MEMBERS, None): rows}
    missing: dict[Source, str] = {}
    for figure in drawn:
        if figure.solution is None:
            _keep_sweep(figure, results, missing)
    for source in list_sources():
        name, solution = source
        if solution is None:
            continue
        choice = choices[solution]
        if choice.members:
            report_progress(f'claims: {name} of {len(choice.members)} {solution}')
        found, why = _compute_members(run, name, choice, solution, drawn)
        if found:
            results[source] = found
        else:
            missing[source] = why
    return Evidence(results, missing, describe_left_out(rows))


def list_sources() -> list[Source]:
    """Every source of a claim once, in the order of the claims."""
    sources = {}
    for claim in CLAIMS:
        for solution in claim.solutions:
            sources[claim.figure, solution] = True
    return list(sources)


def _keep_sweep(
    figure: Figure, results: dict[Source, Any], missing: dict[Source, str]
) -> None:
    source = (figure.module, None)
    if figure.result is None:
        missing[source] = figure.missing or 'no figure'
    else:
        results[source] = figure.result


def _compute_members(
    run: Run, name: str, choice: Choice, solution: str, drawn: list[Figure]
) -> tuple[list[Any], str]:
    """(results of the members at a solution, why there are none)."""
    if not choice.members:
        return [], f'no converged member is {solution}'
    row = next((row for row in figures.MEMBER if row.name == name), None)
    results = []
    why = 'no figure'
    for point in choice.members:
        result = _find_drawn(drawn, name, point)
        if result is None and row is not None:
            try:
                result = row.compute(row.module, run, point, **row.undrawn)
            except UserError as error:
                where = name_point(run, point)
                why = f'{where}: {error}' if where else str(error)
        if result is not None:
            results.append(result)
    return results, why


def _find_drawn(drawn: list[Figure], name: str, point: Point) -> Any:
    """The result of a member's figure that was drawn; None if there is none."""
    for figure in drawn:
        if figure.module == name and figure.point == point:
            return figure.result
    return None
