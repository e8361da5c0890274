"""What the bits of a member depend on besides the config.

The same experiment gives the same bits in equal environments. The number of hosts is
not part of an environment: it does not matter on how many the devices are.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

_YOUNG = ('data', 'code')  # fields that older manifests lack


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
    # {path: SHA-256} of what the examples are read from; {} also in manifests from
    # before it was recorded.
    data: dict[str, str] = dataclasses.field(default_factory=dict)
    # {path: digest} of the sources of tasks, models and training; {} in manifests from
    # before it was recorded.
    code: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def chunk_size(self) -> int:
        """Members that train at the same time, on all devices."""
        return self.lanes * self.devices

    def to_json(self) -> dict[str, Any]:
        """The fields as a dict, without empty `data` and `code`: Environment(**it)."""
        values = dataclasses.asdict(self)
        for name in _YOUNG:
            if not values[name]:
                del values[name]
        return values

    def recall(self, known: Iterable['Environment']) -> 'Environment | None':
        """The one of these environments that is this one, or None.

        One whose code was not recorded may be of this code, and counts as equal.
        """
        known = tuple(known)
        for candidate in (self, dataclasses.replace(self, code={})):
            if candidate in known:
                return candidate
        return None


def changed_code(theirs: Environment, ours: Environment) -> list[str]:
    """The paths of the sources that differ; [] where either did not record them."""
    if not theirs.code or not ours.code:
        return []
    paths = sorted({*theirs.code, *ours.code})
    return [path for path in paths if theirs.code.get(path) != ours.code.get(path)]
