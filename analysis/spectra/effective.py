"""How many directions every converged member uses, beside the same before training."""

import numpy as np
import pandas as pd

from analysis.members.member import Member, make_untrained, member_of
from analysis.members.point import Point
from analysis.members.selection import iterate_converged
from analysis.spectra.measures import participation_ratio
from analysis.spectra.spectra import covariance_spectrum
from analysis.spectra.used import select_used
from anchorjax.storage.reader import Run


def measure_converged(run: Run, step: int | str, path: str) -> pd.DataFrame:
    """A row per converged member that has the matrix: its labels along the axes.

    `participation` is its effective number of directions at a step, of the eigenvalues
    of the matrix; `untrained` the same at initialization.
    """
    rows = []
    for _, point in iterate_converged(run):
        member = member_of(run, step, **point)
        if path in member.matrices:
            row = {
                **run.labels(**point),
                'participation': measure_participation(member, path),
                'untrained': measure_participation(make_untrained(member), path),
            }
            rows.append(row)
    columns = [*run.experiment.axes, 'participation', 'untrained']
    return pd.DataFrame(rows, columns=columns)


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
