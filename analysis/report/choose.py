"""Which networks the figures of single networks show, and which can be asked."""

from typing import NamedTuple

import pandas as pd

from analysis.members.point import Point
from analysis.members.selection import rank_towards
from analysis.names import name_network
from analysis.report.subject import Subject
from anchorjax.grid import short_name
from anchorjax.tasks.solution import SOLUTIONS, UNSEEN_MAPPINGS, classify_members


class Choice(NamedTuple):
    """A network that figures show."""

    title: str  # 'The most composed network'
    point: Point
    about: str  # which one it is and what it does, in a sentence


def choose_networks(subject: Subject) -> dict[str, Choice]:
    """The most composed and symmetric network, or the best and the worst.

    By 'composed', ... or 'best', .... One network is never shown for both.
    """
    if subject.unseen is None:
        return _choose_ends(subject)
    places = {}
    for mapping in UNSEEN_MAPPINGS:
        places[mapping] = _find_most(subject, mapping, places)
    place = places['composed']
    if place == places['symmetric']:
        member = subject.members.loc[place]
        is_composed = member.unseen_composed >= member.unseen_symmetric
        del places['symmetric' if is_composed else 'composed']
    choices = {}
    for mapping, place in places.items():
        title = f'The most {mapping} network'
        about = _describe(subject, mapping, place)
        choices[mapping] = _make_choice(subject, title, place, about)
    return choices


def _find_most(subject: Subject, mapping: str, before: dict[str, int]) -> int:
    """The number of the network that stands for a solution.

    Networks that have converged at the solution come first, then those of the same
    architecture as the networks chosen before, which can be compared with them.
    """
    members = subject.members[subject.members.usable]
    is_alike = pd.Series(True, members.index)
    for path, _ in subject.run.experiment.static_axes:
        axis = short_name(path)
        for place in before.values():
            if path.startswith('model.'):
                is_alike &= members[axis] == members.loc[place, axis]
    ranked = rank_towards(members, mapping).assign(alike=is_alike)
    ranked = ranked.sort_values(
        ['at', 'alike', 'score'], ascending=False, kind='stable'
    )
    return int(ranked.index[0])


def _describe(subject: Subject, mapping: str, place: int) -> str:
    """What it answers, and whether that makes it stand for the solution."""
    member = subject.members.loc[place].to_dict()
    share = member[f'unseen_{mapping}']
    text = f': {share:.2f} of its answers to the unseen pair are {mapping}'
    if not member['converged']:
        return f'{text}; it has not converged'
    if member['solution'] != mapping:
        return f'{text}; as a whole it is called {member["solution"]}'
    return text


def _choose_ends(subject: Subject) -> dict[str, Choice]:
    """The best and the worst network of `find_candidates`; one alone is the best."""
    tested = subject.tested
    scores = find_candidates(subject.members)[tested.name].fillna(0.0)
    if not tested.is_share:
        scores = -scores
    ends = {'best': scores.argmax(), 'worst': scores.argmin()}
    places = {end: int(scores.index[int(i)]) for end, i in ends.items()}
    if places['best'] == places['worst']:
        del places['worst']
    choices = {}
    for end, place in places.items():
        title = f'The {end} network on “{tested.label}”'
        choices[end] = _make_choice(subject, title, place, '')
    return choices


def find_candidates(members: pd.DataFrame) -> pd.DataFrame:
    """The converged members, or where none is, all that did not diverge."""
    return members[members.converged if members.converged.any() else members.usable]


def _make_choice(subject: Subject, title: str, place: int, about: str) -> Choice:
    point = subject.points[place]
    name = name_network(subject.run, point)
    return Choice(title, point, f'{name}{about}.')


def choose_one_of_each(subject: Subject, choices: dict[str, Choice]) -> list[Point]:
    """A candidate of every solution found, in the order of SOLUTIONS.

    It is the one that the figures show, or else one at another γ that differs least
    from those already chosen.
    """
    members = find_candidates(subject.members)
    solutions = classify_members(members)
    chosen: list[Point] = []
    for solution in SOLUTIONS:
        candidates = []
        for place in members.index[solutions == solution]:
            point = subject.points[place]
            is_shown = solution in choices and choices[solution].point == point
            candidates.append((is_shown, *_score(point, chosen), -place))
        if candidates:
            *_, place = max(candidates)
            chosen.append(subject.points[-place])
    return chosen


def _score(point: Point, chosen: list[Point]) -> tuple[bool, int]:
    """(whether its γ is new, in how many values it agrees with the others)."""
    is_new = True
    shared = 0
    for other in chosen:
        is_new &= other['gamma'] != point['gamma']
        for axis, value in point.items():
            shared += other[axis] == value
    return is_new, shared
