"""The frozen description of a sweep, and of each of its cohorts.

Task and model are any dataclasses that have the methods of TaskConfig and ModelConfig;
this file knows none of them by name. `config.resolve` builds an Experiment from a file.
"""

import dataclasses
import functools
from typing import Annotated, Literal

from anchorjax.errors import require
from anchorjax.grid import (
    MOST_BOUNDS,
    NO_WINDOWS,
    WINDOWS,
    Cohort,
    expand_cohorts,
    name_axes,
)
from anchorjax.limits import above, are_distinct, at_least, at_most, below, check_fields
from anchorjax.models import ModelConfig
from anchorjax.tasks import TaskConfig

AUTO = -1  # train.lanes: see sweeps/memory.py
Precision = Literal['float32', 'tensorfloat32', 'bfloat16']

METHODS = ('adam', 'sgd')
SHAPES = ('warmup_cosine', 'warmup_drop', 'constant')

Positive = Annotated[float, above(0)]
NotNegative = Annotated[float, at_least(0)]
Momentum = Annotated[float, at_least(0), below(1)]
Count = Annotated[int, at_least(1)]
# Steps, bounds of windows and seeds are int32 in the compiled program.
Steps = Annotated[int, at_least(0), at_most(2**31 - 1)]
Seed = Annotated[int, at_least(0), at_most(2**31 - 1)]

# Steps of an epoch of P1: 759,375 training sequences in batches of 2,048, of which the
# last, partial one is dropped (PAPERS 1.1).
P1_EPOCH = 370


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
    """AdamW and its schedule; defaults are P1's (PAPERS 1.3)."""

    # 'adam' is AdamW; 'sgd' has momentum b1, and neither b2 nor eps; or a function of
    # one's own, 'MODULE:NAME' (training/optimizers.py).
    method: str = 'adam'
    b1: Momentum = 0.9  # of the mean gradient
    b2: Momentum = 0.999  # of the mean squared gradient
    eps: Positive = 1e-8  # added to the root of the mean squared gradient
    clip_norm: Positive = 1.0  # largest gradient norm, over all parameters
    # Of the rate over the steps: 'warmup_cosine' (P1 to P3), 'warmup_drop' (PAPERS
    # 1.3), 'constant' (P4), or a function of one's own, 'MODULE:NAME'.
    shape: str = 'warmup_cosine'
    warmup_steps: Steps = 10 * P1_EPOCH  # from `floor` to the rate, linearly
    schedule_steps: Steps = 0  # its length with the warm-up; 0: train.num_steps
    floor: NotNegative = 1e-5  # rate before warm-up and after decay
    # Scale weight decay by num_steps / steps of the window, so that every window has
    # the same total over training (PAPERS 4.2, E2b).
    equal_budget: bool = False

    def __post_init__(self) -> None:
        check_fields(self, 'optimizer')
        for field, names in (('method', METHODS), ('shape', SHAPES)):
            value = getattr(self, field)
            allowed = f"one of {names}, or 'MODULE:FUNCTION'"
            require(
                value in names or ':' in value, f'optimizer.{field}', value, allowed
            )


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Length and layout of training; defaults are P1's, 210 epochs."""

    batch_size: Count = 2048  # training examples of a step
    # Steps of training; the schedule may be longer.
    num_steps: Annotated[int, at_least(1), at_most(2**31 - 1)] = 210 * P1_EPOCH
    eval_every: Count = P1_EPOCH  # steps between two rows of the curves
    # Steps at which parameters are kept, besides the last one.
    snapshot_steps: tuple[int, ...] = ()
    resume_every: NotNegative = 60.0  # seconds between two saves
    # Of matrix products. 'bfloat16' is mixed: in training, the factors of products and
    # the activations are bfloat16; parameters, their gradients, sums, softmax, loss and
    # statistics are float32, and so is evaluation.
    precision: Precision = 'float32'
    lanes: int = AUTO  # members side by side on a device; bits depend on it
    # Train loss in nats (mean over the last steps) up to which a member has converged;
    # verdicts leave the others out.
    converged_loss: Positive = 0.02
    # A member stops before num_steps, and keeps its parameters from then on, once its
    # train loss (the mean since the row before) was below this, in nats, in
    # `stop_rows` rows of its curves in a row, and as many rows later. 0: it never does.
    stop_loss: NotNegative = 0.0
    stop_rows: Count = 3
    batch_devices: Count = 1  # devices that share a batch, for few and large members

    def __post_init__(self) -> None:
        check_fields(self, 'train')
        are_within = all(0 <= step <= self.num_steps for step in self.snapshot_steps)
        allowed = f'steps from 0 to {self.num_steps}'
        require(are_within, 'train.snapshot_steps', self.snapshot_steps, allowed)
        is_even = self.batch_size % self.batch_devices == 0
        allowed = f'a divisor of train.batch_size, {self.batch_size}'
        require(is_even, 'train.batch_devices', self.batch_devices, allowed)
        is_count = self.lanes == AUTO or self.lanes >= 1
        require(is_count, 'train.lanes', self.lanes, f'at least 1, or {AUTO} for auto')


