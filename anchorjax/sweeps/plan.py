"""What a sweep will take, before it starts, and its table of members at the end."""

import functools
import math
import pathlib
import shutil
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.errors import StoreUnavailable, UserError
from anchorjax.experiment import AUTO, Experiment
from anchorjax.storage import checkpoint
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps import cost
from anchorjax.sweeps.memory import MOST_LANES, format_bytes
from anchorjax.sweeps.progress import format_duration
from anchorjax.sweeps.shards import WHOLE, Shard, chunks_of_shard
from anchorjax.training import hosts
from anchorjax.training.curves import record_shapes
from anchorjax.training.devices import name_device

WEEK = 7 * 24 * 3600.0
# Elementwise passes over the activations that a step takes as long as, beside its
# matrix products. Fitted on eleven presets on 2 cores of a CPU, which then took 0.5 to
# 2 times the estimate.
_PASSES = 16
# Rows of the square matrix that is timed. With 1,024 on an H100, which they do not
# fill, an estimate came out 13 times too long; with more it was not tried there again.
_EVAL_SET_SIZE_ON_CPU = 1024
_EVAL_SET_SIZE = 8192
_EVAL_SET_TRIES = 3
_MOST_TABLE_ROWS = 40
_MOST_COHORTS_SHOWN = 12
_WIDEST_VALUES = 60  # characters of an axis's values


class Plan(NamedTuple):
    """What is left to do for a sweep, estimated without compiling anything."""

    text: str  # for the user: members, cohorts, time, disk, memory
    seconds: float  # of training, this shard alone
    disk_bytes: float  # still to be written, by all shards


class _Work(NamedTuple):
    """Members of one cohort that are not trained yet."""

    experiment: Experiment  # of the cohort
    members: int
    rows: int  # of their chunks, which are saved with their padding
    chunk_size: int
    steps: int  # left of each
    snapshots: int  # left of each
    in_shard: float  # the share of the members that this shard trains


def make_plan(
    experiment: Experiment, workdir: pathlib.Path, shard: Shard = WHOLE
) -> Plan:
    """The plan of a sweep in its folder, new or begun; StoreError if it is damaged."""
    work = _list_work(experiment, workdir, shard)
    disk, free = _count_disk_bytes(work), _count_free_bytes(workdir)
    seconds = hosts.broadcast(_estimate_seconds(work, experiment.train.precision))
    steps = experiment.train.num_steps
    devices = _count(jax.device_count(), f'{jax.default_backend()} device')
    lines = [
        *_describe_members(experiment, workdir),
        f'  {steps:,} steps of batch {experiment.train.batch_size:,} on '
        f'{devices} ({name_device(jax.devices()[0])})',
        _describe_time(work, seconds, shard),
        f'  disk: {format_bytes(disk)} to write, {format_bytes(free)} free',
    ]
    return Plan('\n'.join(lines), seconds, disk)


def require_disk(experiment: Experiment, workdir: pathlib.Path) -> None:
    """Raises UserError if what the sweep will write does not fit the disk.

    Of a sweep that has begun, StoreUnavailable: it did fit, and may again.
    """
    needed = _count_disk_bytes(_list_work(experiment, workdir, WHOLE))
    free = _count_free_bytes(workdir)
    if needed > free:
        has_begun = (workdir / MANIFEST_FILE).exists()
        error = StoreUnavailable if has_begun else UserError
        raise error(
            f'{workdir}: the sweep writes {format_bytes(needed)}, but only '
            f'{format_bytes(free)} are free there; use a --workdir on a larger disk, '
            'fewer train.snapshot_steps or fewer members'
        )


def require_time(plan: Plan) -> None:
    """Raises UserError if training will take more than a week."""
    if plan.seconds > WEEK:
        raise UserError(
            f'training takes about {format_duration(plan.seconds)} on this machine; '
            'add --yes to begin'
        )


def _list_work(
    experiment: Experiment, workdir: pathlib.Path, shard: Shard
) -> list[_Work]:
    """What is not trained yet, by cohort in a new folder, by chunk in an old one."""
    train = experiment.train
    wanted = {*train.snapshot_steps, train.num_steps}
    work = []
    if not (workdir / MANIFEST_FILE).exists():
        for cohort in experiment.cohorts():
            size = _guess_chunk_size(experiment, cohort.size)
            left = _Work(
                experiment.for_cohort(cohort),
                members=cohort.size,
                rows=math.ceil(cohort.size / size) * size,
                chunk_size=size,
                steps=train.num_steps,
                snapshots=len(wanted),
                in_shard=1 / shard.count,
            )
            work.append(left)
        return work
    folder = read_folder(workdir)
    in_shard = chunks_of_shard(folder, shard)
    for index, chunk in enumerate(folder.chunks):
        if chunk.folder.done:
            continue
        saved = checkpoint.list_steps(chunk.folder.path / 'resume')
        left = _Work(
            experiment.for_cohort(chunk.cohort),
            members=chunk.num_members,
            rows=folder.chunk_size,
            chunk_size=folder.chunk_size,
            steps=train.num_steps - max(saved, default=0),
            snapshots=len(wanted.difference(chunk.folder.snapshot_steps())),
            in_shard=float(index in in_shard),
        )
        work.append(left)
    return work


