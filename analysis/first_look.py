"""What a sweep shows when it is trained: numbers, claims, and two figures."""

import pathlib
from collections.abc import Mapping

from analysis import claim_words, claims, papers
from analysis.drawing import style
from analysis.figure import compute, name_module
from analysis.frame import find_usable, name_agreements
from analysis.p1 import answers, phase
from anchorjax.errors import UserError, describe_failure
from anchorjax.storage.reader import Run

_MOST_TABLE_ROWS = 40
SEEDS = 'grid.seed'  # other seeds are what a claim is about, too


def show_run(
    run: Run, folder: pathlib.Path, overrides: Mapping[str, str]
) -> list[pathlib.Path]:
    """Prints the table of members and the claims; then draws, and prints the paths.

    The numbers come first: a picture may fail.

    Args:
      folder: of the figures.
      overrides: as in `describe_claims`.

    Raises:
      UserError: as `save_figures`.
    """
    print(summarize_members(run))
    for line in describe_claims(run, overrides):
        print(line)
    paths = save_figures(run, folder)
    pictures = [str(path) for path in paths if path.suffix == '.png']
    if pictures:
        print(f'drawn, each beside its numbers: {", ".join(pictures)}')
    print(f'all figures in a page: python launch/report.py --run {run.folder.workdir}')
    return paths


def summarize_members(run: Run) -> str:
    """The table of trained members: point, loss, agreements, converged, solution."""
    table = run.members
    names = {'train_loss': 'loss', 'train_perplexity': 'perplexity'}
    names |= name_agreements(run) | {'converged': 'converged', 'solution': 'solution'}
    axes = [axis for axis, values in run.experiment.axes.items() if len(values) > 1]
    shown = [column for column in names if column in table]
    trained = table[table.trained]
    if not len(trained):
        return 'no member is trained yet'
    rows = trained[[*axes, *shown]].rename(columns=names).head(_MOST_TABLE_ROWS)
    text = rows.to_string(index=False, float_format='{:.4g}'.format)
    num_hidden = len(trained) - _MOST_TABLE_ROWS
    if num_hidden > 0:
        text += f'\n... and {num_hidden} more in members.csv'
    num_diverged = int((trained.diverged >= 0).sum())
    if num_diverged:
        text += (
            f'\n{num_diverged} members diverged '
            '(column diverged of members.csv: the step)'
        )
    return text


def save_figures(run: Run, folder: pathlib.Path) -> list[pathlib.Path]:
    """Draws `answers` and `phase`, if the sweep has what they show.

    Raises:
      UserError: one of them cannot be drawn; the line has the error. The other one is.
    """
    paths, failed = [], {}
    if not len(find_usable(run.members)):
        return paths
    for module in (answers, phase):
        name = name_module(module)
        try:
            result = compute(module, run, {})
        except UserError:  # it has nothing to show of this sweep
            continue
        try:
            path = folder / name
            paths += style.write_figure(result, module.draw, module.layout, path)
        except Exception as error:  # Matplotlib raises many kinds
            failed[name] = error
    if failed:
        causes = [f'{name} ({describe_failure(e)})' for name, e in failed.items()]
        raise UserError(
            f'cannot draw {", ".join(causes)}; all else is done, and python '
            f'launch/finalize.py --run {run.folder.workdir} draws again'
        ) from next(iter(failed.values()))
    return paths


def describe_claims(run: Run, overrides: Mapping[str, str]) -> list[str]:
    """A text for every claim about a run of this name that it has networks for.

    Where some of them have a rule that judges, the others are for the report alone.

    Args:
      overrides: values of fields that the command line set. A claim knows a run by
        its name alone, so a line before the claims says what is not the config's.
    """
    lines = []
    if not len(find_usable(run.members)):
        return lines
    for package in map(papers.import_claims, papers.NAMES):
        if not claims.find_named(package, run):
            continue
        try:
            table = claims.tabulate_run(package, run)
        except UserError as error:  # of another task than theirs, say: it is trained
            lines.append(f'no claims: {error}')
            continue
        known = table[table.n > 0]
        judged = known[known.rule != '']
        lines += claim_words.list_lines(judged if len(judged) else known)
    others = [f'{path}={text}' for path, text in overrides.items() if path != SEEDS]
    if lines and others:
        named = f'claims about runs named {claims.name_run(run)}'
        lines.insert(0, f'{named}; here with {", ".join(others)}')
    return lines
