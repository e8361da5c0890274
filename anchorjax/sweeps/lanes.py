"""How many members run side by side on a device, when the config leaves it open."""

import jax

from anchorjax.config import AUTO, Experiment
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import padded_size

_MOST = 64  # beyond that a matmul of the paper's size gains nothing


def choose_lanes(
    experiment: Experiment, mesh: jax.sharding.Mesh, available: float
) -> int:
    """The config's lanes; for AUTO 1 on a CPU, where lanes gain nothing, elsewhere what fits."""
    if experiment.train.lanes != AUTO:
        return experiment.train.lanes
    if mesh.devices.flat[0].platform == 'cpu':
        return 1
    return count_fitting_lanes(experiment, mesh, available)


def count_fitting_lanes(
    experiment: Experiment, mesh: jax.sharding.Mesh, available: float
) -> int:
    """The most lanes that fit `available` bytes a device, at most 64 and at most the members.

    Two small programs of the largest cohort tell what a lane costs; the chosen one is compiled
    too, and halved until it fits. At least 1, whether that fits or not.
    """
    experiments = [experiment.at(cohort.static) for cohort in experiment.cohorts()]
    largest = max(experiments, key=cost.step_bytes)
    needed = lambda width: memory.program_bytes(_compiled(largest, mesh, width))
    one, three = needed(1), needed(3)
    members = max(cohort.size for cohort in experiment.cohorts())
    wanted = min(_MOST, -(-members // mesh.shape['member']))
    width = int(max(1, min(wanted, 1 + (available - one) // max((three - one) / 2, 1))))
    while width > 1 and needed(width) > available:
        width //= 2
    return width


def _compiled(experiment: Experiment, mesh: jax.sharding.Mesh, width: int):
    rows = padded_size(1, mesh, width)
    return get_trainer(experiment, mesh, width).compile(rows)
