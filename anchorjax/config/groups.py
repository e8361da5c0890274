"""The config groups that all tasks and models share: optimizer, train, grid."""

import dataclasses
from typing import Annotated, Literal, get_args

from anchorjax.config.grid import MOST_BOUNDS, NO_WINDOWS, WINDOWS
from anchorjax.errors import require
from anchorjax.limits import YOUNG, above, at_least, at_most, below, check_fields

AUTO = -1  # train.lanes: see sweeps/lanes.py
Shape = Literal['warmup_cosine', 'warmup_drop', 'constant']
Method = Literal['adam', 'sgd']
Precision = Literal['float32', 'tensorfloat32', 'bfloat16']
PRECISIONS = get_args(Precision)
# Far beyond any use, so that a typo gives an error instead of a hang.
MOST_STEPS = 10**9
_MOST_ROWS = 10**5
_MOST_LANES = 2**12

Positive = Annotated[float, above(0)]
Momentum = Annotated[float, at_least(0), below(1)]
Count = Annotated[int, at_least(1)]
Steps = Annotated[int, at_least(0), at_most(MOST_STEPS)]
Gamma = Annotated[float, at_least(-100), at_most(100)]
Rate = Annotated[float, at_least(1e-30), at_most(1e30)]
Decay = Annotated[float, at_least(0), at_most(1e30)]
Seed = Annotated[int, at_least(0), at_most(2**31 - 1)]

# Steps of an epoch of P1: 759,375 training sequences in batches of 2,048, of which the
# last, partial one is dropped (PAPERS 1.1).
P1_EPOCH = 370


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
    """AdamW and its schedule; defaults are P1's (PAPERS 1.3)."""

    # 'sgd': with momentum b1; b2 and eps mean nothing there.
    method: Method = dataclasses.field(default='adam', metadata=YOUNG)
    b1: Momentum = 0.9
    b2: Momentum = 0.999
    eps: Positive = 1e-8
    clip_norm: Positive = 1.0  # largest gradient norm, over all parameters
    shape: Shape = 'warmup_cosine'  # of the schedule; see training/optimizers.py
    warmup_steps: Steps = 10 * P1_EPOCH
    schedule_steps: Steps = 0  # with the warm-up; 0: train.num_steps
    floor: Annotated[float, at_least(0)] = 1e-5  # rate before warm-up and after decay
    # Whether a window of weight decay is as much stronger as it is shorter than
    # training, so that every window has the same sum over the steps (PAPERS 4.2, E2b).
    equal_budget: bool = dataclasses.field(default=False, metadata=YOUNG)

    def __post_init__(self) -> None:
        check_fields(self, 'optimizer')


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Length and layout of training; defaults are P1's, 210 epochs."""

    batch_size: Count = 2048
    num_steps: Annotated[int, at_least(1), at_most(MOST_STEPS)] = 210 * P1_EPOCH
    eval_every: Count = P1_EPOCH  # steps between two rows of the curves
    snapshot_steps: tuple[int, ...] = ()  # besides the last step
    resume_every: Annotated[float, at_least(0)] = 60.0  # seconds between two saves
    precision: Precision = 'float32'  # of matrix products
    lanes: int = AUTO  # members side by side on a device; bits depend on it
    # Train loss in nats (mean over the last steps) up to which a member has converged;
    # verdicts leave the others out.
    converged_loss: Positive = 0.02
    batch_devices: Count = 1  # devices that share a batch, for few and large members
    # Whether these devices also share the parameters and moments of a member.
    shard_params: bool = dataclasses.field(default=False, metadata=YOUNG)

    def __post_init__(self) -> None:
        check_fields(self, 'train')
        rows = self.num_steps // self.eval_every + len(self.snapshot_steps)
        require(
            rows <= _MOST_ROWS,
            'train.eval_every',
            self.eval_every,
            f'larger: the curves may have {_MOST_ROWS:,} rows, not {rows:,}',
        )
        require(
            all(0 <= step <= self.num_steps for step in self.snapshot_steps),
            'train.snapshot_steps',
            self.snapshot_steps,
            f'steps from 0 to {self.num_steps}',
        )
        require(
            self.batch_size % self.batch_devices == 0,
            'train.batch_devices',
            self.batch_devices,
            f'a divisor of train.batch_size, {self.batch_size}',
        )
        require(
            self.lanes == AUTO or 1 <= self.lanes <= _MOST_LANES,
            'train.lanes',
            self.lanes,
            f'at least 1, or {AUTO} for auto, and at most {_MOST_LANES:,}',
        )


@dataclasses.dataclass(frozen=True)
class GridConfig:
    """The traced axes, always tuples; a cohort is their product."""

    gamma: tuple[Gamma, ...] = (0.3, 0.5, 0.8)
    learning_rate: tuple[Rate, ...] = (2.5e-4,)
    weight_decay: tuple[Decay, ...] = (0.01,)
    # Steps in which weight decay acts (PAPERS 4.1): (start, end), (start, end, start,
    # end) for two pieces, () for all; the end is not among them, (0, 0) has none.
    decay_window: tuple[tuple[Steps, ...], ...] = dataclasses.field(
        default=NO_WINDOWS, metadata=YOUNG
    )
    seed: tuple[Seed, ...] = (0,)

    def __post_init__(self) -> None:
        check_fields(self, 'grid')
        for axis, values in dataclasses.asdict(self).items():
            is_distinct = len(values) > 0 and len(set(values)) == len(values)
            allowed = 'at least one value, all distinct'
            require(is_distinct, f'grid.{axis}', values, allowed)
        for window in self.decay_window:
            is_paired = len(window) % 2 == 0 and len(window) <= MOST_BOUNDS
            is_ordered = tuple(sorted(window)) == window
            allowed = 'the bounds of at most two pieces, in order'
            require(is_paired and is_ordered, f'grid.{WINDOWS}', window, allowed)
