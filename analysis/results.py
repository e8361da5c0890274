"""What a sweep leaves for its reader: tables and the phase diagram, of whatever is trained.

Every shard makes them when it ends, one after the other, so the last one sees all members.

  python launch/finalize.py --run runs/phase
"""

from analysis import phase
from anchorjax import files, locks, manifest, plan, store, sweepdir


def publish(there: sweepdir.SweepDir) -> None:
    """Writes results.nc, members.csv and figures/phase, and prints the table.

    Raises:
      StoreError: the folder cannot be written, or a chunk in it is damaged.
    """
    with locks.results(there.workdir):
        figures = files.inside(there.workdir, there.workdir / 'figures')
        for name in (manifest.NAME, 'results.nc', 'members.csv'):
            files.tidy(there.workdir, name)
        files.tidy(figures, 'phase.*')
        run = store.finalize(there)
        print(plan.summary(run))
        for path in phase.save(run, figures):
            print(path)
