"""A sweep's numbers by name: one labelled cube, one tidy table, parameters of one member.

run = store.open('runs/phase')
run.results.agreement.sel(probe='unseen', mapping='inferential')     # the last step
run.params(gamma=0.8, seed=0, learning_rate=1e-3, depth=2)           # a tree of arrays
"""

import dataclasses
import functools
import json
import pathlib
from typing import Any

import jax
import numpy as np
import xarray as xr
from flax.traverse_util import flatten_dict, unflatten_dict

from anchorjax import config, models, tasks
from anchorjax.config.grid import Cohort, locate
from anchorjax.errors import StoreError, UserError, brief
from anchorjax.storage import atomic
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.sweep_folder import Chunk, SweepFolder, read_folder
from anchorjax.training.curves import RECORD_DIMS, curve_coordinates, record_shapes


@dataclasses.dataclass(frozen=True)
class Run:
    """A sweep to read, finished or not: members not trained yet are NaN."""

    sweep_dir: SweepFolder

    @property
    def experiment(self) -> config.Experiment:
        return self.sweep_dir.experiment

    @functools.cached_property
    def curves(self) -> xr.Dataset:
        """Every record: dims are the axes of the grid, then step, probe, mapping, offset."""
        return _cube(self.sweep_dir)

    @functools.cached_property
    def results(self) -> xr.Dataset:
        """The last step of the curves, and what became of every member."""
        return self.curves.isel(step=-1)

    def params(self, step: int | str = 'last', **point) -> Any:
        """Parameters of the member at `point`, as numpy arrays, at a snapshot step.

        Raises:
          UserError: no such member; StoreError: no such step (those there are named), damage.
        """
        experiment, chunk, lane = self._find(point)
        abstract = models.abstract_params(experiment.model, experiment.task.vocab)
        return self._load(chunk, lane, step, abstract)

    def parameter(self, path: str, step: int | str = 'last', **point) -> np.ndarray:
        """One array of that member, 'W_embed' or 'block_0/W_Q': nothing else is read.

        Raises:
          UserError: also when there is no such parameter (those there are named).
        """
        experiment, chunk, lane = self._find(point)
        tree = models.abstract_params(experiment.model, experiment.task.vocab)
        leaves = flatten_dict(tree, sep='/')
        if path not in leaves:
            raise UserError(f'no parameter {path!r}; the model has {sorted(leaves)}')
        one = unflatten_dict({path: leaves[path]}, sep='/')
        return jax.tree.leaves(self._load(chunk, lane, step, one))[0]

    def steps(self, **point) -> list[int]:
        """Steps at which the member at `point` has a snapshot."""
        return self._find(point)[1].snapshot_steps()

    def at(self, **point) -> config.Experiment:
        """The experiment of the member at `point`, its static axes set."""
        return self._find(point)[0]

    @functools.cached_property
    def _cohorts(self) -> tuple[Cohort, ...]:
        """Expanded once: a figure of a sweep asks for every member."""
        return self.experiment.cohorts()

    def _find(self, point: dict) -> tuple[config.Experiment, ChunkFolder, int]:
        cohort, row = locate(self.experiment.axes, point)
        index, lane = divmod(row, self.sweep_dir.chunk_size)
        static = self._cohorts[cohort]
        chunk = self.sweep_dir.chunk(static.name, index)
        return self.experiment.at(static.static), chunk, lane

    def _load(
        self, chunk: ChunkFolder, lane: int, step: int | str, abstract: Any
    ) -> Any:
        there, size = chunk.snapshot_steps(), self.sweep_dir.chunk_size
        if not there:
            raise StoreError(f'{chunk.folder}: no snapshot yet')
        batched = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct((size, *x.shape), x.dtype), abstract
        )
        return chunk.load_member(there[-1] if step == 'last' else step, lane, batched)


def open_run(workdir: str | pathlib.Path) -> Run:
    """The sweep in a folder, for reading; raises StoreError when there is none."""
    return Run(read_folder(workdir))


def write_tables(sweep_dir: SweepFolder) -> Run:
    """Writes results.nc and members.csv from what is done; again and again gives the same."""
    run = Run(sweep_dir)
    folder = sweep_dir.workdir
    atomic.write_atomic(folder / 'results.nc', run.curves.to_netcdf)
    atomic.write_atomic(
        folder / 'members.csv', lambda p: members_table(run).to_csv(p, index=False)
    )
    return run


