"""The tables and figures of a sweep, made from the chunks that are trained so far.

Every shard makes them when it ends, one shard at a time, so the last one sees all
members.
"""

import functools
import pathlib
from collections.abc import Callable

from anchorjax import files
from anchorjax.storage import locks
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run
from anchorjax.storage.sweep_folder import SweepFolder, read_folder

CUBE_FILE, TABLE_FILE = 'results.nc', 'members.csv'
# Seconds. The scripts of analysis/ write figures without the lock: a young temporary
# file may be that of a living one.
_LONGEST_WRITE = 3600.0

Draw = Callable[[Run, pathlib.Path], object]  # gets a folder for the figures


def publish(folder: SweepFolder, draw: Draw | None = None) -> Run:
    """Writes results.nc and members.csv, and draws the figures, under a lock.

    Doing it again gives the same bytes.

    Raises:
      StoreError: the folder cannot be written, or the curves of a chunk are damaged.
    """
    workdir = folder.workdir
    with locks.hold_folder(workdir, wait=True):
        # Other shards may have trained in environments that were not listed before.
        run = Run(read_folder(workdir))
        for name in (MANIFEST_FILE, CUBE_FILE, TABLE_FILE):
            files.remove_leftovers(workdir, name)
        figures = workdir / 'figures'
        files.remove_leftovers(figures, min_age=_LONGEST_WRITE)
        files.write_dataset(workdir / CUBE_FILE, run.curves)
        write_csv = functools.partial(run.members.to_csv, index=False)
        files.write_atomic(workdir / TABLE_FILE, write_csv)
        if draw is not None:
            draw(run, figures)
        return run
