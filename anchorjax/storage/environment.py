"""What the bits of a run depend on beside its config.

Two runs of one experiment have equal bits when their environments are equal. The number
of hosts is not part of it: the same devices on one host or on several give the same
bits.
"""

import dataclasses
from typing import Any

from anchorjax.errors import StoreError, brief


@dataclasses.dataclass(frozen=True)
class Environment:
    """One environment that members of a sweep were trained in; plain JSON values."""

    lanes: int  # members side by side on one device
    devices: int  # along the member axis of the mesh
    batch_devices: int  # that share the batch of a member
    platform: str  # 'cpu', 'gpu' or 'tpu'
    precision: str  # of matrix products
    versions: dict[str, str]  # of the libraries that decide bits
    hardware: dict[str, str]
    flags: dict[str, Any]  # of XLA and JAX that change what is computed

    @property
    def chunk_size(self) -> int:
        """Members that train at one time on all devices."""
        return self.lanes * self.devices

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def environment_from_json(values: Any) -> Environment:
    """The environment that `Environment.to_json` described.

    Raises:
      StoreError: it is not one, in one line.
    """
    fields = dataclasses.fields(Environment)
    if not isinstance(values, dict) or set(values) != {field.name for field in fields}:
        raise StoreError(brief(f'not an environment: {values!r}'))
    expected = {
        'lanes': int,
        'devices': int,
        'batch_devices': int,
        'platform': str,
        'precision': str,
        'versions': dict,
        'hardware': dict,
        'flags': dict,
    }
    for name, kind in expected.items():
        if type(values[name]) is not kind:
            raise StoreError(brief(f'not an environment: {name} = {values[name]!r}'))
    return Environment(**values)