def members_table(run: Run):
    """One row per member: its point, then every number of its last step (a pandas DataFrame)."""
    results = run.results.drop_vars(['deviation', 'step'])
    own = ['diverged', 'trained', 'numerics', 'environments', 'train_loss', 'grad_norm']
    frame = results[own].to_dataframe()
    for probe in results.probe.values:
        frame[f'loss_{probe}'] = results.probe_loss.sel(probe=probe).to_series()
        for mapping in results.mapping.values:
            column = results.agreement.sel(probe=probe, mapping=mapping).to_series()
            frame[f'{probe}_{mapping}'] = column
    return frame.drop(columns=['probe', 'mapping'], errors='ignore').reset_index()


def _cube(sweep_dir: SweepFolder) -> xr.Dataset:
    """Members laid out along the axes of the grid; grid order is the order of the cohorts."""
    experiment = sweep_dir.experiment
    axes = experiment.axes
    shape = tuple(len(v) for v in axes.values())
    variables = {}
    for name, values in _members(sweep_dir).items():
        dims = ('step', *RECORD_DIMS[name]) if name in RECORD_DIMS else ()
        variables[name] = (*axes, *dims), values.reshape(*shape, *values.shape[1:])
    coords = {a: _labels(v) for a, v in axes.items()} | {
        'step': list(experiment.record_steps)
    }
    coords |= curve_coordinates(tasks.make(experiment.task))
    attributes = {
        'experiment': json.dumps(config.to_dict(experiment)),
        'source': 'anchorjax',
    }
    return xr.Dataset(variables, coords, attributes)


def _labels(values: tuple) -> list:
    """Values along an axis; a tuple by its text, since a label is a number or a string."""
    return [str(v) if isinstance(v, tuple) else v for v in values]


def _members(sweep_dir: SweepFolder) -> dict[str, np.ndarray]:
    """Arrays of all members in grid order, [members, S, ...]; NaN where not done."""
    nothing = _nothing(sweep_dir)
    parts = [_chunk_members(sweep_dir, piece, nothing) for piece in sweep_dir.chunks]
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}


def _chunk_members(sweep_dir, piece: Chunk, nothing: dict) -> dict[str, np.ndarray]:
    """Arrays [real, ...] of the members of a chunk."""
    chunk, real = piece.chunk, piece.real
    if not chunk.done:
        return {
            name: np.broadcast_to(x, (real, *x.shape)) for name, x in nothing.items()
        }
    curves = chunk.curves()
    if problem := _foreign(curves, sweep_dir, nothing):
        path = chunk.folder / 'curves.npz'
        raise StoreError(f'{path} is damaged ({problem}); delete it to make it anew')
    arrays = {n: np.moveaxis(curves[n][:, :real], 0, 1) for n in RECORD_DIMS}
    history = curves['numerics']  # [environments, (from step, index)]
    of_all = {'trained': True, 'numerics': history[-1, 1], 'environments': len(history)}
    arrays |= {name: np.full(real, value) for name, value in of_all.items()}
    return arrays | {'diverged': curves['diverged'][:real]}


def _foreign(curves: dict, sweep_dir: SweepFolder, nothing: dict) -> str:
    """What keeps these arrays from being the curves of a chunk of this sweep; '' nothing."""
    needed = _needed(curves, sweep_dir, nothing)
    for name in sorted({*curves, *needed}):
        found = (
            (str(curves[name].dtype), curves[name].shape) if name in curves else None
        )
        if found != needed.get(name):
            return brief(f'array {name} is {found}, needed {needed.get(name)}')
    steps, used = np.array(sweep_dir.experiment.record_steps), curves['numerics'][:, 1]
    if (curves['steps'] != steps).any() or not np.isin(
        used, range(len(sweep_dir.known))
    ).all():
        return 'its steps or numerics are those of another sweep'
    return ''


def _needed(curves: dict, sweep_dir: SweepFolder, nothing: dict) -> dict[str, tuple]:
    """(dtype, shape) of every array; of the numerics there are as many as there are."""
    rows, size = len(sweep_dir.experiment.record_steps), sweep_dir.chunk_size
    history = np.shape(curves.get('numerics'))[:1] or (1,)
    needed = {n: ('float32', (rows, size, *nothing[n].shape[1:])) for n in RECORD_DIMS}
    needed |= {'steps': ('int64', (rows,)), 'diverged': ('int32', (size,))}
    return needed | {'numerics': ('int32', (max(1, history[0]), 2))}


def _nothing(sweep_dir: SweepFolder) -> dict[str, np.ndarray]:
    """What there is of one member that is not trained yet."""
    num_steps = len(sweep_dir.experiment.record_steps)
    shapes = record_shapes(tasks.make(sweep_dir.experiment.task))._asdict()
    arrays = {
        n: np.full((num_steps, *s), np.nan, np.float32) for n, s in shapes.items()
    }
    of_all = {'trained': False, 'numerics': -1, 'environments': 0, 'diverged': -1}
    return arrays | {name: np.array(value) for name, value in of_all.items()}
