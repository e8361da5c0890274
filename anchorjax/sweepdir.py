"""A sweep on disk: one folder, written by one process, readable at any time.

manifest.json                     the experiment, the layout and versions its bits hang on
cohorts/<name>/chunk_0000/        members trained together, `lanes * devices` of them
    resume/<step>/                full state and curves so far; gone when the chunk is done
    snapshots/<step>/             parameters only: all that analysis reads
    curves.npz                    the records of all steps; its presence means done
results.nc, members.csv, figures/ made from the above by `store.finalize`, again and again
"""

import dataclasses
import pathlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from anchorjax import checkpoint, config, files
from anchorjax.errors import StoreError
from anchorjax.grid import Cohort

FORMAT = 2
_KEEP_RESUME = 2  # a damaged newest state falls back to the one before


@dataclasses.dataclass(frozen=True)
class Chunk:
    """The folder of the members that train together."""

    folder: pathlib.Path

    @property
    def done(self) -> bool:
        return (self.folder / 'curves.npz').exists()

    def save_resume(self, step: int, tree: Any) -> None:
        checkpoint.save(self.folder / 'resume', step, tree, keep=_KEEP_RESUME)

    def load_resume(self, abstract: Any, warn) -> tuple[int, Any] | None:
        """(step, tree) of the newest good state; `warn` hears of damaged ones, now removed."""
        for step in reversed(checkpoint.steps(self.folder / 'resume')):
            try:
                return step, checkpoint.load(self.folder / 'resume', step, abstract)
            except StoreError as e:
                warn(f'{e}; falling back to the state before it')
                shutil.rmtree(self.folder / 'resume' / str(step), ignore_errors=True)
        return None

    def save_snapshot(self, step: int, params: Any) -> None:
        """Idempotent: a chunk resumed before the snapshot writes the same bytes again."""
        shutil.rmtree(self.folder / 'snapshots' / str(step), ignore_errors=True)
        checkpoint.save(self.folder / 'snapshots', step, params)

    def load_snapshot(self, step: int, abstract: Any) -> Any:
        return checkpoint.load(self.folder / 'snapshots', step, abstract)

    def load_member(self, step: int, lane: int, abstract: Any) -> Any:
        """The leaves that `abstract` names, [lanes, ...], of one member."""
        return checkpoint.load_row(self.folder / 'snapshots', step, lane, abstract)

    def snapshot_steps(self) -> list[int]:
        return checkpoint.steps(self.folder / 'snapshots')

    def finish(self, curves: dict[str, np.ndarray]) -> None:
        """The chunk is done: curves on disk first, then the resume state goes."""
        files.write_arrays(self.folder / 'curves.npz', curves)
        shutil.rmtree(self.folder / 'resume', ignore_errors=True)

    def curves(self) -> dict[str, np.ndarray]:
        return files.read_arrays(self.folder / 'curves.npz')


@dataclasses.dataclass(frozen=True)
class SweepDir:
    """The folder of one sweep."""

    workdir: pathlib.Path
    experiment: config.Experiment
    layout: dict[str, Any]  # lanes, devices, platform

    def chunk(self, cohort: str, index: int) -> Chunk:
        return Chunk(self.workdir / 'cohorts' / cohort / f'chunk_{index:04d}')

    @property
    def chunk_size(self) -> int:
        return self.layout['lanes'] * self.layout['devices']

    def chunks(self) -> Iterator[tuple[Cohort, int, Chunk, int]]:
        """(cohort, index, folder, real members) of every chunk; a cohort's last may be padded."""
        for cohort in self.experiment.cohorts():
            for index, start in enumerate(range(0, cohort.size, self.chunk_size)):
                real = min(self.chunk_size, cohort.size - start)
                yield cohort, index, self.chunk(cohort.name, index), real


def create(workdir: pathlib.Path, experiment: config.Experiment, numerics: dict) -> SweepDir:
    """Starts a sweep's folder, or takes up the one that lies there.

    Raises:
      StoreError: it holds another experiment, another version, or bits this machine's layout
        and library versions would not continue; the line names the first field that differs.
    """
    path = workdir / 'manifest.json'
    described = config.to_dict(experiment)
    if path.exists():
        manifest = _read_manifest(path)
        _same(manifest['experiment'], described, workdir, 'the config')
        _same(manifest['numerics'], numerics, workdir, 'this machine or environment')
    else:
        written = {'format': FORMAT, 'experiment': described, 'numerics': numerics}
        created = {'git_commit': _git_commit(), 'created': time.strftime('%Y-%m-%dT%H:%M:%S%z')}
        files.write_json(path, written | created)
    return SweepDir(workdir, experiment, numerics['layout'])


def read(workdir: str | pathlib.Path) -> SweepDir:
    """The store that lies in a folder, for reading.

    Raises:
      StoreError: there is none, or it is damaged or of another version.
    """
    workdir = pathlib.Path(workdir)
    if not (workdir / 'manifest.json').exists():
        raise StoreError(f'{workdir} holds no sweep (no manifest.json)')
    manifest = _read_manifest(workdir / 'manifest.json')
    experiment = config.from_json(manifest['experiment'])
    return SweepDir(workdir, experiment, manifest['numerics']['layout'])


def _read_manifest(path: pathlib.Path) -> dict:
    manifest = files.read_json(path)
    found = manifest.get('format') if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise StoreError(f'{path}: format {found!r}, this version reads {FORMAT}')
    return manifest


def _same(there: Any, here: Any, workdir: pathlib.Path, what: str, path: str = '') -> None:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            inner = f'{path}.{key}' if path else key
            _same(there.get(key), here.get(key), workdir, what, inner)
    elif _plain(there) != _plain(here):
        raise StoreError(
            f'{workdir} holds a sweep with {path} = {there!r}, {what} has {here!r}; '
            'give another --workdir'
        )


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple | list) else value


def _git_commit() -> str:
    command = [
        'git',
        '-C',
        str(pathlib.Path(__file__).parent),
        'describe',
        '--always',
        '--dirty',
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or 'unknown'
