"""The devices of this program: how many, of which kind, and the mesh they form."""

import hashlib
import os
import pathlib
import platform

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from anchorjax.errors import require


def use_every_core() -> None:
    """One JAX device per CPU core; call it before anything touches a device.

    A member's step has many passes too small to split over threads, so two members on
    two cores beat one member on both. Does nothing when the user chose a number of
    devices.
    """
    flags = os.environ.get('XLA_FLAGS', '')
    is_chosen = 'xla_force_host_platform_device_count' in flags
    if not is_chosen and jax.config.jax_num_cpu_devices < 0:
        jax.config.update('jax_num_cpu_devices', len(os.sched_getaffinity(0)))


def cpu_fingerprint() -> str:
    """Fingerprint of this CPU: code may not run, or round alike, on another."""
    info = pathlib.Path('/proc/cpuinfo')
    if not info.exists():
        return _short_hash(platform.processor())
    lines = info.read_text().splitlines()
    features = [line for line in lines if line.startswith(('model name', 'flags'))]
    return _short_hash('\n'.join(features[:2] or lines))


def make_mesh(num_devices: int = 0, batch_devices: int = 1) -> Mesh:
    """A mesh ('member', 'batch') of all devices of all processes, or of the first few.

    Args:
      num_devices: how many to use; 0: all.
      batch_devices: how many share the batch of a member.

    Raises:
      ConfigError: the devices cannot be divided that way.
    """
    devices = np.array(jax.devices()[: num_devices or None])
    require(
        devices.size % batch_devices == 0,
        'train.batch_devices',
        batch_devices,
        f'a divisor of the number of devices, {devices.size}',
    )
    grid = devices.reshape(-1, batch_devices)
    # Auto: vmap over a member axis that is sharded explicitly fails (jax 0.10.2).
    return Mesh(grid, ('member', 'batch'), axis_types=(AxisType.Auto,) * 2)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
