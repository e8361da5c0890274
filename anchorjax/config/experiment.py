"""The frozen description of a sweep, and of each of its cohorts."""

import dataclasses

from anchorjax.config.grid import Cohort, expand_cohorts, name_axes
from anchorjax.config.groups import GridConfig, OptimizerConfig, TrainConfig
from anchorjax.models.base import ModelConfig
from anchorjax.tasks.base import TaskConfig


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Everything that defines a sweep; hashable. `resolve` makes a valid one."""

    name: str
    task: TaskConfig
    model: ModelConfig
    optimizer: OptimizerConfig
    train: TrainConfig
    grid: GridConfig
    loop: tuple[tuple[str, tuple], ...] = ()  # static axes: (path, values)

    @property
    def axes(self) -> dict[str, tuple]:
        """The values of every axis by its short name; the dims of the results."""
        return name_axes(dataclasses.asdict(self.grid), self.loop)

    @property
    def record_steps(self) -> tuple[int, ...]:
        """Steps with a row in the curves: evaluations, snapshots, the end; never 0."""
        train = self.train
        steps = {*range(train.eval_every, train.num_steps, train.eval_every)}
        steps |= {*train.snapshot_steps, train.num_steps}
        return tuple(sorted(steps - {0}))

    def cohorts(self) -> tuple[Cohort, ...]:
        """The members of the sweep, grouped by compiled program."""
        return expand_cohorts(dataclasses.asdict(self.grid), self.loop)

    def for_cohort(self, cohort: Cohort) -> 'Experiment':
        """This experiment with a cohort's static values in place and no loop.

        `resolve` has checked every cohort, so its groups are not compared again.
        """
        groups = {}
        for path, value in cohort.static:
            group, field = path.split('.')
            config = groups.get(group, getattr(self, group))
            groups[group] = dataclasses.replace(config, **{field: value})
        return with_schedule(dataclasses.replace(self, loop=(), **groups))


def with_schedule(experiment: Experiment) -> Experiment:
    """The experiment with `schedule_steps` filled in: 0 becomes `train.num_steps`."""
    optimizer = experiment.optimizer
    length = optimizer.schedule_steps or experiment.train.num_steps
    optimizer = dataclasses.replace(optimizer, schedule_steps=length)
    return dataclasses.replace(experiment, optimizer=optimizer)
