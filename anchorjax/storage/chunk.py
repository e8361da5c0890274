"""The folder of a chunk: resume states, snapshots, curves."""

import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from anchorjax import files
from anchorjax.errors import CorruptFileError
from anchorjax.hashing import digest_array
from anchorjax.storage import checkpoint
from anchorjax.training import hosts

_KEPT_STATES = 2  # if the newest is damaged, the one before it is used


@dataclasses.dataclass(frozen=True)
class ChunkFolder:
    """The folder of one chunk; all processes of a program must make the same calls."""

    path: pathlib.Path

    @property
    def done(self) -> bool:
        """Whether its members are fully trained."""
        return (self.path / 'curves.npz').exists()

    def save_resume(self, step: int, tree: Any) -> None:
        """Saves the state and the curves so far; the two newest saves are kept."""
        checkpoint.save(self.path / 'resume', step, tree, keep=_KEPT_STATES)

    def load_resume(
        self, abstract: Any, warn: Callable[[str], None]
    ) -> tuple[int, Any] | None:
        """(step, tree) of the newest undamaged state, or None without one.

        Args:
          abstract: the tree as ShapeDtypeStructs; see `checkpoint.load`.
          warn: called with a line for every damaged state, which is then moved to
            resume/damaged, and kept there until the chunk is done.

        Raises:
          StoreError: a state cannot be read now, or is of other code; it is left there.
        """
        folder = self.path / 'resume'
        steps = hosts.broadcast(checkpoint.list_steps(folder))
        for step in reversed(steps):
            load = functools.partial(checkpoint.load, folder, step, abstract)
            try:
                return step, hosts.run_together(load)
            except CorruptFileError as e:
                hosts.run_on_first(functools.partial(_move_aside, folder, step))
                then = 'falling back to the state before it'
                if step == steps[0]:
                    then = 'there is none before it, so training begins anew'
                warn(f'{e}; moved to resume/damaged; {then}')
        return None

    def save_snapshot(self, step: int, params: Any) -> None:
        """Saves parameters, in place of those from before an interruption."""
        checkpoint.save(self.path / 'snapshots', step, params)

    def load_member(self, step: int, lane: int, abstract: Any) -> Any:
        """The leaves in `abstract` for one member; see `checkpoint.load`."""
        return checkpoint.load(self.path / 'snapshots', step, abstract, lane)

    def snapshot_steps(self) -> list[int]:
        """The steps that have a snapshot, in order."""
        return checkpoint.list_steps(self.path / 'snapshots')

    def environments(self) -> list[tuple[int, int]]:
        """[(first step, index in the manifest's environments), ...], oldest first.

        Empty if training has not begun.

        Raises:
          StoreError: the file is damaged or cannot be read.
        """
        path = self.path / 'environments.json'
        if not path.exists():
            return []
        content = files.read_json(path)
        history = content.get('history') if isinstance(content, dict) else None
        if history is None or content.get('digest') != digest_array(np.array(history)):
            raise CorruptFileError(
                f'{path} is damaged; delete {self.path} to train its members again'
            )
        return list(map(tuple, history))

    def begin(self, step: int, environment: int) -> None:
        """Records in which environment the members train from `step` on.

        What was recorded of later steps is forgotten: they are trained again.

        Args:
          environment: its index in the manifest's environments.
        """
        path = self.path / 'environments.json'

        def write() -> None:
            history = [entry for entry in self.environments() if entry[0] < step]
            if not history or history[-1][1] != environment:
                history.append((step, environment))
            content = {'history': history, 'digest': digest_array(np.array(history))}
            files.write_json(path, content)

        hosts.run_on_first(write)

    def finish(self, curves: dict[str, np.ndarray]) -> None:
        """Writes the curves, which marks the chunk done; removes the resume states."""
        history = np.array(self.environments(), np.int32)
        arrays = {**curves, 'environments': history}
        path, resume = self.path / 'curves.npz', self.path / 'resume'
        hosts.run_on_first(functools.partial(files.write_arrays, path, arrays))
        hosts.run_on_first(functools.partial(files.remove, resume))

    def read_curves(self) -> dict[str, np.ndarray]:
        """The arrays that `finish` wrote; errors as `files.read_arrays`."""
        return files.read_arrays(self.path / 'curves.npz')

    def remove_leftovers(self) -> None:
        """Removes what killed jobs left; only for the job that holds the chunk."""
        if not self.path.exists():  # fast, for sweeps of thousands of chunks
            return
        for folder in (self.path, self.path / 'resume', self.path / 'snapshots'):
            files.remove_leftovers(folder)
        if self.done:
            files.remove(self.path / 'resume')


def _move_aside(folder: pathlib.Path, step: int) -> None:
    aside = folder / 'damaged'
    aside.mkdir(exist_ok=True)
    files.remove(aside / str(step))
    os.replace(folder / str(step), aside / str(step))
