"""A sweep on Google's TPUs: a Kubernetes JobSet with one Job for each shard, as a dict.

It relies on these facts (looked up in November 2026; no cluster was available):
  kubernetes-sigs/jobset, api/jobset/v1alpha2/jobset_types.go: the fields, and the
    annotations jobset.sigs.k8s.io/job-index and
    alpha.jobset.sigs.k8s.io/exclusive-topology
  the same, site/static/examples/tpu-multislice: node selectors, google.com/tpu, node
    pools
  kubernetes.io, Jobs: podFailurePolicy (the first matching rule counts; it requires
    restartPolicy Never)
  jax, _src/clusters/cloud_tpu_cluster.py: TPU_WORKER_*, which GKE sets, and MEGASCALE_*
"""

from typing import Any

from anchorjax.cluster.gke_values import (
    Slices,
    Volume,
    check_counts,
    check_name,
    check_slices,
    check_volume,
)
from anchorjax.cluster.supervisor import REFUSED, SAVED

_JOB = 'shard'  # Jobs are called NAME-shard-0, pods NAME-shard-0-0-xxxxx
_INDEX = "metadata.annotations['jobset.sigs.k8s.io/job-index']"
_TOPOLOGY = 'alpha.jobset.sigs.k8s.io/exclusive-topology'
# Some tools set these in every pod of a JobSet with several Jobs, and all slices would
# become one program. Our shards are separate programs.
_MULTISLICE = (
    'MEGASCALE_COORDINATOR_ADDRESS',
    'MEGASCALE_NUM_SLICES',
    'MEGASCALE_SLICE_ID',
)


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
      name: of the JobSet; the names of its Jobs and pods begin with it.
      image: its working directory is this repository, and `python` has its packages.
      words: of launch/sweep.py, without --shard and --distributed.
      retries: of a shard that crashed on one host, and restarts of the whole set.
      grace: seconds between SIGTERM and SIGKILL, in which a shard saves.

    Raises:
      ConfigError: a value is not allowed; the line names it.
    """
    check_name(name)
    check_counts(image, shards, retries, grace)
    check_slices(slices)
    check_volume(volume)
    container = _make_container(image, shards, slices, volume, words)
    job = _make_job(slices, retries, _make_pod(container, slices, volume, grace))
    # All shards refuse the same input, so restarting the set would not help.
    bad_input = {
        'name': 'badInput',
        'action': 'FailJobSet',
        'onJobFailureReasons': ['PodFailurePolicy'],
    }
    return {
        'apiVersion': 'jobset.x-k8s.io/v1alpha2',
        'kind': 'JobSet',
        'metadata': {
            'name': name,
            # One Job to a node pool, which is a slice.
            'annotations': {_TOPOLOGY: 'cloud.google.com/gke-nodepool'},
        },
        'spec': {
            'network': {'enableDNSHostnames': True, 'publishNotReadyAddresses': True},
            'failurePolicy': {'maxRestarts': retries, 'rules': [bad_input]},
            'replicatedJobs': [
                {'name': _JOB, 'replicas': shards, 'template': {'spec': job}}
            ],
        },
    }


def _make_job(slices: Slices, retries: int, pod: dict[str, Any]) -> dict[str, Any]:
    """The Job of one shard: a pod on each host of its slice."""
    return {
        'parallelism': slices.hosts,
        'completions': slices.hosts,
        'completionMode': 'Indexed',
        # The hosts of a slice run one program: a crashed one cannot come back alone.
        'backoffLimit': retries if slices.hosts == 1 else 0,
        # A new pod must not meet the locks of an old one that is still saving.
        'podReplacementPolicy': 'Failed',
        'podFailurePolicy': {'rules': _make_pod_rules()},
        'template': {'spec': pod},
    }


def _make_pod_rules() -> list[dict[str, Any]]:
    """Preemptions do not count as failures; bad input ends the Job at once."""
    saved = {'operator': 'In', 'values': [SAVED]}
    refused = {'operator': 'In', 'values': [REFUSED]}
    disrupted = {'type': 'DisruptionTarget', 'status': 'True'}
    return [
        {'action': 'Ignore', 'onExitCodes': saved},
        {'action': 'FailJob', 'onExitCodes': refused},
        {'action': 'Ignore', 'onPodConditions': [disrupted]},
    ]


def _make_pod(
    container: dict[str, Any], slices: Slices, volume: Volume, grace: int
) -> dict[str, Any]:
    """The pod of one host."""
    claim = {'claimName': volume.claim}
    return {
        'restartPolicy': 'Never',  # podFailurePolicy requires it
        'terminationGracePeriodSeconds': grace,
        'nodeSelector': {
            'cloud.google.com/gke-tpu-accelerator': slices.accelerator,
            'cloud.google.com/gke-tpu-topology': slices.topology,
        },
        'volumes': [{'name': 'runs', 'persistentVolumeClaim': claim}],
        'containers': [container],
    }


def _make_container(
    image: str, shards: int, slices: Slices, volume: Volume, words: list[str]
) -> dict[str, Any]:
    """The container of a pod: launch/sweep.py on one host of a shard."""
    chips = {'google.com/tpu': str(slices.chips_per_host)}
    return {
        'name': 'sweep',
        'image': image,
        'command': ['env', *(f'--unset={name}' for name in _MULTISLICE)],
        'args': _make_arguments(shards, slices.hosts, words),
        'env': [
            _read_from_pod('SHARD', _INDEX),
            _read_from_pod('POD_NAME', 'metadata.name'),
        ],
        'resources': {'requests': chips, 'limits': dict(chips)},
        'volumeMounts': [{'name': 'runs', 'mountPath': volume.mount}],
    }


def _make_arguments(shards: int, hosts: int, words: list[str]) -> list[str]:
    """The command; Kubernetes replaces $(SHARD) by the index of the pod's Job.

    It reads $$ as $, so doubling every $ protects what a user wrote. No shell reads the
    words: `env` starts the command.
    """
    escaped = [word.replace('$', '$$') for word in words]
    arguments = ['python', '-u', 'launch/sweep.py', *escaped]
    arguments.append(f'--shard=$(SHARD)/{shards}')
    if hosts > 1:
        arguments.append('--distributed')
    return arguments


def _read_from_pod(name: str, path: str) -> dict[str, Any]:
    """An environment variable with the value of a field of the pod."""
    return {'name': name, 'valueFrom': {'fieldRef': {'fieldPath': path}}}
