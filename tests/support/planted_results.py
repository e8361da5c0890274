"""Planted results in place of what a sweep has measured: nothing is trained."""

import pathlib
from typing import Any

import numpy as np
import xarray as xr

from analysis.members.point import list_points
from anchorjax import config
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import opened

CONVERGED_LOSS = 0.001
RECORDED = ('eval_set_loss', 'agreement', 'token_agreement', 'agreement_by_group')


def plant_curves(folder: pathlib.Path, experiment: config.Experiment) -> Run:
    """A run whose members score at random and have all converged."""
    create_folder(folder, experiment, describe_environment(experiment, make_mesh(1)))
    run = open_run(folder)
    curves = run.curves.copy(deep=True)
    random = np.random.default_rng(0)
    for name in RECORDED:
        curves[name][:] = random.uniform(size=curves[name].shape)
    for name in ('train_loss', 'fit_loss'):
        curves[name][:] = CONVERGED_LOSS
    curves['trained'][:] = curves['converged'][:] = True
    curves['diverged'][:] = -1
    vars(run)['curves'] = curves  # where functools.cached_property keeps it
    return run


def open_planted(
    workdir: pathlib.Path, answers: dict[tuple[Any, ...], dict], **changes: Any
) -> Run:
    """A run whose members answer as planted; `changes` are those of `opened`.

    Args:
      answers: by the values of the axes with several values, in their order, the
        arguments of `plant_member`; a member that is not named is not trained.
    """
    opened(workdir, **changes)
    run = open_run(workdir)
    results = run.results.copy(deep=True)
    axes = run.experiment.axes
    for point in list_points(run):
        varying = [point[axis] for axis in axes if len(axes[axis]) > 1]
        planted = answers.get(tuple(varying))
        if planted is not None:
            place = {axis: axes[axis].index(value) for axis, value in point.items()}
            plant_member(results, place, **planted)
    vars(run)['results'] = results  # where functools.cached_property keeps it
    return run


def plant_member(
    results: xr.Dataset,
    place: dict[str, int],
    composed: float = 0.0,
    symmetric: float = 0.0,
    heldout: float = 1.0,
    train_loss: float = CONVERGED_LOSS,
    diverged: int = -1,
) -> None:
    """Sets the results of the member at a place along the axes."""
    scores = {'composed': composed, 'symmetric': symmetric}
    scores['assigned'] = composed
    results['trained'][place] = True
    results['diverged'][place] = diverged
    results['train_loss'][place] = results['fit_loss'][place] = train_loss
    results['converged'][place] = diverged < 0 and train_loss <= 0.02
    member = results['agreement'][place]
    by_group = results['agreement_by_group'][place]
    for mapping, score in scores.items():
        unseen = {'eval_set': 'unseen', 'mapping': mapping}
        member.loc[unseen] = score
        by_group.loc[unseen] = score
    member.loc[{'eval_set': 'seen_heldout', 'mapping': 'assigned'}] = heldout
    results['deviation'][place] = 0.0


def mark_converged(run: Run, is_converged: xr.DataArray | bool = True) -> Run:
    """The same run, read again, in which all or some members have converged."""
    marked = Run(run.folder)
    results = run.results.copy(deep=True)
    flags = xr.full_like(results.trained, True) & is_converged
    converged = flags.transpose(*results.trained.dims)
    # Where functools.cached_property keeps it.
    vars(marked)['results'] = results.assign(converged=converged)
    return marked
