"""Does a compiled program fit its device, and how many members side by side?"""

import math
import os
import pathlib
from typing import Any

from jax.sharding import Mesh

from anchorjax.errors import ConfigError
from anchorjax.experiment import AUTO, Experiment
from anchorjax.sweeps.cost import find_largest
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import padded_size

MOST_LANES = 64  # beyond that a matmul of the paper's size gains nothing
_SHARE = 0.9  # of what JAX may allocate; the rest is for allocator and program
_CGROUP_LIMITS = (
    '/sys/fs/cgroup/memory.max',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
)


def device_bytes(mesh: Mesh) -> float:
    """Bytes that a device may use: 90 % of what JAX may allocate there.

    On a GPU JAX preallocates 75 % (XLA_PYTHON_CLIENT_MEM_FRACTION).
    CPU devices share the memory of the machine, or of the container, equally.
    """
    devices = mesh.local_devices
    stats = devices[0].memory_stats() or {}
    if 'bytes_limit' in stats:
        return _SHARE * stats['bytes_limit']
    machine_bytes = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    for path in map(pathlib.Path, _CGROUP_LIMITS):
        limit = path.read_text().strip() if path.exists() else ''
        if limit.isdecimal():
            machine_bytes = min(machine_bytes, int(limit))
    return _SHARE * machine_bytes / len(devices)


def program_bytes(compiled: Any) -> int:
    """Bytes that a program needs on each device, for its arrays and its code."""
    analysis = compiled.memory_analysis()
    arrays = analysis.argument_size_in_bytes + analysis.output_size_in_bytes
    arrays -= analysis.alias_size_in_bytes
    program = analysis.generated_code_size_in_bytes
    return arrays + analysis.temp_size_in_bytes + program


def require_fit(
    experiment: Experiment, mesh: Mesh, lanes: int, available: float
) -> None:
    """Compiles the largest cohort, to refuse at once what does not fit.

    Args:
      available: bytes that a device may use.

    Raises:
      ConfigError: it is too large; the line names what to change.
    """
    largest = find_largest(experiment)
    needed = _measure(largest, mesh, lanes)
    if needed <= available:
        return
    sizes = (
        f'{experiment.name} needs {format_bytes(needed)} on each device, '
        f'which has {format_bytes(available)} available'
    )
    if lanes > 1:
        raise ConfigError(
            f'train.lanes = {lanes}: {sizes}; use fewer lanes, or -1 in a new --workdir'
        )
    raise ConfigError(
        f'train.batch_size: one member of {sizes}; use a smaller batch, or share it '
        'between devices by train.batch_devices'
    )


def choose_lanes(experiment: Experiment, mesh: Mesh, available: float) -> int:
    """The config's lanes; for AUTO what fits, but 1 on a CPU, where more gain nothing.

    Args:
      available: bytes that a device may use.
    """
    if experiment.train.lanes != AUTO:
        return experiment.train.lanes
    if mesh.devices.flat[0].platform == 'cpu':
        return 1
    return count_fitting_lanes(experiment, mesh, available)


def count_fitting_lanes(experiment: Experiment, mesh: Mesh, available: float) -> int:
    """The most lanes that fit `available` bytes, at most 64 and at most the members.

    Two small programs of the largest cohort show what a lane costs. The program with
    the lanes that should fit is compiled too, and the lanes are halved until it does.
    The result is at least 1, even if that does not fit.
    """
    largest = find_largest(experiment)
    bytes_of_one = _measure(largest, mesh, lanes=1)
    bytes_of_three = _measure(largest, mesh, lanes=3)
    bytes_per_lane = max((bytes_of_three - bytes_of_one) / 2, 1)
    most_members = max(cohort.size for cohort in experiment.cohorts())
    members_per_device = math.ceil(most_members / mesh.shape['member'])
    fitting = int(1 + (available - bytes_of_one) // bytes_per_lane)
    lanes = max(1, min(MOST_LANES, members_per_device, fitting))
    while lanes > 1 and _measure(largest, mesh, lanes) > available:
        lanes //= 2
    return lanes


def _measure(experiment: Experiment, mesh: Mesh, lanes: int) -> int:
    """Bytes on each device of the program of a cohort with these lanes."""
    rows = padded_size(1, mesh, lanes)
    return program_bytes(get_trainer(experiment, mesh, lanes).compile(rows))


def format_bytes(size: float) -> str:
    """'1.5 GiB', '20.1 MiB', '4 KiB'."""
    size /= 1024
    if size < 1024:
        return f'{size:.0f} KiB'
    size /= 1024
    if size < 1024:
        return f'{size:.1f} MiB'
    return f'{size / 1024:.1f} GiB'