def _count_disk_bytes(work: list[_Work]) -> float:
    """Bytes of the snapshots, curves (twice: chunks, results.nc) and states to come."""
    kept = newest_states = 0.0
    for left in work:
        experiment = left.experiment
        numbers = left.snapshots * cost.num_parameters(experiment)
        shapes = record_shapes(experiment.task.make())
        of_record = sum(math.prod(shape) for shape in shapes)
        numbers += 2 * of_record * len(experiment.record_steps)
        kept += 4.0 * numbers * left.rows
        # Two are kept while the next one is written.
        states = 3.0 * left.chunk_size * cost.state_bytes(experiment)
        newest_states = max(newest_states, states)
    return kept + newest_states


def _guess_chunk_size(experiment: Experiment, num_members: int) -> int:
    """The most members that train at the same time; see `choose_lanes`."""
    devices = max(1, jax.device_count() // experiment.train.batch_devices)
    lanes = experiment.train.lanes
    if lanes == AUTO:
        most_lanes = 1 if jax.default_backend() == 'cpu' else MOST_LANES
        lanes = min(most_lanes, math.ceil(num_members / devices))
    return lanes * devices


def _count_free_bytes(workdir: pathlib.Path) -> float:
    """The free bytes of the file system of a folder, which need not be there yet."""
    existing = workdir.absolute()
    while not existing.exists():
        existing = existing.parent
    return shutil.disk_usage(existing).free


def _estimate_seconds(work: list[_Work], precision: str) -> float:
    """Seconds of all steps: their operations and bytes at the speed of this machine."""
    operations = num_bytes = 0.0
    for left in work:
        member_steps = left.members * left.steps * left.in_shard
        operations += member_steps * cost.operations_per_step(left.experiment)
        num_bytes += member_steps * cost.activation_bytes(left.experiment)
    if not operations:
        return 0.0
    matmul_rate, byte_rate = _measure_rates(precision)
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
    size = _EVAL_SET_SIZE_ON_CPU if on_cpu else _EVAL_SET_SIZE
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
    for _ in range(_EVAL_SET_TRIES):
        started = time.perf_counter()
        call_on_all()
        seconds.append(time.perf_counter() - started)
    return repeats * len(matrices) * jax.process_count() / min(seconds)


def _describe_time(work: list[_Work], seconds: float, shard: Shard) -> str:
    if seconds:
        return f'  time: about {format_duration(seconds)}, within a factor of two'
    if not work:
        return '  all members are trained already'
    num_left = sum(left.members for left in work)
    return (
        f'  all members of shard {shard} are trained already; '
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
        of_cohort = experiment.for_cohort(cohort)
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
    for cohort in experiment.cohorts():
        task = experiment.for_cohort(cohort).task.make()
        if task.describe_data is not None:
            lines.append(f'  {task.describe_data()}')
    return list(dict.fromkeys(lines))


def summarize_members(run: Run) -> str:
    """The table of trained members: point, loss, agreements, converged, solution."""
    table = run.members
    names = {'train_loss': 'loss', 'train_perplexity': 'perplexity'}
    names |= _name_agreements(run) | {'converged': 'converged', 'solution': 'solution'}
    axes = [axis for axis, values in run.experiment.axes.items() if len(values) > 1]
    shown = [column for column in names if column in table]
    trained = table[table.trained]
    if not len(trained):
        return 'no member is trained yet'
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
    task = run.experiment.task.make()
    if task.headings:
        return dict(task.headings)
    names = {}
    for eval_set in task.eval_set_names:
        names[f'{eval_set}_{task.trained_mapping}'] = eval_set
    return names


def _count(number: int, noun: str) -> str:
    """'1 cohort', '1,200 members'."""
    return f'{number:,} {noun}' if number == 1 else f'{number:,} {noun}s'


def _format_values(values: tuple) -> str:
    words = [f'{v:g}' if isinstance(v, float) else str(v) for v in values]
    text = ', '.join(words)
    if len(text) < _WIDEST_VALUES:
        return text
    return f'{text[: _WIDEST_VALUES - 4]}... ({len(values)})'
