"""What the bits of a member depend on besides the config.

The same experiment gives the same bits in equal environments. The number of hosts is
not part of an environment: it does not matter on how many the devices are.
"""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Environment:
    """An environment that members of a sweep are trained in; plain JSON values."""

    lanes: int  # members side by side on one device
    devices: int  # along 'member' in the mesh
    batch_devices: int  # devices that share a batch
    platform: str  # 'cpu', 'gpu' or 'tpu'
    precision: str  # of matrix products
    versions: dict[str, str]  # of the libraries that decide bits
    hardware: dict[str, str]
    flags: dict[str, Any]  # of XLA and JAX that change what is computed
    # {path: SHA-256} of what the examples are read from
    data: dict[str, str] = dataclasses.field(default_factory=dict)
    # {path: digest} of the sources of tasks, models and training
    code: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def chunk_size(self) -> int:
        """Members that train at the same time, on all devices."""
        return self.lanes * self.devices


def changed_code(theirs: Environment, ours: Environment) -> list[str]:
    """The paths of the sources that differ."""
    paths = sorted({*theirs.code, *ours.code})
    return [path for path in paths if theirs.code.get(path) != ours.code.get(path)]
