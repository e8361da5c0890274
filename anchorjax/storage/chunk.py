"""The folder of the members that train together: states to go on from, snapshots, curves."""

import dataclasses
import pathlib
from typing import Any

import numpy as np

from anchorjax.errors import StoreError
from anchorjax.storage import atomic, checkpoint
from anchorjax.storage.digests import digest_array
from anchorjax.training import hosts

_KEEP_RESUME = 2  # a damaged newest state falls back to the one before


@dataclasses.dataclass(frozen=True)
class ChunkFolder:
    """One such folder; all hosts of a program call its methods alike."""

    root: pathlib.Path  # the sweep's folder, which nothing written here may leave
    folder: pathlib.Path

    @property
    def done(self) -> bool:
        return (self.folder / 'curves.npz').exists()

    def save_resume(self, step: int, tree: Any) -> None:
        checkpoint.save(self._inside('resume'), step, tree, keep=_KEEP_RESUME)

    def load_resume(self, abstract: Any, warn) -> tuple[int, Any] | None:
        """(step, tree) of the newest good state; `warn` hears of damaged ones, now removed."""
        folder = self._inside('resume')
        for step in reversed(hosts.broadcast(checkpoint.list_steps(folder))):
            try:
                return step, hosts.run_together(
                    lambda s=step: checkpoint.load(folder, s, abstract)
                )
            except StoreError as e:
                warn(f'{e}; falling back to the state before it')
                hosts.run_on_first(lambda s=step: atomic.remove(folder / str(s)))
        return None

    def save_snapshot(self, step: int, params: Any) -> None:
        """Idempotent: a chunk resumed before the snapshot writes the same bytes again."""
        folder = self._inside('snapshots')
        hosts.run_on_first(lambda: atomic.remove(folder / str(step)))
        checkpoint.save(folder, step, params)

    def load_snapshot(self, step: int, abstract: Any) -> Any:
        return checkpoint.load(self.folder / 'snapshots', step, abstract)

    def load_member(self, step: int, lane: int, abstract: Any) -> Any:
        """The leaves that `abstract` names, [lanes, ...], of one member."""
        return checkpoint.load_row(self.folder / 'snapshots', step, lane, abstract)

    def snapshot_steps(self) -> list[int]:
        return checkpoint.list_steps(self.folder / 'snapshots')

    def numerics(self) -> list[tuple[int, int]]:
        """(from step, index in the manifest's numerics), oldest first; empty: not begun."""
        path = self.folder / 'numerics.json'
        if not path.exists():
            return []
        content = atomic.read_json(path)
        history = content.get('history') if isinstance(content, dict) else None
        if not _is_history(history) or content.get('digest') != digest_array(
            np.array(history)
        ):
            raise StoreError(
                f'{path} is damaged; delete {self.folder} to train it anew'
            )
        return [tuple(pair) for pair in history]

    def begin(self, step: int, index: int) -> None:
        """From `step` on this chunk is trained under the numerics of that index."""
        before = [(s, i) for s, i in self.numerics() if s < step]
        if not before or before[-1][1] != index:
            path, history = self._inside('numerics.json'), [*before, (step, index)]
            content = {'history': history, 'digest': digest_array(np.array(history))}
            hosts.run_on_first(lambda: atomic.write_json(path, content))

    def finish(self, curves: dict[str, np.ndarray]) -> None:
        """The chunk is done: curves on disk first, then the resume state goes."""
        arrays = {**curves, 'numerics': np.array(self.numerics(), np.int32)}
        path, resume = self._inside('curves.npz'), self._inside('resume')
        hosts.run_on_first(lambda: atomic.write_arrays(path, arrays))
        hosts.run_on_first(lambda: atomic.remove(resume))

    def tidy(self) -> None:
        """Removes what killed processes left here; only for who holds the chunk."""
        if not self.folder.exists():  # of thousands, at every start
            return
        for folder in (self.folder, self.folder / 'resume', self.folder / 'snapshots'):
            atomic.remove_leftovers(atomic.require_inside(self.root, folder))
        if self.done:
            atomic.remove(self.folder / 'resume')

    def curves(self) -> dict[str, np.ndarray]:
        return atomic.read_arrays(self.folder / 'curves.npz')

    def _inside(self, name: str) -> pathlib.Path:
        return atomic.require_inside(self.root, self.folder / name)


def _is_history(value: Any) -> bool:
    """Whether these are [[step, index], ...], as `Chunk.begin` writes them."""
    pairs = isinstance(value, list) and all(
        isinstance(p, list) and len(p) == 2 for p in value
    )
    return pairs and all(
        type(n) is int and 0 <= n < 2**31 for pair in value for n in pair
    )
