"""What a JobSet for TPUs is made of, and which values Kubernetes accepts."""

import math
import re
from typing import NamedTuple

from anchorjax.errors import require

_DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'


class Slices(NamedTuple):
    """What each shard gets: a slice of a TPU.

    Attributes:
      accelerator: 'tpu-v5-lite-podslice', the node label
        cloud.google.com/gke-tpu-accelerator.
      topology: '2x4', the node label cloud.google.com/gke-tpu-topology.
      hosts: machines of a slice; together they run one program.
      chips_per_host: hosts * chips_per_host is the product of the topology.
    """

    accelerator: str
    topology: str
    hosts: int
    chips_per_host: int


class Volume(NamedTuple):
    """Where runs are stored: a claim that many pods may write to.

    Its file system must have atomic rename and locks. Filestore and other NFS servers
    have both; a bucket mounted as a folder (Cloud Storage FUSE) has neither.
    """

    claim: str
    mount: str


def check_name(name: str) -> None:
    """Raises ConfigError unless Kubernetes accepts the name of a JobSet.

    The longest name derived from it is a pod's host name, NAME-shard-99999-99999, which
    may have 63 characters.
    """
    is_label = re.fullmatch(_DNS_LABEL, name) and not name[0].isdecimal()
    allowed = 'lower-case letters, digits and -, at most 45'
    require(bool(is_label) and len(name) <= 45, '--name', name, allowed)


def check_counts(image: str, shards: int, retries: int, grace: int) -> None:
    """Raises ConfigError for a value that is not allowed."""
    has_space = re.search(r'\s', image)
    require(bool(image) and not has_space, '--image', image, 'an image')
    require(0 < shards < 100_000, '--shards', shards, 'from 1 to 99999')
    require(retries >= 0, '--retries', retries, 'at least 0')
    require(grace > 0, '--grace', grace, 'positive')


def check_slices(slices: Slices) -> None:
    """Raises ConfigError for labels of a wrong form, or chips that do not add up."""
    accelerator, topology = slices.accelerator, slices.topology
    is_label = re.fullmatch(_DNS_LABEL, accelerator)
    require(bool(is_label), '--accelerator', accelerator, 'as tpu-v5-lite-podslice')
    is_grid = re.fullmatch('[1-9][0-9]*(x[1-9][0-9]*){1,2}', topology)
    require(bool(is_grid), '--topology', topology, 'as 2x4 or 4x4x4')
    chips = math.prod(int(side) for side in topology.split('x'))
    require(slices.hosts > 0, '--hosts', slices.hosts, 'positive')
    require(
        slices.chips_per_host > 0, '--chips_per_host', slices.chips_per_host, 'positive'
    )
    given = slices.hosts * slices.chips_per_host
    allowed = f'{chips}, the number of chips in --topology'
    require(given == chips, '--hosts * --chips_per_host', given, allowed)


def check_volume(volume: Volume) -> None:
    """Raises ConfigError unless the claim is a valid name and the mount a folder.

    Mounted on /, the claim would hide the image.
    """
    claim, mount = volume.claim, volume.mount
    label = claim.replace('.', '-')
    is_name = re.fullmatch(_DNS_LABEL, label) and not label[0].isdecimal()
    allowed = 'the name of a PersistentVolumeClaim'
    require(bool(is_name) and len(claim) <= 253, '--claim', claim, allowed)
    parts = [part for part in mount.split('/') if part not in ('', '.')]
    is_folder = mount.startswith('/') and bool(parts) and '..' not in parts
    is_folder = is_folder and ':' not in mount
    allowed = 'an absolute path other than /, without .. and :'
    require(is_folder, '--mount', mount, allowed)
