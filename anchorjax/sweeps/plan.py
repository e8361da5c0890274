"""What a sweep will take, before it starts."""

import functools
import pathlib
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.sweeps import cost
from anchorjax.sweeps.memory import format_bytes
from anchorjax.sweeps.prepare import Prepared
from anchorjax.sweeps.progress import format_duration
from anchorjax.training import hosts
from anchorjax.training.devices import name_device

WEEK = 7 * 24 * 3600.0
# A step costs its matrix products and about this many elementwise passes over their
# results. Eleven presets on 2 cores took 0.5 to 2 times an estimate by formulas, from
# which this one differs by a factor of at most 1.7.
_PASSES = 22
# Rows of the square matrix that is timed. With 1,024 on an H100, which they do not
# fill, an estimate came out 13 times too long; with more it was not tried there again.
_MATRIX_SIZE_ON_CPU = 1024
_MATRIX_SIZE = 8192
_TRIES = 3
_MOST_COHORTS_SHOWN = 12
_WIDEST_VALUES = 60  # characters of an axis's values


class Plan(NamedTuple):
    """What a sweep takes, estimated without compiling it."""

    text: str  # for the user: members, cohorts, time, disk, memory
    seconds: float  # of training, this shard alone


def make_plan(prepared: Prepared) -> Plan:
    """The plan of a sweep; every process must call it."""
    experiment = prepared.experiment
    seconds = hosts.broadcast(_estimate_seconds(prepared))
    steps = experiment.train.num_steps
    of_cohorts = experiment.of_cohorts.values()
    batches = dict.fromkeys(f'{each.train.batch_size:,}' for each in of_cohorts)
    disk, free = map(format_bytes, (prepared.disk_bytes, prepared.free_bytes))
    devices = _count(jax.device_count(), f'{jax.default_backend()} device')
    lines = [
        *_describe_members(experiment, prepared.workdir),
        f'  {steps:,} steps of batch {", ".join(batches)} on '
        f'{devices} ({name_device(jax.devices()[0])})',
        _describe_time(prepared, seconds),
        f'  disk: {disk} to write, {free} free',
    ]
    return Plan('\n'.join(lines), seconds)


def require_time(plan: Plan) -> None:
    """Raises UserError if training will take more than a week."""
    if plan.seconds > WEEK:
        raise UserError(
            f'training takes about {format_duration(plan.seconds)} on this machine; '
            'add --yes to begin'
        )


def _estimate_seconds(prepared: Prepared) -> float:
    """Seconds of all steps: their operations and bytes at the speed of this machine."""
    operations = num_bytes = 0.0
    for left in prepared.work:
        member_steps = left.members * left.steps * left.in_shard
        step = cost.count_step(left.experiment)
        operations += member_steps * step.operations
        num_bytes += member_steps * step.product_bytes
    if not operations:
        return 0.0
    matmul_rate, byte_rate = _measure_rates(prepared.experiment.train.precision)
    return operations / matmul_rate + _PASSES * num_bytes / byte_rate


@functools.lru_cache
def _measure_rates(precision: str) -> tuple[float, float]:
    """Operations of products, and bytes of elementwise functions, per second.

    Both in float32 and on all devices at once.

    Args:
      precision: `train.precision`: accelerators multiply less exactly by default.
    """

    def multiply(x: jax.Array) -> jax.Array:
        return x @ x

    def halve(x: jax.Array) -> jax.Array:
        return 0.5 * x + 1e-3

    on_cpu = jax.default_backend() == 'cpu'
    size = _MATRIX_SIZE_ON_CPU if on_cpu else _MATRIX_SIZE
    with jax.default_matmul_precision(precision):
        products = _measure_calls(multiply, size, repeats=8)
    passes = _measure_calls(halve, size, repeats=50)
    return 2 * size**3 * products, 2 * 4 * size**2 * passes


def _measure_calls(
    fn: Callable[[jax.Array], jax.Array], size: int, repeats: int
) -> float:
    """Calls per second on a square matrix, on all devices at once; the best of some."""

    @jax.jit
    def call_repeatedly(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, repeats, lambda _, x: fn(x), x)

    matrices = []
    for device in jax.local_devices():
        matrix = jnp.full((size, size), 1 / size)
        matrices.append(jax.device_put(matrix, device))

    def call_on_all() -> None:
        jax.block_until_ready([call_repeatedly(matrix) for matrix in matrices])

    call_on_all()  # compiles
    seconds = []
    for _ in range(_TRIES):
        started = time.perf_counter()
        call_on_all()
        seconds.append(time.perf_counter() - started)
    return repeats * len(matrices) * jax.process_count() / min(seconds)


def _describe_time(prepared: Prepared, seconds: float) -> str:
    if seconds:
        return f'  time: about {format_duration(seconds)}, within a factor of three'
    if not prepared.work:
        return '  all members are trained already'
    num_left = sum(left.members for left in prepared.work)
    return (
        f'  all members of shard {prepared.shard} are trained already; '
        f'left to other shards: {num_left}'
    )


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


def describe_data(experiment: Experiment) -> list[str]:
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
