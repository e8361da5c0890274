"""What a sweep will take, before it starts: networks, operations, disk, memory.

How long that takes is said by the progress bar, after its first piece.
"""

import pathlib

import jax

from anchorjax.experiment import Experiment
from anchorjax.sweeps import cost
from anchorjax.sweeps.memory import format_bytes
from anchorjax.sweeps.prepare import Sweep
from anchorjax.training.devices import name_device

_MOST_COHORTS_SHOWN = 12
_WIDEST_VALUES = 60  # characters of an axis's values


def describe_sweep(sweep: Sweep) -> str:
    """The plan of a sweep, for the user; nothing is compiled."""
    experiment = sweep.experiment
    of_cohorts = experiment.of_cohorts.values()
    batches = dict.fromkeys(f'{each.train.batch_size:,}' for each in of_cohorts)
    devices = _count(jax.device_count(), f'{jax.default_backend()} device')
    disk, free = map(format_bytes, (sweep.disk_bytes, sweep.free_bytes))
    lines = [
        *_describe_members(experiment, sweep.workdir),
        f'  {experiment.train.num_steps:,} steps of batch {", ".join(batches)} on '
        f'{devices} ({name_device(jax.devices()[0])})',
        _describe_work(sweep),
        f'  disk: {disk} to write, {free} free',
        *_describe_data(experiment),
    ]
    return '\n'.join(lines)


def _describe_work(sweep: Sweep) -> str:
    """'  to train: 198,000 member-steps, 310 Tflop of matrix products'."""
    member_steps = operations = 0.0
    for left in sweep.work:
        of_shard = left.members * left.steps * left.in_shard
        member_steps += of_shard
        operations += of_shard * cost.count_step(left.experiment).operations
    if member_steps:
        products = _format_operations(operations)
        return f'  to train: {member_steps:,.0f} member-steps, {products}'
    if not sweep.work:
        return '  all members are trained already'
    num_left = sum(left.members for left in sweep.work)
    return (
        f'  all members of shard {sweep.shard} are trained already; '
        f'left to other shards: {num_left}'
    )


def _format_operations(number: float) -> str:
    """'310 Tflop of matrix products': multiplications and additions."""
    prefix, number = 'G', number / 1e9
    for larger in ('T', 'P', 'E'):
        if number >= 1000:
            prefix, number = larger, number / 1000
    return f'{number:.3g} {prefix}flop of matrix products'


def _describe_members(experiment: Experiment, workdir: pathlib.Path) -> list[str]:
    """The members, the values of every axis, and the cohorts."""
    cohorts = experiment.cohorts()
    members = _count(sum(cohort.size for cohort in cohorts), 'member')
    number = _count(len(cohorts), 'cohort')
    lines = [f'{experiment.name}: {members} in {number} -> {workdir}']
    for axis, values in experiment.axes.items():
        lines.append(f'  {axis:14s} {_format_values(values)}')
    for cohort in cohorts[:_MOST_COHORTS_SHOWN]:
        of_cohort = experiment.of_cohorts[cohort.name]
        parameters = cost.num_parameters(of_cohort)
        memory = format_bytes(cost.step_bytes(of_cohort))
        lines.append(
            f'  cohort {cohort.name}: {_count(cohort.size, "member")}, '
            f'{parameters:,} parameters, about {memory} of memory each'
        )
    num_hidden = len(cohorts) - _MOST_COHORTS_SHOWN
    if num_hidden > 0:
        lines.append(f'  and {_count(num_hidden, "cohort")} more')
    return lines


def _describe_data(experiment: Experiment) -> list[str]:
    """What the tasks say about their data, each line once; UserError if unreadable."""
    lines = []
    for of_cohort in experiment.of_cohorts.values():
        task = of_cohort.task.make()
        if task.describe_data is not None:
            lines.append(f'  {task.describe_data()}')
    return list(dict.fromkeys(lines))


def _count(number: int, noun: str) -> str:
    """'1 cohort', '1,200 members'."""
    return f'{number:,} {noun}' if number == 1 else f'{number:,} {noun}s'


def _format_values(values: tuple) -> str:
    words = [f'{v:g}' if isinstance(v, float) else str(v) for v in values]
    text = ', '.join(words)
    if len(text) < _WIDEST_VALUES:
        return text
    return f'{text[: _WIDEST_VALUES - 4]}... ({len(values)})'
