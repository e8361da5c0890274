"""One member for each solution that the sweep found, all fit for the same questions."""

from typing import Any

from analysis.members.point import Point
from analysis.members.selection import iterate_points
from analysis.members.solution import SOLUTIONS
from analysis.report.choose import Choice
from analysis.report.subject import Subject
from anchorjax.tasks.anchors import AnchorsConfig


def choose_one_of_each(subject: Subject, choices: dict[str, Choice]) -> list[Point]:
    """A converged member of every solution found, in the order of SOLUTIONS.

    The member is the one that the figures show, or else one at another γ that differs
    least from those already chosen. In a sweep without a converged member, all count.
    """
    solutions = subject.members.solution
    members: dict[str, list[Point]] = {name: [] for name in SOLUTIONS}
    for number, (_, point) in enumerate(iterate_points(subject.run)):
        if subject.members.counted[number]:
            members[solutions[number]].append(point)
    chosen: list[Point] = []
    for solution, points in members.items():
        if points:
            chosen.append(_choose(points, choices.get(solution), chosen))
    return chosen


def _choose(points: list[Point], choice: Choice | None, chosen: list[Point]) -> Point:
    """The shown member, or one at another γ that shares most of the other values."""
    if choice is not None and choice.point in points:
        return choice.point
    best = points[0]
    for point in points:
        if _score(point, chosen) > _score(best, chosen):
            best = point
    return best


def _score(point: Point, chosen: list[Point]) -> tuple[bool, int]:
    """(whether its γ is new, in how many values it agrees with the others)."""
    is_new = all(other['gamma'] != point['gamma'] for other in chosen)
    shared = 0
    for other in chosen:
        for axis, value in point.items():
            shared += other[axis] == value
    return is_new, shared


def list_question(task: AnchorsConfig) -> tuple[Any, ...]:
    """What two tasks must share so that one sequence can be put to both."""
    return (task.seq_len, task.keys, task.order, task.last_token)
