"""What a sweep leaves for its reader, built from the chunks that are trained so far.

Every shard builds it when it ends, one after the other, so the last one sees all
members.
"""

import pathlib
from collections.abc import Callable

from anchorjax.storage import atomic, locks
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run, members_table
from anchorjax.storage.sweep_folder import SweepFolder

# (run, folder for figures) -> the files it wrote.
Draw = Callable[[Run, pathlib.Path], list[pathlib.Path]]


def draw_nothing(_: Run, figures: pathlib.Path) -> list[pathlib.Path]:
    """The Draw of a sweep without figures."""
    return []


def publish(
    folder: SweepFolder, draw: Draw = draw_nothing
) -> tuple[Run, list[pathlib.Path]]:
    """Writes results.nc and members.csv, and draws the figures; under the sweep's lock.

    Again and again gives the same bytes.

    Raises:
      StoreError: the folder cannot be written, or a chunk in it is damaged.
    """
    workdir = folder.workdir
    with locks.hold_results(workdir):
        for name in (MANIFEST_FILE, 'results.nc', 'members.csv'):
            atomic.remove_leftovers(workdir, name)
        figures = atomic.require_inside(workdir, workdir / 'figures')
        atomic.remove_leftovers(figures)
        run = write_tables(folder)
        return run, draw(run, figures)


def write_tables(folder: SweepFolder) -> Run:
    """Writes results.nc and members.csv; the caller holds the lock of the results."""
    run = Run(folder)

    def write_csv(path: pathlib.Path) -> None:
        members_table(run).to_csv(path, index=False)

    atomic.write_atomic(folder.workdir / 'results.nc', run.curves.to_netcdf)
    atomic.write_atomic(folder.workdir / 'members.csv', write_csv)
    return run
