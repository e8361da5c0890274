"""What a sweep leaves for its reader: tables and the phase diagram, of whatever is trained.

Every shard makes them when it ends, one after the other, so the last one sees all members.

  python launch/finalize.py --run runs/phase
"""

from analysis import phase
from anchorjax.storage import atomic, locks
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import write_tables
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.progress import summarize_members


def publish(there: SweepFolder) -> None:
    """Writes results.nc, members.csv and figures/phase, and prints the table.

    Raises:
      StoreError: the folder cannot be written, or a chunk in it is damaged.
    """
    with locks.hold_results(there.workdir):
        figures = atomic.require_inside(there.workdir, there.workdir / 'figures')
        for name in (MANIFEST_FILE, 'results.nc', 'members.csv'):
            atomic.remove_leftovers(there.workdir, name)
        atomic.remove_leftovers(figures, 'phase.*')
        run = write_tables(there)
        print(summarize_members(run))
        for path in phase.save(run, figures):
            print(path)
