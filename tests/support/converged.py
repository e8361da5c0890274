"""Tiny sweeps are too short to converge: runs in which that flag is planted."""

import xarray as xr

from anchorjax.storage.reader import Run


def mark_converged(run: Run, is_converged: xr.DataArray | bool = True) -> Run:
    """The same run, read again, in which all or some members have converged."""
    marked = Run(run.folder)
    results = run.results.copy(deep=True)
    flags = xr.full_like(results.trained, True) & is_converged
    converged = flags.transpose(*results.trained.dims)
    # Where functools.cached_property keeps it.
    vars(marked)['results'] = results.assign(converged=converged)
    return marked
