"""What came out of a sweep, in words and counts, and how sure that is."""

from typing import Any, NamedTuple

from analysis.members.point import Point
from analysis.members.selection import iterate_converged
from analysis.members.solution import SOLUTIONS, find_solutions
from analysis.old_claims import verdicts
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

# What a network of each solution does, for a reader who knows none of the names.
MEANINGS = {
    'inferential': 'compose the two anchors',
    'symmetric': 'answer as for the reversed pair',
    'half and half': 'do one or the other, by the position of x',
    'third': 'give one other answer',
    'memorizing': 'miss trained pairs with numbers that were held out',
    'other': 'give several answers',
}


class Row(NamedTuple):
    """How many converged networks ended at a solution."""

    solution: str
    style: str  # CSS class of its colour
    meaning: str
    total: int
    counts: list[int]  # one for every column of the table


class Ends(NamedTuple):
    """The converged members: where they stand, and the solution of each."""

    points: list[Point]
    solutions: list[str]


def describe_outcome(run: Run, claims: list[dict[str, str]]) -> dict[str, Any]:
    """The first screen of the page: counts by solution and setting, and certainty."""
    axes = _list_shown_axes(run)
    ends = _find_ends(run)
    rows = []
    for solution in SOLUTIONS:
        row = _count(solution, ends, axes)
        if row.total:
            rows.append(row._asdict())
    headings = []
    for axis, values in axes.items():
        name = 'γ' if axis == 'gamma' else axis.replace('_', ' ')
        headings.append((name, [axis_label(value) for value in values]))
    return {
        'headings': headings,
        'trained': int(run.results.trained.sum()),
        'converged': len(ends.points),
        'rows': rows,
        'sure': _describe_certainty(run, ends, claims),
    }


def _count(solution: str, ends: Ends, axes: dict[str, tuple]) -> Row:
    """How many networks ended at a solution: all, and by each value of each axis."""
    points = []
    for point, name in zip(ends.points, ends.solutions, strict=True):
        if name == solution:
            points.append(point)
    counts = []
    for axis, values in axes.items():
        of_axis = [point[axis] for point in points]
        counts += map(of_axis.count, values)
    style = solution.replace(' ', '-')
    return Row(solution, style, MEANINGS[solution], len(points), counts)


def _list_shown_axes(run: Run) -> dict[str, tuple]:
    """γ first, then the other axes that vary; the seed is chance, not a setting."""
    axes = {'gamma': run.experiment.axes['gamma']}
    for axis, values in run.experiment.axes.items():
        if axis not in ('gamma', 'seed') and len(values) > 1:
            axes[axis] = values
    return axes


def _find_ends(run: Run) -> Ends:
    solutions = find_solutions(run.results).values
    ends = Ends([], [])
    for index, point in iterate_converged(run):
        ends.points.append(point)
        ends.solutions.append(str(solutions[index]))
    return ends


def _describe_certainty(
    run: Run, ends: Ends, claims: list[dict[str, str]]
) -> list[str]:
    """Sentences: seeds and whether they agree, what converged means, the claims."""
    settings: dict[tuple[Any, ...], list[str]] = {}
    for point, solution in zip(ends.points, ends.solutions, strict=True):
        setting = tuple(value for axis, value in point.items() if axis != 'seed')
        settings.setdefault(setting, []).append(solution)
    sentences = []
    seeds = len(run.experiment.axes['seed'])
    several = [names for names in settings.values() if len(names) > 1]
    if several:
        agreeing = sum(len(set(names)) == 1 for names in several)
        sentences.append(
            f'Each setting has {seeds} seeds (random starts). In {agreeing} of the '
            f'{len(several)} settings with several converged seeds, all of them end '
            'at the same solution.'
        )
    else:
        sentences.append(
            'No setting has two converged seeds (random starts), so nothing here says '
            'how much a result depends on chance.'
        )
    limit = run.experiment.train.converged_loss
    sentences.append(
        f'Converged means a training loss of at most {limit:g}; networks that did not '
        'get there are left out of all counts.'
    )
    if claims:
        tally = verdicts.count_verdicts([claim['verdict'] for claim in claims])
        sentences.append(f'Of what the papers claim, on these networks: {tally}.')
    return sentences
