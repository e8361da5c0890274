"""The labelled cube of a sweep (xarray), read from the curves of its chunks."""

import json
from typing import Any

import numpy as np
import xarray as xr

from anchorjax import config, tasks
from anchorjax.config.grid import axis_label
from anchorjax.errors import StoreError, brief
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.training.curves import (
    RECORD_DIMS,
    Record,
    curve_coordinates,
    record_shapes,
)


def read_cube(folder: SweepFolder) -> xr.Dataset:
    """All members along the axes of the grid; NaN for those that are not trained yet.

    Besides the fields of a Record it has, for every member: trained; diverged (the
    first step that was not finite; -1: none); environment (index in the manifest of the
    last one; -1: none); environments (how many it was trained in).

    Raises:
      StoreError: the curves of a chunk are damaged or belong to another sweep.
    """
    experiment = folder.experiment
    task = tasks.make(experiment.task)
    axes = experiment.axes
    shape = tuple(len(values) for values in axes.values())

    empty = _untrained_member(experiment, task)
    members = {name: [] for name in empty}
    for chunk in folder.chunks:
        for name, values in _read_chunk(folder, chunk, empty).items():
            members[name].append(values)

    variables = {}
    for name, parts in members.items():
        values = np.concatenate(parts)
        dims = ()
        if name in RECORD_DIMS:
            dims = ('step', *RECORD_DIMS[name])
        cube = values.reshape(*shape, *values.shape[1:])
        variables[name] = ((*axes, *dims), cube)

    coordinates = {}
    for axis, values in axes.items():
        coordinates[axis] = [axis_label(value) for value in values]
    coordinates['step'] = list(experiment.record_steps)
    coordinates |= curve_coordinates(task)
    attributes = {
        'experiment': json.dumps(config.to_dict(experiment)),
        'source': 'anchorjax',
    }
    return xr.Dataset(variables, coordinates, attributes)


def _untrained_member(
    experiment: config.Experiment, task: tasks.Task
) -> dict[str, np.ndarray]:
    """The arrays of one member that is not trained yet."""
    rows = len(experiment.record_steps)
    arrays: dict[str, Any] = {}
    for name, shape in record_shapes(task)._asdict().items():
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
    problem = _find_mismatch(curves, folder, empty)
    if problem:
        path = chunk.folder.path / 'curves.npz'
        raise StoreError(f'{path} is damaged ({problem}); delete it to regenerate it')
    arrays = {}
    for name in Record._fields:
        arrays[name] = np.moveaxis(curves[name][:, :size], 0, 1)
    history = curves['environments']  # [environments, (from step, index)]
    arrays['trained'] = np.full(size, True)
    arrays['environment'] = np.full(size, history[-1, 1])
    arrays['environments'] = np.full(size, len(history))
    arrays['diverged'] = curves['diverged'][:size]
    return arrays


def _find_mismatch(
    curves: dict[str, np.ndarray], folder: SweepFolder, empty: dict[str, np.ndarray]
) -> str:
    """Why these arrays are not the curves of a chunk of this sweep; '' if they are."""
    expected = _expected_arrays(curves, folder, empty)
    for name in sorted({*curves, *expected}):
        actual = None
        if name in curves:
            actual = (str(curves[name].dtype), curves[name].shape)
        if actual != expected.get(name):
            return brief(f'array {name} is {actual}, not {expected.get(name)}')
    steps = np.array(folder.experiment.record_steps)
    known = np.arange(len(folder.environments))
    are_known = np.isin(curves['environments'][:, 1], known).all()
    if (curves['steps'] != steps).any() or not are_known:
        return 'its steps or environments are those of another sweep'
    return ''


def _expected_arrays(
    curves: dict[str, np.ndarray], folder: SweepFolder, empty: dict[str, np.ndarray]
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """(dtype, shape) of every array; the number of environments is not checked."""
    rows, size = len(folder.experiment.record_steps), folder.chunk_size
    expected = {}
    for name in Record._fields:
        expected[name] = ('float32', (rows, size, *empty[name].shape[1:]))
    expected['steps'] = ('int64', (rows,))
    expected['diverged'] = ('int32', (size,))
    lengths = np.shape(curves.get('environments'))[:1] or (1,)
    expected['environments'] = ('int32', (max(1, lengths[0]), 2))
    return expected
