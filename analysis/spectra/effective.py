"""How many directions every converged member uses, beside the same before training."""

from typing import NamedTuple

import numpy as np

from analysis.members.member import Member, member_of
from analysis.members.point import Point
from analysis.members.selection import collect_labels, iterate_converged
from analysis.members.untrained import make_untrained
from analysis.spectra.measures import participation_ratio
from analysis.spectra.spectra import covariance_spectrum, find_rises, singular_values
from analysis.spectra.used import select_used
from anchorjax.storage.reader import Run


class Directions(NamedTuple):
    """M converged members that have the matrix."""

    members: list[Point]
    points: dict[str, np.ndarray]  # [M] labels along each axis of the sweep
    participation_M: np.ndarray  # of the eigenvalues of one matrix
    untrained_M: np.ndarray  # the same at initialization
    rank_share_M: np.ndarray  # see `average_rank_shares`
    untrained_rank_share_M: np.ndarray


def measure_converged(run: Run, step: int | str, path: str) -> Directions:
    """Effective directions of every converged member, at a step."""
    points = []
    participation, untrained_participation = [], []
    rank_shares, untrained_rank_shares = [], []
    for _, point in iterate_converged(run):
        member = member_of(run, step, **point)
        if path not in member.matrices:
            continue
        untrained = make_untrained(member)
        points.append(point)
        participation.append(measure_participation(member, path))
        untrained_participation.append(measure_participation(untrained, path))
        rank_shares.append(average_rank_shares(member))
        untrained_rank_shares.append(average_rank_shares(untrained))
    return Directions(
        members=points,
        points=collect_labels(run, points),
        participation_M=np.array(participation),
        untrained_M=np.array(untrained_participation),
        rank_share_M=np.array(rank_shares),
        untrained_rank_share_M=np.array(untrained_rank_shares),
    )


def measure_participation(member: Member, path: str) -> float:
    """Participation ratio of the eigenvalues of the rows that see data."""
    W = select_used(member.experiment.task, path, member.matrix(path))
    return participation_ratio(covariance_spectrum(W))


def average_rank_shares(member: Member) -> float:
    """Participation ratio of the singular values as a share of the full rank.

    Mean over all matrices of the member, of each the part that sees data.
    """
    shares = []
    for path, W in member.matrices.items():
        used = select_used(member.experiment.task, path, W)
        values = singular_values(used)
        shares.append(participation_ratio(values) / len(values))
    return float(np.mean(shares))


def find_rises_of_members(
    run: Run, path: str, points: list[Point], leading: int
) -> np.ndarray:
    """`spectra.find_rises` of the leading eigenvalues of members, [K, I].

    A row of NaN for a member with fewer than three snapshots: in two every value rises
    at the same step.
    """
    if not points:
        return np.zeros((0, leading))
    rises = []
    for point in points:
        steps_S, spectra_SI = follow_spectrum(run, path, point)
        rises_I = find_rises(steps_S, spectra_SI[:, :leading])
        if len(steps_S) < 3:
            rises_I = np.full_like(rises_I, np.nan)
        rises.append(rises_I)
    return np.stack(rises)


def follow_spectrum(run: Run, path: str, point: Point) -> tuple[np.ndarray, np.ndarray]:
    """(steps of the snapshots [S], spectra there [S, I]) of the rows that see data."""
    steps = run.steps(**point)
    config = run.experiment_of(**point).task
    spectra = []
    for step in steps:
        W = run.parameter(path, step, **point)
        spectra.append(covariance_spectrum(select_used(config, path, W)))
    return np.array(steps), np.stack(spectra)
