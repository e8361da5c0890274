"""Does a compiled program fit its device? Said before a run starts, with what to change."""

import os
import pathlib

import jax

from anchorjax.errors import ConfigError

_SHARE = 0.9  # of the device; the rest is the allocator's and the program's own
_CGROUP_LIMITS = (
    '/sys/fs/cgroup/memory.max',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
)


def device_bytes(mesh: jax.sharding.Mesh) -> float:
    """What one device of the mesh may use; on a CPU its share of the machine (or container)."""
    device = mesh.local_devices[0]
    stats = device.memory_stats() or {}
    if 'bytes_limit' in stats:
        return _SHARE * stats['bytes_limit']
    machine = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    limits = [
        p.read_text().strip() for p in map(pathlib.Path, _CGROUP_LIMITS) if p.exists()
    ]
    machine = min([machine, *(int(text) for text in limits if text.isdecimal())])
    return _SHARE * machine / len(mesh.local_devices)


def program_bytes(compiled) -> int:
    """Bytes that a compiled program takes on each device: arguments, results, temporaries."""
    m = compiled.memory_analysis()
    program = m.generated_code_size_in_bytes
    arrays = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return arrays + m.temp_size_in_bytes + program


def require_fit(compiled, lanes: int, available: float, what: str) -> None:
    """Raises ConfigError when the program is too large; the line names what to change."""
    if (bytes_needed := program_bytes(compiled)) <= available:
        return
    sizes = f'needs {format_bytes(bytes_needed)} on each device, which has {format_bytes(available)} to give'
    if lanes > 1:
        raise ConfigError(
            f'train.lanes = {lanes}: {what} {sizes}; give fewer lanes, or -1'
        )
    raise ConfigError(
        f'train.batch_size: one member of {what} {sizes}; give a smaller batch, or share it '
        'between devices by train.batch_devices'
    )


def format_bytes(size: float) -> str:
    """'1.5 GiB', '20.1 MiB', '4 KiB'."""
    for unit, digits in (('KiB', 0), ('MiB', 1), ('GiB', 1)):
        size /= 1024
        if size < 1024 or unit == 'GiB':
            return f'{size:.{digits}f} {unit}'
    raise AssertionError
