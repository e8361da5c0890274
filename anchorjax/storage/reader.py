"""The numbers of a sweep: a labelled cube, a table, the parameters of a member.

run = api.open('runs/phase')
run.results.agreement.sel(eval_set='unseen', mapping='composed')  # the last step
run.network(gamma=2.04, depth=3, seed=0)  # a network to run, read and patch
run.params(gamma=2.04, depth=3, seed=0)  # its parameters alone, a tree of arrays
"""

import contextlib
import dataclasses
import functools
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from anchorjax import config, models
from anchorjax.caching import forget_changed_files
from anchorjax.errors import StoreError, UserError, brief, describe_cause
from anchorjax.grid import Cohort, axis_label, find_indices, locate, short_name
from anchorjax.network import Network, Networks
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.cube import read_cube
from anchorjax.storage.manifest import compare_programs
from anchorjax.storage.sweep_folder import SweepFolder, read_folder
from anchorjax.tasks import digest_data
from anchorjax.tasks.columns import COLUMNS
from anchorjax.training.members import abstract_members
from anchorjax.training.programs import digest_programs


@dataclasses.dataclass(frozen=True)
class Run:
    """A sweep for reading, finished or not: members not trained yet are NaN.

    Curves are read once: while training goes on, open it again to see what is new.
    """

    folder: SweepFolder

    def __repr__(self) -> str:
        """Its folder and how far it is: a notebook shows this after `api.train`."""
        trained, total = self.folder.count_members()
        state = 'finished' if trained == total else 'not finished'
        return (
            f'Run({str(self.folder.workdir)!r}: {self.experiment.name}, '
            f'{trained} of {total} members trained, {state})'
        )

    @property
    def experiment(self) -> config.Experiment:
        """The experiment that the manifest holds."""
        return self.folder.experiment

    @functools.cached_property
    def curves(self) -> xr.Dataset:
        """All records, by axis, step, eval set, mapping, group and offset."""
        return read_cube(self.folder)

    @functools.cached_property
    def results(self) -> xr.Dataset:
        """The curves at the last step; see `cube.read_cube` for the variables."""
        return self.curves.isel(step=-1)

    @property
    def members(self) -> pd.DataFrame:
        """One row per member: its point, then its numbers at the last step.

        A task whose answers are texts adds the perplexity (of a token, from the loss)
        and, of every eval set, the share of right tokens. Others add what their
        `Task.describe_members` says: `tasks.answers` of answers that are numbers, and
        `tasks.solution` of the anchor task.

        A new table every time: it is the caller's to change.
        """
        return _tabulate_members(self)

    def params(self, step: int | str = 'last', **point: Any) -> Any:
        """The parameters of the member at `point`, as a tree of NumPy arrays.

        Args:
          step: one of `steps`; 'last' is the last step, or while the member still
            trains, the last that has been saved.
          point: a value for every axis that has several.

        Raises:
          UserError: there is no such member.
          StoreError: there is no such step (the line names the others), or the snapshot
            is damaged, or the folder of the sweep was moved.
        """
        cohort, chunk, lane = self._find(point)
        steps = chunk.snapshot_steps()
        if step == 'last' and chunk.done:
            step = self.experiment.train.num_steps
        elif step == 'last' and steps:
            step = steps[-1]
        if step not in steps:
            raise StoreError(_explain_missing(chunk, step, self.experiment))
        experiment = self.experiment.of_cohorts[cohort]
        abstract = models.abstract_params(experiment.model, experiment.task.vocab)
        saved = abstract_members(abstract, self.folder.chunk_size)
        return chunk.load_member(int(step), lane, saved)  # 40.0 is the step 40

    def network(self, step: int | str = 'last', **point: Any) -> Network:
        """The network at `point`: its forward pass, activations, patches.

        Args:
          step, point: as in `params`.

        Raises:
          UserError, StoreError: as in `params`; or the network diverged.
        """
        experiment = self.experiment_of(**point)
        complete = self.complete_point(point)
        results = self.results.sel(self.labels(**complete))
        if results.trained and results.diverged >= 0:
            axes = self.experiment.axes
            varying = [f'{a}={complete[a]}' for a in axes if len(axes[a]) > 1]
            raise UserError(
                f'the member at {",".join(varying)} diverged at step '
                f'{int(results.diverged)}: there is nothing to analyze'
            )
        params = self.params(step, **point)
        if step == 'last':
            step = self.steps(**point)[-1]
        return Network(experiment, params, complete, int(step), self)

    def networks(self, step: int | str = 'last', **point: Any) -> Networks:
        """All trained networks at these values of some axes that did not diverge.

        Raises:
          UserError: there is none, or they are of several models or tasks, which no one
            program runs.
        """
        labels = self.labels(**point)
        table = self.members
        for axis, label in labels.items():
            table = table[table[axis] == label]
        table = table[table.trained & (table.diverged < 0)]
        if not len(table):
            raise UserError(f'{self.folder.workdir}: no trained network at {labels}')
        axes = [*self.experiment.axes]
        static = [short_name(path) for path, _ in self.experiment.static_axes]
        for axis in static:
            if table[axis].nunique() > 1:
                values = table[axis].unique().tolist()
                raise UserError(f'networks(): several shapes, choose {axis}: {values}')
        rows: list[Any] = table[axes].to_dict('records')
        return Networks(tuple(self.network(step, **row) for row in rows))

    def complete_point(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The point with every axis of the sweep, in its order, and its exact values.

        Raises:
          UserError: an axis is unknown, or is missing although it has several values,
            or has no such value.
        """
        axes = self.experiment.axes
        self.experiment_of(**point)  # raises the errors above
        indices = find_indices(axes, point)
        return {axis: values[indices.get(axis, 0)] for axis, values in axes.items()}

    def steps(self, **point: Any) -> list[int]:
        """The steps at which the member at `point` has a snapshot, in order."""
        _, chunk, _ = self._find(point)
        return chunk.snapshot_steps()

    def experiment_of(self, **point: Any) -> config.Experiment:
        """The experiment of the cohort of the member at `point`.

        Raises:
          UserError: there is no such member, or what its task reads from files is not
            what it was trained on, so that no example can be drawn again.
        """
        cohort, _, _ = self._find(point)
        return self._experiments[cohort]

    def require_same_files(self, digests: Mapping[str, str]) -> None:
        """Checks files that members are made from against the manifest.

        Args:
          digests: {path: SHA-256} of the files as they are now.

        Raises:
          UserError: one is not what the run started from.
        """
        known = set()
        for environment in self.folder.environments:
            known |= set(environment.data.items())
        for path, digest in digests.items():
            if known and (path, digest) not in known:
                raise UserError(
                    f'{path}: differs from what {self.folder.workdir} started from '
                    '(another SHA-256); put that there again'
                )

    @functools.cached_property
    def _experiments(self) -> dict[str, config.Experiment]:
        """Of every cohort by its name, once the files of its task were checked.

        A file that is not there is missed by whatever reads it: weights need none.
        """
        for experiment in self.experiment.of_cohorts.values():
            digests = {}
            with contextlib.suppress(UserError):
                digests = digest_data(experiment.task)
            self.require_same_files(digests)
        self._require_same_programs()
        return self.experiment.of_cohorts

    def _require_same_programs(self) -> None:
        """Raises UserError if an own task draws other examples now; says what else.

        A model may have been edited to show more of what it computes.
        """
        workdir = self.folder.workdir
        try:
            programs = digest_programs(self.experiment)
        except Exception as e:  # of the user's code, as for a file that is not there
            line = f'{workdir}: cannot compare its task and model: {describe_cause(e)}'
            print(line, file=sys.stderr)
            return
        changed, unknown = compare_programs(self.folder.environments, programs)
        for name in changed:
            line = (
                f'{workdir}: the {name} computes something else than when the run was '
                'trained: its source, or what it reads (a file, a variable), changed'
            )
            if name.startswith('task'):
                raise UserError(f'{line}; put that back')
            print(f'warning: {line}', file=sys.stderr)
        if unknown:
            line = (
                f'{workdir}: cannot tell whether {brief(", ".join(unknown))} computes '
                'the same as when it was trained, with another JAX or elsewhere'
            )
            print(line, file=sys.stderr)

    def labels(self, **point: Any) -> dict[str, Any]:
        """The labels of a point, to select from `results` and `curves`.

        A float that is off in its last digits becomes that of the axis, and a tuple
        becomes its text.

        Raises:
          UserError: an axis is unknown, or has no such value.
        """
        axes = self.experiment.axes
        indices = find_indices(axes, point)
        return {axis: axis_label(axes[axis][i]) for axis, i in indices.items()}

    @functools.cached_property
    def _cohorts(self) -> tuple[Cohort, ...]:
        """Cached, because a figure of a sweep reads every member."""
        return self.experiment.cohorts()

    def _find(self, point: dict[str, Any]) -> tuple[str, ChunkFolder, int]:
        """(name of its cohort, folder of its chunk, index in the chunk)."""
        self.folder.require_there()
        cohort_index, row = locate(self.experiment.axes, point)
        chunk_index, lane = divmod(row, self.folder.chunk_size)
        cohort = self._cohorts[cohort_index]
        chunk = self.folder.chunk_folder(cohort, chunk_index)
        return cohort.name, chunk, lane


def _explain_missing(
    chunk: ChunkFolder, step: int | str, experiment: config.Experiment
) -> str:
    """Why there is no such snapshot, and what to do."""
    path = chunk.path / 'snapshots' / str(step)
    here = f'steps here: {chunk.snapshot_steps()}'
    planned = (*experiment.train.snapshot_steps, experiment.train.num_steps, 'last')
    is_planned = step in planned
    if not chunk.done and is_planned:
        return f'no snapshot yet in {chunk.path}: its members are unfinished; {here}'
    advice = f'; to make it again, delete {chunk.path}' if is_planned else ''
    return f'no snapshot {path}; {here}{advice}'


def open_run(workdir: str | pathlib.Path) -> Run:
    """The sweep in a folder, finished or not, to read; StoreError if there is none."""
    forget_changed_files()
    return Run(read_folder(workdir))


def _tabulate_members(run: Run) -> pd.DataFrame:
    results = run.results.drop_vars('step')
    columns = [*COLUMNS]
    if 'steps_taken' in results:
        columns.append('steps_taken')
    table = results[columns].to_dataframe(dim_order=[*run.experiment.axes])
    task = run.experiment.task.make()
    is_text = not task.last_only
    if is_text:
        place = table.columns.tolist().index('train_loss') + 1
        table.insert(place, 'train_perplexity', np.exp(table.train_loss))
    for eval_set in results.eval_set.values:
        loss = results.eval_set_loss.sel(eval_set=eval_set)
        table[f'loss_{eval_set}'] = loss.to_series()
        if is_text:
            table[f'perplexity_{eval_set}'] = np.exp(loss).to_series()
        for mapping in results.mapping.values:
            agreement = results.agreement.sel(eval_set=eval_set, mapping=mapping)
            table[f'{eval_set}_{mapping}'] = agreement.to_series()
    if is_text:
        of_tokens = results.token_agreement.sel(mapping=task.trained_mapping)
        for eval_set in results.eval_set.values:
            table[f'{eval_set}_tokens'] = of_tokens.sel(eval_set=eval_set).to_series()
    table = table.drop(columns=['eval_set', 'mapping'], errors='ignore')
    return _add_own_columns(run, results, table).reset_index()


def _add_own_columns(
    run: Run, results: xr.Dataset, table: pd.DataFrame
) -> pd.DataFrame:
    """The table with what `Task.describe_members` of each cohort adds to its rows."""
    parts: list[pd.DataFrame] = []
    first = 0
    for cohort in run.experiment.cohorts():
        members = table.iloc[first : first + cohort.size]
        first += cohort.size
        describe = run.experiment.of_cohorts[cohort.name].task.make().describe_members
        if describe is not None:
            labels = {}
            for path, value in cohort.static:
                labels[short_name(path)] = axis_label(value)
            members = describe(results.sel(labels), members)
        parts.append(members)
    return pd.concat(parts)
