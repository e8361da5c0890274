"""The labelled cube of a sweep (xarray), read from the curves of its chunks."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from anchorjax import config
from anchorjax.errors import StoreError
from anchorjax.grid import axis_label
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.tasks import Task
from anchorjax.tasks.columns import RECORD_DIMS
from anchorjax.training.curves import (
    curve_coordinates,
    empty_record,
    record_shapes,
)

Labels = dict[str, list[str]]  # along every dim of a record


def read_cube(folder: SweepFolder) -> xr.Dataset:
    """All members along the axes of the grid; NaN for those that are not trained yet.

    Besides the fields of a Record it has fit_loss, in nats: that on training examples,
    of the parameters at a step, where train_loss is a mean over the steps since the
    last record. It is the mean over `Task.trained_eval_sets`; in a task that has none
    of them it is the train loss.

    And for every member: trained; diverged (the first step that was not finite, the
    last one if its parameters then give a loss that is not; -1: none); converged (see
    `has_converged`); environment (index in the manifest of the last one; -1: none);
    environments (how many it was trained in); where members may stop early
    (`train.stop_loss`), steps_taken.

    Cohorts may have different eval sets or groups (another length, other unseen pairs):
    the cube has those of all, with NaN where a member has no such thing.

    Raises:
      StoreError: the curves of a chunk are damaged or belong to another sweep, or the
        folder was moved.
    """
    folder.require_there()
    experiment = folder.experiment
    axes = experiment.axes
    tasks = {name: part.task.make() for name, part in experiment.of_cohorts.items()}
    labels = join_labels(map(curve_coordinates, tasks.values()))
    parts = []
    for chunk in folder.chunks:
        part = _read_chunk(folder, chunk, tasks[chunk.cohort.name])
        parts.append(part.reindex(labels))
    members: Any = xr.concat(parts, 'member')
    shape = tuple(len(values) for values in axes.values())
    variables = {}
    for name, values in members.items():
        cube = values.to_numpy().reshape(*shape, *values.shape[1:])
        variables[name] = ((*axes, *values.dims[1:]), cube)
    coordinates = {}
    for axis, values in axes.items():
        coordinates[axis] = [axis_label(value) for value in values]
    coordinates['step'] = list(experiment.record_steps)
    coordinates |= labels
    attributes = {
        'experiment': json.dumps(config.to_dict(experiment)),
        'source': 'anchorjax',
    }
    return xr.Dataset(variables, coordinates, attributes)


def join_labels(labels_of_cohorts: Iterable[Labels]) -> Labels:
    """The labels of all cohorts along every dim, each once, in order of appearance."""
    joined: dict[str, dict[str, None]] = {}
    for labels in labels_of_cohorts:
        for dim, names in labels.items():
            joined.setdefault(dim, {}).update(dict.fromkeys(names))
    return {dim: list(names) for dim, names in joined.items()}


def _read_chunk(folder: SweepFolder, chunk: Chunk, task: Task) -> xr.Dataset:
    """The members of a chunk without padding, [member, step, ...]; NaN: not trained."""
    size = chunk.num_members
    steps = folder.experiment.record_steps
    limit = folder.experiment.train.converged_loss
    used = []  # indices of environments, in order
    done = chunk.folder.done
    if done:
        curves = chunk.folder.read_curves()
        _require_curves_of(folder, chunk, curves, task)
        is_finite = np.isfinite(curves['eval_set_loss'][-1]).all(-1)
        diverges_last = (curves['diverged'] < 0) & ~is_finite
        curves['diverged'] = np.where(diverges_last, steps[-1], curves['diverged'])
        used = curves['environments'][:, 1].tolist()  # [stretches, (from step, index)]
    else:
        curves = empty_record(task, len(steps), size)._asdict()
        curves['diverged'] = np.full(size, -1)
    last_used = np.int32(used[-1] if used else -1)
    variables: dict[str, Any] = {
        'trained': ('member', np.full(size, done)),
        'diverged': ('member', curves['diverged'][:size]),
        'converged': ('member', has_converged(curves, task, limit)[:size]),
        'fit_loss': (('member', 'step'), measure_fit(curves, task)[:, :size].T),
        'environment': ('member', np.full(size, last_used)),
        'environments': ('member', np.full(size, len(set(used)))),
    }
    if folder.experiment.train.stop_loss:
        taken = curves['steps_taken'] if done else np.zeros(size, np.int32)
        variables['steps_taken'] = ('member', taken[:size])
    for name, dims in RECORD_DIMS.items():
        by_member = np.moveaxis(curves[name][:, :size], 0, 1)
        variables[name] = (('member', 'step', *dims), by_member)
    return xr.Dataset(variables, curve_coordinates(task))


def measure_fit(curves: dict[str, np.ndarray], task: Task) -> np.ndarray:
    """The loss on training examples, of the parameters at each step, [S, M] in nats."""
    places = _find_trained_eval_sets(task)
    if not places:
        return curves['train_loss']
    return curves['eval_set_loss'][..., places].mean(-1)


def has_converged(
    curves: dict[str, np.ndarray], task: Task, limit: float
) -> np.ndarray:
    """Whether members [M] have converged, judged at the last step alone.

    They have not diverged, their loss on training examples is at most the limit, in
    nats, and they give more of the right tokens there than chance would: a task that
    scores nothing has a loss of 0.
    """
    is_low = measure_fit(curves, task)[-1] <= limit  # NaN: False
    places = _find_trained_eval_sets(task)
    if places:
        mapping = task.mapping_names.index(task.trained_mapping)
        right_MP = curves['token_agreement'][-1][:, places, mapping]
        is_low &= right_MP.mean(-1) > 1 / task.vocab
    return is_low & (curves['diverged'] < 0)


def _find_trained_eval_sets(task: Task) -> list[int]:
    names = task.eval_set_names
    return [names.index(name) for name in task.trained_eval_sets if name in names]


def _require_curves_of(
    folder: SweepFolder, chunk: Chunk, curves: dict[str, np.ndarray], task: Task
) -> None:
    """Raises StoreError unless the arrays are the curves of a chunk of this sweep."""
    steps = folder.experiment.record_steps
    expected, found = {}, {}
    for name, shape in record_shapes(task)._asdict().items():
        expected[name] = (len(steps), folder.chunk_size, *shape)
        found[name] = curves[name].shape if name in curves else None
    path = chunk.folder.path / 'curves.npz'
    is_same = found == expected and np.array_equal(curves['steps'], steps)
    if not is_same:
        raise StoreError(
            f'{path}: the curves of another sweep or version; delete it to regenerate '
            'it'
        )
    if curves['environments'][:, 1].max() >= len(folder.environments):
        raise StoreError(
            f'{path}: trained in an environment that the manifest did not list when '
            'this run was opened; open it again'
        )
