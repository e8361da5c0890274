"""How many members a device trains side by side, if the config does not say."""

import math

from jax.sharding import Mesh

from anchorjax.experiment import AUTO, Experiment
from anchorjax.sweeps import memory
from anchorjax.sweeps.cost import find_largest
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import padded_size

MOST_LANES = 64  # beyond that a matmul of the paper's size gains nothing


def choose_lanes(experiment: Experiment, mesh: Mesh, available: float) -> int:
    """The config's lanes; for AUTO what fits, but 1 on a CPU, where more gain nothing.

    Args:
      available: bytes that a device may use.
    """
    if experiment.train.lanes != AUTO:
        return experiment.train.lanes
    if mesh.devices.flat[0].platform == 'cpu':
        return 1
    return count_fitting_lanes(experiment, mesh, available)


def count_fitting_lanes(experiment: Experiment, mesh: Mesh, available: float) -> int:
    """The most lanes that fit `available` bytes, at most 64 and at most the members.

    Two small programs of the largest cohort show what a lane costs. The program with
    the lanes that should fit is compiled too, and the lanes are halved until it does.
    The result is at least 1, even if that does not fit.
    """
    largest = find_largest(experiment, experiment.cohorts())

    def bytes_of(lanes: int) -> int:
        rows = padded_size(1, mesh, lanes)
        return memory.program_bytes(get_trainer(largest, mesh, lanes).compile(rows))

    bytes_of_one, bytes_of_three = bytes_of(1), bytes_of(3)
    bytes_per_lane = max((bytes_of_three - bytes_of_one) / 2, 1)
    most_members = max(cohort.size for cohort in experiment.cohorts())
    members_per_device = math.ceil(most_members / mesh.shape['member'])
    fitting = int(1 + (available - bytes_of_one) // bytes_per_lane)
    lanes = max(1, min(MOST_LANES, members_per_device, fitting))
    while lanes > 1 and bytes_of(lanes) > available:
        lanes //= 2
    return lanes
