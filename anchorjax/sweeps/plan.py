"""What a sweep prints: its plan before it starts, its table of members at the end."""

import math
import pathlib
import time
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from anchorjax import tasks
from anchorjax.config import Experiment
from anchorjax.config.grid import Cohort
from anchorjax.storage.environment import Environment
from anchorjax.storage.reader import Run, members_table
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.progress import format_duration
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import padded_size

# Share of a bare matmul's rate that training steps reach: a guess for the plan alone;
# the progress line measures. On a CPU it was 0.41 at width 64 and 0.78 at width 400
# (RESULTS.md, "What does it cost?").
_CPU_EFFICIENCY = 0.4
_ACCELERATOR_EFFICIENCY = 0.3
_MATMUL_SIZE = 1024
_MOST_TABLE_ROWS = 40
_WIDEST_VALUES = 80  # characters of an axis's values


def describe_plan(
    experiment: Experiment,
    environment: Environment,
    workdir: pathlib.Path,
    estimate: bool = True,
) -> str:
    """Members, cohorts, parameters, size on disk and, roughly, the time.

    Args:
      estimate: whether to state the time, for which a few matmuls are timed.
    """
    cohorts = experiment.cohorts()
    num_members = sum(cohort.size for cohort in cohorts)
    members = _count(num_members, 'member')
    lines = [
        f'{experiment.name}: {members} in {_count(len(cohorts), "cohort")} -> {workdir}'
    ]
    for axis, values in experiment.axes.items():
        lines.append(f'  {axis:14s} {_format_values(values)}')
    for cohort in cohorts:
        lines.append(_describe_cohort(experiment.for_cohort(cohort), cohort))

    train = experiment.train
    devices = f'{environment.devices} {environment.platform} device(s)'
    if environment.batch_devices > 1:
        devices += f' of {environment.batch_devices} devices'
    line = (
        f'  {train.num_steps:,} steps of batch {train.batch_size:,} on {devices}, '
        f'{environment.lanes} lane(s) each'
    )
    if estimate:
        seconds = _estimate_seconds(experiment, environment.platform)
        line += f': roughly {format_duration(seconds)}, plus compilation'
    return '\n'.join([*lines, line])


def describe_data(experiment: Experiment) -> str:
    """What the tasks of the cohorts say about their data, each line once.

    Raises:
      UserError: the data cannot be read.
    """
    lines = []
    for cohort in experiment.cohorts():
        task = tasks.make(experiment.for_cohort(cohort).task)
        if task.describe_data is not None:
            lines.append(f'  {task.describe_data()}\n')
    return ''.join(dict.fromkeys(lines))


def describe_memory(
    experiment: Experiment,
    mesh: Mesh,
    environment: Environment,
    available: float,
) -> str:
    """The memory that the compiled program of every cohort needs.

    Args:
      available: bytes that a device may use.

    Raises:
      ConfigError: a program does not fit; the line says what to change.
    """
    lanes, devices = environment.lanes, mesh.shape['member']
    lines = [
        f'  a device has {memory.format_bytes(available)} available; '
        'compiled programs need'
    ]
    for cohort in experiment.cohorts():
        trainer = get_trainer(experiment.for_cohort(cohort), mesh, lanes)
        compiled = trainer.compile(padded_size(1, mesh, lanes))
        needed = memory.program_bytes(compiled)
        num_chunks = math.ceil(cohort.size / (lanes * devices))
        lines.append(
            f'  cohort {cohort.name}: {memory.format_bytes(needed)} on each device, '
            f'{memory.format_bytes(needed / lanes)} a member; '
            f'{_count(num_chunks, "chunk")} of {_count(lanes * devices, "member")}'
        )
        memory.require_fit(compiled, lanes, available, cohort.name)
    return '\n'.join(lines)


def summarize_members(run: Run) -> str:
    """The table of trained members: point, loss and main agreements."""
    table = members_table(run)
    names = {'train_loss': 'loss', 'train_perplexity': 'perplexity'}
    names |= _name_agreements(run)
    axes = [axis for axis, values in run.experiment.axes.items() if len(values) > 1]
    shown = [column for column in names if column in table]
    trained = table[table.trained]
    rows = trained[[*axes, *shown]].rename(columns=names).head(_MOST_TABLE_ROWS)
    text = rows.to_string(index=False, float_format='{:.4g}'.format)
    num_hidden = len(trained) - _MOST_TABLE_ROWS
    if num_hidden > 0:
        text += f'\n... and {num_hidden} more in members.csv'
    num_diverged = int((trained.diverged >= 0).sum())
    if num_diverged:
        text += (
            f'\n{num_diverged} members diverged '
            '(column diverged of members.csv: the step)'
        )
    return text


def _name_agreements(run: Run) -> dict[str, str]:
    """{column of the table of members: heading} of the agreements to print."""
    task = tasks.make(run.experiment.task)
    if task.headings:
        return dict(task.headings)
    names = {}
    for probe in task.probe_names:
        names[f'{probe}_{task.trained_mapping}'] = probe
    return names


def measure_matmul_rate(precision: str, repeats: int = 8) -> float:
    """Operations per second of float32 matrix products on all devices at once.

    Args:
      precision: `train.precision`: accelerators multiply less exactly by default.
    """
    arrays = []
    for device in jax.local_devices():
        ones = jnp.ones((_MATMUL_SIZE, _MATMUL_SIZE))
        arrays.append(jax.device_put(ones, device))
    multiply = jax.jit(jnp.matmul)

    def multiply_all(times: int) -> None:
        products: list[Any] = []
        for array in arrays:
            products += [multiply(array, array) for _ in range(times)]
        jax.block_until_ready(products)

    with jax.default_matmul_precision(precision):
        multiply_all(1)
        started = time.perf_counter()
        multiply_all(repeats)
        seconds = time.perf_counter() - started
    operations = 2 * _MATMUL_SIZE**3 * repeats * len(arrays)
    return operations / seconds * jax.process_count()


def _describe_cohort(experiment: Experiment, cohort: Cohort) -> str:
    train = experiment.train
    parameters = cost.num_parameters(experiment)
    num_snapshots = len({*train.snapshot_steps, train.num_steps})
    checkpoint = memory.format_bytes(cost.state_bytes(experiment))
    snapshots = memory.format_bytes(4 * parameters * cohort.size * num_snapshots)
    return (
        f'  cohort {cohort.name}: {cohort.size} members, {parameters:,} parameters '
        f'each; {checkpoint} a checkpoint of a member, {snapshots} of snapshots'
    )


def _estimate_seconds(experiment: Experiment, platform: str) -> float:
    """Operations of the sweep over the rate that training is expected to reach."""
    operations = cost.operations_of_sweep(experiment)
    efficiency = _CPU_EFFICIENCY if platform == 'cpu' else _ACCELERATOR_EFFICIENCY
    rate = measure_matmul_rate(experiment.train.precision)
    return operations / rate / efficiency


def _count(number: int, noun: str) -> str:
    """'1 cohort', '1,200 members'."""
    return f'{number:,} {noun}' if number == 1 else f'{number:,} {noun}s'


def _format_values(values: tuple) -> str:
    words = [f'{v:g}' if isinstance(v, float) else str(v) for v in values]
    text = ', '.join(words)
    if len(text) < _WIDEST_VALUES:
        return text
    return f'{text[: _WIDEST_VALUES - 4]}... ({len(values)})'