@dataclasses.dataclass(frozen=True)
class GridConfig:
    """The traced axes, always tuples; a cohort is their product."""

    # Initialization rates: weights have std = d_in^-gamma, so a large one is a small
    # initialization.
    gamma: tuple[float, ...] = (0.3, 0.5, 0.8)
    learning_rate: tuple[Positive, ...] = (2.5e-4,)  # peak of the schedule
    # Per unit of rate: a step shrinks weights by rate * decay.
    weight_decay: tuple[NotNegative, ...] = (0.01,)
    # Steps in which weight decay acts (PAPERS 4.1): (start, end), (start, end, start,
    # end) for two pieces, () for all; the end is not among them, (0, 0) has none.
    decay_window: tuple[tuple[Steps, ...], ...] = NO_WINDOWS
    seed: tuple[Seed, ...] = (0,)  # of the weights, the data and their order

    def __post_init__(self) -> None:
        check_fields(self, 'grid')
        for axis, values in dataclasses.asdict(self).items():
            is_distinct = len(values) > 0 and are_distinct(values)
            allowed = 'at least one value, all distinct (in float32)'
            require(is_distinct, f'grid.{axis}', values, allowed)
        for window in self.decay_window:
            is_paired = len(window) % 2 == 0 and len(window) <= MOST_BOUNDS
            is_ordered = tuple(sorted(window)) == window
            allowed = 'the bounds of at most two pieces, in order'
            require(is_paired and is_ordered, f'grid.{WINDOWS}', window, allowed)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Everything that defines a sweep; hashable."""

    name: str
    task: TaskConfig
    model: ModelConfig
    optimizer: OptimizerConfig
    train: TrainConfig
    grid: GridConfig
    static_axes: tuple[tuple[str, tuple], ...] = ()  # static axes: (path, values)

    @property
    def axes(self) -> dict[str, tuple]:
        """The values of every axis by its short name; the dims of the results."""
        return name_axes(dataclasses.asdict(self.grid), self.static_axes)

    @property
    def record_steps(self) -> tuple[int, ...]:
        """Steps with a row in the curves: evaluations, snapshots, the end; never 0."""
        train = self.train
        steps = {*range(train.eval_every, train.num_steps, train.eval_every)}
        steps |= {*train.snapshot_steps, train.num_steps}
        return tuple(sorted(steps - {0}))

    def cohorts(self) -> tuple[Cohort, ...]:
        """The members of the sweep, grouped by compiled program."""
        return expand_cohorts(dataclasses.asdict(self.grid), self.static_axes)

    @functools.cached_property
    def of_cohorts(self) -> dict[str, 'Experiment']:
        """The experiment of every cohort by its name.

        Made once, so that what is cached by its task and its model is found again.
        """
        return {cohort.name: self.for_cohort(cohort) for cohort in self.cohorts()}

    @property
    def is_resolved(self) -> bool:
        """Whether `config.resolve` made it, or it is of a cohort of such a one.

        A copy by dataclasses.replace is not: what followed another value, as the length
        of the schedule follows that of training, would keep the old one there.
        """
        return '_is_resolved' in vars(self)

    def for_cohort(self, cohort: Cohort) -> 'Experiment':
        """This experiment with a cohort's static values in place and no static axes."""
        changes = {}
        for path, value in cohort.static:
            group, field = path.split('.')
            changes.setdefault(group, {})[field] = value
        groups = {}
        for group, fields in changes.items():
            groups[group] = dataclasses.replace(getattr(self, group), **fields)
        of_cohort = with_schedule(dataclasses.replace(self, static_axes=(), **groups))
        return mark_resolved(of_cohort) if self.is_resolved else of_cohort


def mark_resolved(experiment: Experiment) -> Experiment:
    """The same object, of which `is_resolved` is True; copies of it are not marked."""
    object.__setattr__(experiment, '_is_resolved', True)  # no field: not copied
    return experiment


def with_schedule(experiment: Experiment) -> Experiment:
    """The experiment with `schedule_steps` filled in: 0 becomes `train.num_steps`."""
    optimizer = experiment.optimizer
    length = optimizer.schedule_steps or experiment.train.num_steps
    optimizer = dataclasses.replace(optimizer, schedule_steps=length)
    return dataclasses.replace(experiment, optimizer=optimizer)
