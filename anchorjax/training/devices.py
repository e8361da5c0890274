"""The devices of a program: how many, of which kind, and the mesh they form."""

import hashlib
import os
import pathlib
import platform
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from anchorjax.errors import require

_CPUS = pathlib.Path('/proc/cpuinfo')  # of Linux, which locks and checkpoints need too


def use_every_core() -> None:
    """Makes every CPU core a JAX device, unless the user chose a number of devices.

    Much of a member's step is too small to split over threads, so two members on two
    cores are faster than one member on both.

    Raises:
      RuntimeError: this process has already used a device.
    """
    flags = os.environ.get('XLA_FLAGS', '')
    is_chosen = 'xla_force_host_platform_device_count' in flags
    settings: Any = jax.config  # its fields are made when it is imported
    if not is_chosen and settings.jax_num_cpu_devices < 0:
        jax.config.update('jax_num_cpu_devices', len(os.sched_getaffinity(0)))


def cpu_fingerprint() -> str:
    """8 hex digits for this CPU; on another, code may fail or round differently."""
    lines = _CPUS.read_text().splitlines()
    features = [line for line in lines if line.startswith(('model name', 'flags'))]
    text = '\n'.join(features[:2] or lines)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def name_device(device: Any) -> str:
    """'AMD EPYC', 'NVIDIA H100 80GB HBM3': what JAX calls it, but a CPU by its model.

    It is for people alone: two CPUs of one name may have other features; see
    `cpu_fingerprint`.
    """
    if device.platform != 'cpu':
        return device.device_kind
    for line in _CPUS.read_text().splitlines():
        field, _, value = line.partition(':')
        if field.strip() == 'model name':
            return value.strip()
    return platform.machine()  # on ARM Linux gives no model


def make_mesh(num_devices: int = 0, batch_devices: int = 1) -> Mesh:
    """A mesh ('member', 'batch') of all devices of all processes, or of the first few.

    Args:
      num_devices: how many to use; 0: all.
      batch_devices: how many share the batch of a member; their axis is 'batch'.

    Raises:
      ConfigError: `batch_devices` does not divide the number of devices.
    """
    devices = np.array(jax.devices()[: num_devices or None])
    require(
        devices.size % batch_devices == 0,
        'train.batch_devices',
        batch_devices,
        f'a divisor of the number of devices, {devices.size}',
    )
    grid = devices.reshape(-1, batch_devices)
    # Auto, because vmap over an explicitly sharded axis fails (jax 0.10.2).
    return Mesh(grid, ('member', 'batch'), axis_types=(AxisType.Auto,) * 2)
