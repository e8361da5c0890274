"""A sweep on Google's TPUs: a Kubernetes JobSet with one Job for each shard, as a dict.

Facts relied on (looked up in November 2026; no cluster was at hand):
  kubernetes-sigs/jobset, api/jobset/v1alpha2/jobset_types.go: fields, the annotations
    jobset.sigs.k8s.io/job-index and alpha.jobset.sigs.k8s.io/exclusive-topology
  the same, site/static/examples/tpu-multislice: node selectors, google.com/tpu, node pools
  kubernetes.io, Jobs: podFailurePolicy (the first rule that fits counts; restartPolicy Never)
  jax, _src/clusters/cloud_tpu_cluster.py: TPU_WORKER_*, which GKE sets, and MEGASCALE_*
"""

import re
from typing import Any, NamedTuple

from anchorjax.cluster.supervisor import REFUSED, SAVED
from anchorjax.errors import require

_JOB = 'shard'  # Jobs are NAME-shard-0, pods NAME-shard-0-0-xxxxx
_INDEX = "metadata.annotations['jobset.sigs.k8s.io/job-index']"
# With these, which some tools put into the pods of a JobSet with several Jobs, all slices would
# become one program; our shards know nothing of each other.
_MULTISLICE = (
    'MEGASCALE_COORDINATOR_ADDRESS',
    'MEGASCALE_NUM_SLICES',
    'MEGASCALE_SLICE_ID',
)


class Slices(NamedTuple):
    """What each shard gets: a slice of a TPU.

    Attributes:
      accelerator: 'tpu-v5-lite-podslice', the node label cloud.google.com/gke-tpu-accelerator.
      topology: '2x4', the label cloud.google.com/gke-tpu-topology.
      hosts: machines of a slice; they are one program.
      chips_per_host: hosts * chips_per_host is the product of the topology.
    """

    accelerator: str
    topology: str
    hosts: int
    chips_per_host: int


class Volume(NamedTuple):
    """Where runs live: a claim whose file system has atomic rename and locks, for many writers.

    Filestore or another NFS has; a bucket mounted as a folder (Cloud Storage FUSE) has not.
    """

    claim: str
    mount: str


def make_jobset(
    name: str,
    image: str,
    shards: int,
    slices: Slices,
    volume: Volume,
    words: list[str],
    *,
    retries: int = 3,
    grace: int = 120,
) -> dict[str, Any]:
    """The JobSet.

    Args:
      name: of the JobSet; other names begin with it.
      image: has this repository as its working directory, its Python as `python`.
      words: of launch/sweep.py, without --shard and --distributed.
      retries: of a shard that crashed on one host, and restarts of the whole set.
      grace: seconds to save in, between SIGTERM and SIGKILL.

    Raises:
      ConfigError: a value is not allowed; the line names it.
    """
    _check(name, image, shards, slices, volume, retries, grace)
    job = _job(slices, retries, _pod(image, shards, slices, volume, words, grace))
    return {
        'apiVersion': 'jobset.x-k8s.io/v1alpha2',
        'kind': 'JobSet',
        'metadata': {
            'name': name,
            # One Job to a node pool, which is a slice.
            'annotations': {
                'alpha.jobset.sigs.k8s.io/exclusive-topology': 'cloud.google.com/gke-nodepool'
            },
        },
        'spec': {
            'network': {'enableDNSHostnames': True, 'publishNotReadyAddresses': True},
            'failurePolicy': {'maxRestarts': retries, 'rules': [_bad_input()]},
            'replicatedJobs': [
                {'name': _JOB, 'replicas': shards, 'template': {'spec': job}}
            ],
        },
    }


def _job(slices: Slices, retries: int, pod: dict[str, Any]) -> dict[str, Any]:
    """The Job of one shard: a pod on each host of its slice."""
    return {
        'parallelism': slices.hosts,
        'completions': slices.hosts,
        'completionMode': 'Indexed',
        # The hosts of a slice are one program: one that crashed cannot come back alone.
        'backoffLimit': retries if slices.hosts == 1 else 0,
        # A new pod may not meet the locks of one that is still saving.
        'podReplacementPolicy': 'Failed',
        'podFailurePolicy': {'rules': _pod_rules()},
        'template': {'spec': pod},
    }


