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
from anchorjax.training.curves import RECORD_DIMS, Record, curve_coordinates

Labels = dict[str, list[str]]  # along every dim of a record


def read_cube(folder: SweepFolder) -> xr.Dataset:
    """All members along the axes of the grid; NaN for those that are not trained yet.

    Besides the fields of a Record it has, for every member: trained; diverged (the
    first step that was not finite; -1: none); converged (trained, not diverged, and the
    last train loss is at most `train.converged_loss`); environment (index in the
    manifest of the last one; -1: none); environments (how many it was trained in).

    Cohorts may have different probes or groups (another length, other unseen pairs):
    the cube has those of all, with NaN where a member has no such thing.

    Raises:
      StoreError: the curves of a chunk are damaged or belong to another sweep.
    """
    experiment = folder.experiment
    axes = experiment.axes
    shape = tuple(len(values) for values in axes.values())

    labels_of = {}  # of each cohort, {dim: labels}
    empty_of = {}  # of each cohort, the arrays of an untrained member
    for cohort in experiment.cohorts():
        task = experiment.for_cohort(cohort).task.make()
        labels_of[cohort.name] = curve_coordinates(task)
        empty_of[cohort.name] = _untrained_member(experiment, labels_of[cohort.name])
    labels = join_labels(labels_of.values())
    members = {}
    for chunk in folder.chunks:
        own_labels = labels_of[chunk.cohort.name]
        empty = empty_of[chunk.cohort.name]
        for name, values in _read_chunk(folder, chunk, empty).items():
            spread = _spread(name, values, own_labels, labels)
            members.setdefault(name, []).append(spread)

    variables = {}
    for name, parts in members.items():
        values = np.concatenate(parts)
        dims = ()
        if name in RECORD_DIMS:
            dims = ('step', *RECORD_DIMS[name])
        cube = values.reshape(*shape, *values.shape[1:])
        variables[name] = ((*axes, *dims), cube)

    last_loss = variables['train_loss'][1][..., -1]
    is_finite = variables['diverged'][1] < 0
    converged = is_finite & (last_loss <= experiment.train.converged_loss)  # NaN: False
    variables['converged'] = (tuple(axes), converged)

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


def _spread(
    name: str, values: np.ndarray, own_labels: Labels, labels: Labels
) -> np.ndarray:
    """The values of a chunk, [members, step, ...], at their places among all labels."""
    dims = RECORD_DIMS.get(name, ())
    if all(own_labels[dim] == labels[dim] for dim in dims):
        return values
    places = [np.arange(size) for size in values.shape[:2]]
    shape = list(values.shape[:2])
    for dim in dims:
        indices = [labels[dim].index(label) for label in own_labels[dim]]
        places.append(np.array(indices, int))  # a cohort may have no labels at all
        shape.append(len(labels[dim]))
    spread = np.full(shape, np.nan, values.dtype)
    spread[np.ix_(*places)] = values
    return spread


def _untrained_member(
    experiment: config.Experiment, labels: Labels
) -> dict[str, np.ndarray]:
    """The arrays of one member that is not trained yet."""
    rows = len(experiment.record_steps)
    arrays: dict[str, Any] = {}
    for name, dims in RECORD_DIMS.items():
        shape = [len(labels[dim]) for dim in dims]
        arrays[name] = np.full((rows, *shape), np.nan, np.float32)
    arrays['trained'] = np.array(False)
    arrays['environment'] = np.array(-1)
    arrays['environments'] = np.array(0)
    arrays['diverged'] = np.array(-1)
    return arrays


def _read_chunk(
    folder: SweepFolder, chunk: Chunk, empty: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Arrays [members, ...] of a chunk, without padding."""
    size = chunk.num_members
    if not chunk.folder.done:
        untrained = {}
        for name, values in empty.items():
            untrained[name] = np.broadcast_to(values, (size, *values.shape))
        return untrained
    curves = chunk.folder.read_curves()
    _require_curves_of(folder, chunk, curves, empty)
    arrays = {}
    for name in Record._fields:
        arrays[name] = np.moveaxis(curves[name][:, :size], 0, 1)
    history = curves['environments']  # [stretches, (from step, index)]
    arrays['trained'] = np.full(size, True)
    arrays['environment'] = np.full(size, history[-1, 1])
    arrays['environments'] = np.full(size, len(np.unique(history[:, 1])))
    arrays['diverged'] = curves['diverged'][:size]
    return arrays


def _require_curves_of(
    folder: SweepFolder,
    chunk: Chunk,
    curves: dict[str, np.ndarray],
    empty: dict[str, np.ndarray],
) -> None:
    """Raises StoreError unless the arrays are the curves of a chunk of this sweep."""
    steps = folder.experiment.record_steps
    expected, found = {}, {}
    for name in Record._fields:
        expected[name] = (len(steps), folder.chunk_size, *empty[name].shape[1:])
        found[name] = np.shape(curves.get(name))
    is_same = found == expected and np.array_equal(curves['steps'], steps)
    if not is_same or curves['environments'][:, 1].max() >= len(folder.environments):
        path = chunk.folder.path / 'curves.npz'
        raise StoreError(
            f'{path}: the curves of another sweep or version; delete it to regenerate '
            'it'
        )
