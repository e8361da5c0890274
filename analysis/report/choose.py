"""Which members stand for a solution: those that figures show and claims read."""

from typing import NamedTuple

import numpy as np

from analysis.members.point import Point
from analysis.members.selection import Index, find_usable
from analysis.members.solution import UNSEEN_MAPPINGS, find_solutions
from anchorjax.errors import UserError
from anchorjax.grid import short_name
from anchorjax.storage.reader import Run
from anchorjax.task import TaskConfig
from anchorjax.tasks import anchors

MOST = 5  # members of a solution that claims read
TIE_BREAK = 1e-3  # weight of held-out agreement where two members score alike


class Choice(NamedTuple):
    """The members that stand for one solution."""

    shown: Point | None  # in the figures; None: see `about`
    about: str  # what the shown member is, or why there is none
    members: list[Point]  # converged and at the solution; the shown one is the first


class Members(NamedTuple):
    """What is known of every member, along the axes of the sweep."""

    is_usable: np.ndarray  # trained and not diverged
    is_converged: np.ndarray
    solution: np.ndarray  # names
    train_loss: np.ndarray
    agreement: dict[str, np.ndarray]  # on the unseen pair, by mapping
    heldout: np.ndarray


def choose_members(run: Run) -> dict[str, Choice]:
    """The members that stand for each of UNSEEN_MAPPINGS, all of one architecture.

    Its `members` are converged and at the solution, one of a seed, so that intervals
    are over independent networks, and at most MOST. The figures show the first. Without
    such a member they show the one with the highest agreement, and `about` says that it
    is no solution. One network is never shown for both.

    Raises:
      UserError: no member is trained yet, or the task is not the anchor task with an
        unseen pair.
    """
    _require_unseen_pair(run)
    known = _read_members(run)
    if not known.is_usable.any():
        where = run.folder.workdir
        raise UserError(f'{where}: no member is trained yet, or all have diverged')
    is_here = _choose_architecture(run, known)
    choices = {}
    places = {}
    for mapping in UNSEEN_MAPPINGS:
        ranked = _rank(known, mapping, _is_at(known, mapping) & is_here)
        members = _take_best_of_seeds(run, ranked)
        if not ranked:
            ranked = _rank(known, mapping, known.is_usable & is_here)
        places[mapping] = ranked[0]
        points = [_point_at(run, index) for index in members]
        about = _describe(known, mapping, ranked[0])
        choices[mapping] = Choice(_point_at(run, ranked[0]), about, points)
    first, second = UNSEEN_MAPPINGS
    if places[first] == places[second]:
        place = places[first]
        scores = [known.agreement[mapping][place] for mapping in UNSEEN_MAPPINGS]
        hidden, kept = (second, first) if scores[0] >= scores[1] else (first, second)
        about = f'none: the most {hidden} member is the most {kept} one'
        choices[hidden] = Choice(None, about, choices[hidden].members)
    return choices


def explain_unconverged(train_loss: float) -> str:
    """'not converged (train loss 0.31)'."""
    return f'not converged (train loss {train_loss:.2g})'


def has_unseen_pair(task: TaskConfig) -> bool:
    """Whether it is the anchor task with a pair that is never trained."""
    return isinstance(task, anchors.AnchorsConfig) and bool(task.unseen_pairs)


def _require_unseen_pair(run: Run) -> None:
    workdir = run.folder.workdir
    task = run.experiment.task
    if not isinstance(task, anchors.AnchorsConfig):
        raise UserError(f'{workdir}: task {task.name!r}: only anchors have solutions')
    if not task.unseen_pairs:
        raise UserError(f'{workdir}: task.unseen = (): a solution needs an unseen pair')


def _read_members(run: Run) -> Members:
    """In NumPy: xarray takes an array with an axis called `keys` for a dict."""
    results = run.results
    unseen = results.agreement.sel(probe='unseen')
    agreement = {}
    for mapping in UNSEEN_MAPPINGS:
        agreement[mapping] = unseen.sel(mapping=mapping).values
    heldout = results.agreement.sel(probe='seen_heldout', mapping='assigned')
    return Members(
        is_usable=find_usable(run).values,
        is_converged=results.converged.values,
        solution=find_solutions(results).values,
        train_loss=results.train_loss.values,
        agreement=agreement,
        heldout=np.nan_to_num(heldout.values),
    )


def _is_at(known: Members, mapping: str) -> np.ndarray:
    return known.is_converged & (known.solution == mapping)


def _choose_architecture(run: Run, known: Members) -> np.ndarray:
    """Mask of the members of the model with most members at the solutions.

    Many of both count more than many of one. Without any, the model of the most
    inferential member. Members may differ in their task: an axis of the task may be
    what decides the solution.
    """
    # Axes of the model are indexed, all others are whole.
    sizes = []
    for axis, size in zip(run.experiment.axes, known.is_usable.shape, strict=True):
        sizes.append(size if axis in _list_model_axes(run) else 1)
    most = (0, 0)
    best = _rank(known, 'inferential', known.is_usable)[0]
    for index in np.ndindex(*sizes):
        here = _select(index, sizes)
        counts = []
        for mapping in UNSEEN_MAPPINGS:
            counts.append(int(_is_at(known, mapping)[here].sum()))
        score = (min(*counts, MOST), sum(counts))
        if score > most:
            most = score
            best = index
    is_here = np.zeros(known.is_usable.shape, bool)
    is_here[_select(best, sizes)] = True
    return is_here


def _list_model_axes(run: Run) -> list[str]:
    """Short names of the axes that change the architecture."""
    paths = [path for path, _ in run.experiment.loop]
    return [short_name(path) for path in paths if path.startswith('model.')]


def _select(index: Index, sizes: list[int]) -> tuple[int | slice, ...]:
    """The index along axes of several values, everything along the others."""
    selection = []
    for i, size in zip(index, sizes, strict=True):
        selection.append(i if size > 1 else slice(None))
    return tuple(selection)


def _rank(known: Members, mapping: str, is_candidate: np.ndarray) -> list[Index]:
    """Indices of the candidates, the one that agrees most with the mapping first."""
    score = known.agreement[mapping] + TIE_BREAK * known.heldout
    candidates = np.argwhere(is_candidate)
    order = np.argsort(-score[is_candidate], kind='stable')
    return [tuple(index) for index in candidates[order].tolist()]


def _take_best_of_seeds(run: Run, ranked: list[Index]) -> list[Index]:
    """The best of every seed, the best seed first, and at most MOST of them."""
    axis = list(run.experiment.axes).index('seed')
    best = {}
    for index in ranked:
        best.setdefault(index[axis], index)
    return list(best.values())[:MOST]


def _describe(known: Members, mapping: str, index: Index) -> str:
    """'inferential: 0.97', 'most inferential member: 0.41, not a solution (other)'."""
    score = known.agreement[mapping][index]
    solution = known.solution[index]
    if not known.is_converged[index]:
        reason = explain_unconverged(known.train_loss[index])
        return f'most {mapping} member: {score:.2f}, {reason}'
    if solution != mapping:
        return f'most {mapping} member: {score:.2f}, not a solution ({solution})'
    return f'{mapping}: {score:.2f} on the unseen pair'


def _point_at(run: Run, index: Index) -> Point:
    """The point of the member at an index along the axes."""
    point = {}
    for (axis, values), i in zip(run.experiment.axes.items(), index, strict=True):
        point[axis] = values[i]
    return point