def _bad_input() -> dict[str, Any]:
    """What one shard refuses all refuse, and restarting does not mend it."""
    reasons = ['PodFailurePolicy']
    return {'name': 'badInput', 'action': 'FailJobSet', 'onJobFailureReasons': reasons}


def _pod_rules() -> list[dict[str, Any]]:
    """Preemptions do not count as failures; bad input ends the Job at once."""
    code = lambda number: {'operator': 'In', 'values': [number]}
    return [
        {'action': 'Ignore', 'onExitCodes': code(SAVED)},
        {'action': 'FailJob', 'onExitCodes': code(REFUSED)},
        {
            'action': 'Ignore',
            'onPodConditions': [{'type': 'DisruptionTarget', 'status': 'True'}],
        },
    ]


def _pod(image, shards, slices: Slices, volume: Volume, words, grace) -> dict[str, Any]:
    chips = {'google.com/tpu': str(slices.chips_per_host)}
    return {
        'restartPolicy': 'Never',  # podFailurePolicy demands it
        'terminationGracePeriodSeconds': grace,
        'nodeSelector': {
            'cloud.google.com/gke-tpu-accelerator': slices.accelerator,
            'cloud.google.com/gke-tpu-topology': slices.topology,
        },
        'volumes': [
            {'name': 'runs', 'persistentVolumeClaim': {'claimName': volume.claim}}
        ],
        'containers': [
            {
                'name': 'sweep',
                'image': image,
                'command': ['env', *(f'--unset={name}' for name in _MULTISLICE)],
                'args': _line(shards, slices.hosts, words),
                'env': [
                    _from_pod('SHARD', _INDEX),
                    _from_pod('POD_NAME', 'metadata.name'),
                ],
                'resources': {'requests': chips, 'limits': dict(chips)},
                'volumeMounts': [{'name': 'runs', 'mountPath': volume.mount}],
            }
        ],
    }


def _line(shards: int, hosts: int, words: list[str]) -> list[str]:
    """The command; Kubernetes puts the pod's own number in for $(SHARD), and takes $$ for $."""
    program = [
        'python',
        '-u',
        'launch/sweep.py',
        *(w.replace('$(', '$$(') for w in words),
    ]
    return [
        *program,
        f'--shard=$(SHARD)/{shards}',
        *(['--distributed'] if hosts > 1 else []),
    ]


def _from_pod(name: str, path: str) -> dict[str, Any]:
    return {'name': name, 'valueFrom': {'fieldRef': {'fieldPath': path}}}


def _check(name, image, shards, slices: Slices, volume: Volume, retries, grace) -> None:
    # The longest name made from it is a pod's host name, NAME-shard-99999-99999, of 63 characters.
    dns = lambda text, most: (
        len(text) <= most and re.fullmatch('[a-z]([-a-z0-9]*[a-z0-9])?', text)
    )
    require(
        bool(dns(name, 45)),
        '--name',
        name,
        'lower-case letters, digits and -, at most 45',
    )
    require(bool(image) and not re.search(r'\s', image), '--image', image, 'an image')
    require(0 < shards < 100_000, '--shards', shards, 'from 1 to 99999')
    is_label = re.fullmatch('[a-z0-9]([-a-z0-9]*[a-z0-9])?', slices.accelerator)
    require(
        bool(is_label), '--accelerator', slices.accelerator, 'as tpu-v5-lite-podslice'
    )
    is_grid = re.fullmatch('[1-9][0-9]*(x[1-9][0-9]*){1,2}', slices.topology)
    require(bool(is_grid), '--topology', slices.topology, 'as 2x4 or 4x4x4')
    chips = 1
    for side in slices.topology.split('x'):
        chips *= int(side)
    given, allowed = (
        slices.hosts * slices.chips_per_host,
        f'{chips}, as --topology has chips',
    )
    require(given == chips, '--hosts * --chips_per_host', given, allowed)
    claim = dns(volume.claim.replace('.', '-'), 253)
    require(bool(claim), '--claim', volume.claim, 'the name of a PersistentVolumeClaim')
    require(volume.mount.startswith('/'), '--mount', volume.mount, 'an absolute path')
    require(retries >= 0, '--retries', retries, 'at least 0')
    require(grace > 0, '--grace', grace, 'positive')
