"""The names of what is recorded of a member: in results.nc and in members.csv."""

from anchorjax.tasks import Task

# The dims of a record's fields, besides the axes of the sweep and the step.
RECORD_DIMS = {
    'train_loss': (),
    'grad_norm': (),
    'eval_set_loss': ('eval_set',),
    'agreement': ('eval_set', 'mapping'),
    'token_agreement': ('eval_set', 'mapping'),
    'agreement_by_group': ('eval_set', 'mapping', 'group'),
    'deviation': ('offset',),
}
# Of members.csv in every task, after the axes; results.nc has them too.
COLUMNS = (
    'diverged',
    'trained',
    'converged',
    'environment',
    'environments',
    'train_loss',
    'fit_loss',
    'grad_norm',
)


def list_names(task: Task) -> list[str]:
    """All that an axis of a sweep cannot be called, as results have it."""
    dims = [dim for dims in RECORD_DIMS.values() for dim in dims]
    return ['step', 'steps_taken', *dims, *RECORD_DIMS, *list_columns(task)]


def list_columns(task: Task) -> list[str]:
    """The columns of members.csv after the axes, before the task's own."""
    is_text = not task.last_only
    columns = [*COLUMNS]
    if is_text:
        columns.append('train_perplexity')
    for eval_set in task.eval_set_names:
        columns.append(f'loss_{eval_set}')
        if is_text:
            columns += [f'perplexity_{eval_set}', f'{eval_set}_tokens']
        columns += [f'{eval_set}_{mapping}' for mapping in task.mapping_names]
    return columns
