"""How many directions every converged member uses, beside the same before training."""

from typing import NamedTuple

import numpy as np

from analysis.members.member import Member, make_untrained, member_of
from analysis.members.point import Point
from analysis.members.selection import collect_labels, iterate_converged
from analysis.spectra.measures import participation_ratio
from analysis.spectra.spectra import covariance_spectrum
from analysis.spectra.used import select_used
from anchorjax.storage.reader import Run


class Directions(NamedTuple):
    """M converged members that have the matrix."""

    points: dict[str, np.ndarray]  # [M] labels along each axis of the sweep
    participation_M: np.ndarray  # of the eigenvalues of one matrix
    untrained_M: np.ndarray  # the same at initialization


def measure_converged(run: Run, step: int | str, path: str) -> Directions:
    """Effective directions of every converged member, at a step."""
    points = []
    participation, untrained_participation = [], []
    for _, point in iterate_converged(run):
        member = member_of(run, step, **point)
        if path not in member.matrices:
            continue
        untrained = make_untrained(member)
        points.append(point)
        participation.append(measure_participation(member, path))
        untrained_participation.append(measure_participation(untrained, path))
    return Directions(
        points=collect_labels(run, points),
        participation_M=np.array(participation),
        untrained_M=np.array(untrained_participation),
    )


def measure_participation(member: Member, path: str) -> float:
    """Participation ratio of the eigenvalues of the rows that see data."""
    W = select_used(member.experiment.task, path, member.matrix(path))
    return participation_ratio(covariance_spectrum(W))


def follow_spectrum(run: Run, path: str, point: Point) -> tuple[np.ndarray, np.ndarray]:
    """(steps of the snapshots [S], spectra there [S, I]) of the rows that see data."""
    steps = run.steps(**point)
    config = run.experiment_of(**point).task
    spectra = []
    for step in steps:
        W = run.parameter(path, step, **point)
        spectra.append(covariance_spectrum(select_used(config, path, W)))
    return np.array(steps), np.stack(spectra)
