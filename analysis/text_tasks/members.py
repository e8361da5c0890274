"""The networks of a sweep of a text task: what they answer, and when they converged.

Convergence is judged by the loss on the answers of training examples
(`anchorjax.storage.cube`).
"""

import pandas as pd

from analysis import frame
from analysis.changes.crossings import find_crossings
from anchorjax.storage.reader import Run

# The eval set on which each task is about generalization.
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


def read_members(run: Run, *tasks: str) -> pd.DataFrame:
    """A row per trained network that did not diverge.

    The index is the place of the network in the sweep, the last axis fastest. Besides
    COLUMNS there is one for each eval set: exact match of whole answers at the end; of
    texts as they are also its perplexity.

    Args:
      tasks: allowed ones.

    Raises:
      UserError: another task, or no trained network.
    """
    table = frame.list_usable(run, *tasks)
    table['setting'] = frame.name_settings(run, table, POOLED)
    sizes = []
    for point in frame.find_points(run, table):
        sizes.append(run.experiment_of(**point).task.make().num_train)
    table['size'] = sizes

    loss = frame.select_members(run, table, run.curves.fit_loss)
    loss = loss.transpose('step', 'member')
    step_S, loss_SM = loss.step.values, loss.values
    threshold = run.experiment.train.converged_loss
    table['steps'] = find_crossings(step_S, loss_SM, threshold)
    table['steps'] = table.steps.fillna(step_S[-1])
    eval_sets = run.results.eval_set.values
    for eval_set in eval_sets:
        table[eval_set] = table[f'{eval_set}_assigned']
    perplexities = table.filter(like='perplexity_')
    return table[[*COLUMNS, *eval_sets, *perplexities]]
