"""The networks of a sweep of a text task: what they answer, and when they converged.

Convergence is judged by the loss on the answers of training examples
(analysis/members/measures.py): a network has converged if it is at most
`train.converged_loss` at the end.
"""

import numpy as np
import pandas as pd
import xarray as xr

from analysis.changes.moments import find_crossings
from analysis.frame import find_points, find_usable
from analysis.members.measures import read_deciding_loss
from analysis.members.point import name_setting
from analysis.members.selection import require_task
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

# The probe on which each task is about generalization.
TESTED = {
    'addition': 'test',
    'cogs': 'gen',
    'prontoqa': 'seen_heldout',
    'scan': 'test',
}
COLUMNS = (
    'setting',  # 'score_end=True': the axes that vary, but POOLED; '' if none do
    'size',  # training examples
    'gamma',
    'learning_rate',
    'weight_decay',
    'seed',
    'train_loss',  # at the end, nats
    'converged',
    # At which the loss first falls below `train.converged_loss`; where it never does,
    # the last step: a lower bound.
    'steps',
)
POOLED = ('num_examples', 'gamma', 'weight_decay', 'seed')


def read_members(run: Run) -> pd.DataFrame:
    """A row per trained network that did not diverge.

    The index is the place of the network in the sweep, the last axis fastest. Besides
    COLUMNS there is one for each probe: exact match of whole answers at the end.

    Raises:
      UserError: another task, or no trained network.
    """
    require_task(run, TESTED, f'tasks {", ".join(TESTED)}')
    table = find_usable(_read_ends(run))
    if not len(table):
        raise UserError(f'{run.folder.workdir}: no member is trained yet')
    settings, sizes = [], []
    for point in find_points(run, table):
        task = run.experiment_of(**point).task
        settings.append(name_setting(run, point, POOLED))
        sizes.append(task.make().num_train)
    table = table.assign(setting=settings, size=sizes)
    return table[[*COLUMNS, *run.results.probe.values]]


def _read_ends(run: Run) -> pd.DataFrame:
    """The axes of every member of a sweep, and its numbers at the last step."""
    results = run.results.sel(mapping='assigned', drop=True).drop_vars('step')
    axes = list(run.experiment.axes)
    loss = read_deciding_loss(run.curves, run.experiment).transpose('step', *axes)
    loss_SM = loss.values.reshape(loss.sizes['step'], -1)
    threshold = run.experiment.train.converged_loss
    crossing_M = find_crossings(loss.step.values, loss_SM, threshold)
    columns = [results.trained, results.diverged, results.train_loss]
    table = xr.merge(columns).to_dataframe(axes).reset_index()
    table['converged'] = loss_SM[-1] <= threshold
    table['steps'] = np.where(np.isnan(crossing_M), loss.step.values[-1], crossing_M)
    for probe in results.probe.values:
        agreement = results.agreement.sel(probe=probe).transpose(*axes)
        table[probe] = agreement.values.reshape(-1)
    return table
