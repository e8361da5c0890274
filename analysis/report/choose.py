"""Which networks the figures of single networks show."""

from typing import NamedTuple

import pandas as pd

from analysis.members.point import Point
from analysis.members.selection import iterate_points
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.report.names import name_network
from analysis.report.subject import Subject
from anchorjax.grid import short_name

TIE_BREAK = 1e-3  # weight of held-out agreement where two members score alike


class Choice(NamedTuple):
    """A network that figures show."""

    title: str  # 'The most inferential network'
    point: Point
    about: str  # which one it is and what it does, in a sentence


def choose_networks(subject: Subject) -> dict[str, Choice]:
    """The most inferential and symmetric network, or the best and the worst.

    By 'inferential', ... or 'best', .... One network is never shown for both.
    """
    if subject.unseen is None:
        return _choose_ends(subject)
    places = {}
    for mapping in UNSEEN_MAPPINGS:
        places[mapping] = _find_most(subject, mapping, places)
    first, second = (places[mapping] for mapping in UNSEEN_MAPPINGS)
    if first == second:
        inferential, symmetric = _score(subject, UNSEEN_MAPPINGS).loc[first]
        del places['symmetric' if inferential >= symmetric else 'inferential']
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
    is_at = members.converged & (members.solution == mapping)
    is_alike = pd.Series(True, members.index)
    for axis in _list_model_axes(subject):
        for place in before.values():
            is_alike &= members[axis] == subject.members.loc[place, axis]
    score = _score(subject, (mapping,)).loc[members.index, mapping]
    ranked = pd.DataFrame({'at': is_at, 'alike': is_alike, 'score': score})
    ranked = ranked.sort_values(
        ['at', 'alike', 'score'], ascending=False, kind='stable'
    )
    return int(ranked.index[0])


def _score(subject: Subject, mappings: tuple[str, ...]) -> pd.DataFrame:
    """Agreement on the unseen pair; ties are broken by that on held-out numbers."""
    members = subject.members
    heldout = 0.0
    if 'seen_heldout assigned' in members:
        heldout = members['seen_heldout assigned'].fillna(0.0)
    scores = {}
    for mapping in mappings:
        scores[mapping] = members[f'unseen {mapping}'] + TIE_BREAK * heldout
    return pd.DataFrame(scores)


def _list_model_axes(subject: Subject) -> list[str]:
    """Short names of the axes that change the architecture."""
    paths = [path for path, _ in subject.run.experiment.loop]
    return [short_name(path) for path in paths if path.startswith('model.')]


def _describe(subject: Subject, mapping: str, place: int) -> str:
    """What it answers, and whether that makes it stand for the solution."""
    member = subject.members.loc[place]
    share = member[f'unseen {mapping}']
    text = f'{share:.2f} of its answers to the unseen pair are {mapping}'
    if not member.converged:
        return f'{text}; it has not converged'
    if member.solution != mapping:
        return f'{text}; as a whole it is called {member.solution}'
    return text


def _choose_ends(subject: Subject) -> dict[str, Choice]:
    """The best and the worst network that counts; one alone is the best."""
    tested = subject.tested
    scores = subject.members[subject.members.counted][tested.name].fillna(0.0)
    if not tested.is_share:
        scores = -scores
    places = {'best': int(scores.idxmax()), 'worst': int(scores.idxmin())}
    if places['best'] == places['worst']:
        del places['worst']
    choices = {}
    for end, place in places.items():
        title = f'The {end} network on “{tested.label}”'
        choices[end] = _make_choice(subject, title, place, '')
    return choices


def _make_choice(subject: Subject, title: str, place: int, about: str) -> Choice:
    points = [point for _, point in iterate_points(subject.run)]
    name = name_network(subject.run, points[place])
    sentence = f'{name}: {about}.' if about else f'{name}.'
    return Choice(title, points[place], sentence)
