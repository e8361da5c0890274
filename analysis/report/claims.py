"""What this run says to the claims of its paper, and what larger runs have said.

A claim about this run, by its folder's name, is a sentence if its networks give a
number. The verdicts of all claims, as they are kept in the gallery, are in the page,
too: a page that is mailed has no other place to link to.
"""

from types import ModuleType
from typing import Any

from analysis import claim_words, claims, papers
from analysis.tables.text import list_records
from anchorjax.errors import describe_failure
from anchorjax.storage.reader import Run

MOST_RUNS = 12  # that the command names one by one


def check_claims(run: Run) -> dict[str, Any]:
    """The claims of the paper about this run's task, as claims.html takes them."""
    paper, package = _find_package(run)
    if package is None:
        return {'paper': paper, 'total': 0, 'rows': []}
    named = claims.find_named(package, run)
    rows, failure = [], ''
    if named:
        try:
            rows = _list_rows(named, package, run)
        except Exception as error:  # of any kind: the rest of the page is written
            failure = describe_failure(error)
    return {
        'paper': papers.find_paper(paper).title,
        'introduction': package.INTRODUCTION,
        'rows': rows,
        'total': len(package.CLAIMS),
        'named': len(named),
        'failure': failure,
        'command': _write_command(paper, package),
        'kept': _list_kept(paper),
    }


def _find_package(run: Run) -> tuple[str, ModuleType | None]:
    """(paper, its claims): the first about the task, unless another names the run.

    (task, None) of a task about which none are checked.
    """
    task = run.experiment.task.name
    packages = {}
    for paper in papers.list_papers_of(task):
        packages[paper] = papers.import_claims(paper)
        if claims.find_named(packages[paper], run):
            return paper, packages[paper]
    return next(iter(packages.items()), (task.replace('_', ' '), None))


def _list_rows(
    named: list[claims.Claim], package: ModuleType, run: Run
) -> list[dict[str, Any]]:
    """The claims that this run has a number for, as texts: those of the terminal.

    `seeds_needed`: for a verdict, if there are fewer; else 0.
    """
    table = claims.tabulate_run(package, run)
    words = list_records(claim_words.write_words(table))
    rows = []
    for claim, n, row in zip(named, table.n, words, strict=True):
        needed = claim.day.seeds if claim.day is not None else 0
        if n:
            rows.append(row | {'seeds_needed': needed if n < needed else 0})
    return rows


def _list_kept(paper: str) -> list[dict[str, Any]]:
    """All claims of a paper as the gallery keeps them, as texts.

    None in an installed package, which has no gallery.
    """
    path = papers.GALLERY / paper / 'verdicts.csv'
    if not path.exists():
        return []
    return list_records(claim_words.write_words(claims.read_table(path)))


def _write_command(paper: str, package: ModuleType) -> str:
    """The command that decides all claims of a package, with the runs they name."""
    runs = {}  # an ordered set
    for claim in package.CLAIMS:
        for run in claim.runs:
            runs[f'runs/{run}'] = claim
    words = ' '.join(runs)
    start = min(runs, key=len)
    if len(runs) > MOST_RUNS and all(run.startswith(start) for run in runs):
        words = f"'{start}*'"
    return f'python -m analysis claims {paper} --runs {words} --out FOLDER'
