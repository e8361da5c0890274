"""What the bits of a member depend on besides the config.

The same experiment gives the same bits in equal environments. The number of hosts is
not part of an environment: it does not matter on how many the devices are.
"""

import dataclasses
from typing import Any

from anchorjax.errors import StoreError, brief


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

    @property
    def chunk_size(self) -> int:
        """Members that train at the same time, on all devices."""
        return self.lanes * self.devices

    def to_json(self) -> dict[str, Any]:
        """The fields as a dict, without empty `data`; see `environment_from_json`."""
        values = dataclasses.asdict(self)
        if not self.data:
            del values['data']
        return values


def environment_from_json(values: Any) -> Environment:
    """The environment that `Environment.to_json` described.

    Raises:
      StoreError: the values do not describe one.
    """
    fields = dataclasses.fields(Environment)
    if isinstance(values, dict):
        values = {'data': {}, **values}
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
        'data': dict,
    }
    for name, kind in expected.items():
        if type(values[name]) is not kind:
            raise StoreError(brief(f'not an environment: {name} = {values[name]!r}'))
    if values['lanes'] < 1:
        raise StoreError(brief(f'not an environment: lanes = {values["lanes"]!r}'))
    return Environment(**values)
