"""The environment of this process, as the manifest records it."""

import dataclasses
import platform
from collections.abc import Sequence

from jax.sharding import Mesh

from anchorjax import numerics
from anchorjax.experiment import AUTO, Experiment
from anchorjax.storage.manifest import Environment
from anchorjax.sweeps import memory
from anchorjax.sweeps.code import digest_code
from anchorjax.tasks import digest_data
from anchorjax.training.devices import cpu_fingerprint
from anchorjax.training.programs import digest_programs


def describe_environment(
    experiment: Experiment,
    mesh: Mesh,
    device_bytes: float | None = None,
    before: Sequence[Environment] = (),
) -> Environment:
    """The environment in which this process would train an experiment.

    It is without `data`, so that a folder can be made where the data are not, as the
    tests of figures do; see `add_data`.

    Args:
      device_bytes: bytes that a device may use; by default `memory.device_bytes`. They
        decide the lanes if neither the config nor the folder does.
      before: those of a sweep that has begun, oldest first: bits depend on the lanes,
        so those that were chosen there for such an environment are kept.
    """
    device = mesh.devices.flat[0]
    hardware = {'device': device.device_kind, 'machine': platform.machine()}
    if device.platform == 'cpu':
        hardware['cpu'] = cpu_fingerprint()
    environment = Environment(
        lanes=experiment.train.lanes,
        devices=mesh.shape['member'],
        batch_devices=mesh.shape['batch'],
        platform=device.platform,
        precision=experiment.train.precision,
        versions=numerics.read_versions(),
        hardware=hardware,
        flags=numerics.read_flags(),
        code=digest_code(experiment),
    )
    lanes = None
    if environment.lanes == AUTO:
        lanes = _recall_lanes(before, environment)
    if lanes is None:
        if device_bytes is None:
            device_bytes = memory.device_bytes(mesh)
        lanes = memory.choose_lanes(experiment, mesh, device_bytes)
    return dataclasses.replace(environment, lanes=lanes)


def add_data(environment: Environment, experiment: Experiment) -> Environment:
    """The environment with the digests of what members are made from.

    They are the data of tasks, the weights that models start from, and the programs of
    own tasks and models.

    Raises:
      UserError: a file cannot be read.
    """
    of_cohorts = experiment.of_cohorts.values()
    digests = {}
    for config in dict.fromkeys(of_cohort.task for of_cohort in of_cohorts):
        digests |= digest_data(config)
    for model in dict.fromkeys(of_cohort.model for of_cohort in of_cohorts):
        digests |= model.digest_start()
    programs = digest_programs(experiment)
    return dataclasses.replace(environment, data=digests, programs=programs)


def _recall_lanes(
    before: Sequence[Environment], environment: Environment
) -> int | None:
    """The lanes of the newest environment with the same libraries and hardware."""
    for theirs in reversed(before):
        same = dataclasses.replace(
            environment,
            lanes=theirs.lanes,
            data=theirs.data,
            code=theirs.code,
            programs=theirs.programs,
        )
        if same == theirs:
            return theirs.lanes
    return None
