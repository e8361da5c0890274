"""How long and in which layout a sweep trains, and the traced axes of its grid."""

import dataclasses

from anchorjax.errors import require

AUTO = -1
PRECISIONS = ('float32', 'tensorfloat32', 'bfloat16')
# Far beyond any use: a slip of the finger is a line, not a hang or a killed process.
MOST_STEPS, _ROWS, _LANES = 10**9, 10**5, 2**12
_RATES = (1e-30, 1e30)


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Length and layout of training. Defaults are P1's: 210 epochs of 370 steps (PAPERS 1.3)."""

    batch_size: int = 2048
    num_steps: int = 77_700
    eval_every: int = 370  # steps between two rows of the curves
    snapshot_steps: tuple[
        int, ...
    ] = ()  # keep the parameters here too; the last step always
    resume_every: float = 60.0  # seconds between two saves of the resume state
    precision: str = 'float32'  # of matrix products
    lanes: int = (
        AUTO  # members side by side on a device (their bits hang on it); -1: auto
    )
    batch_devices: int = (
        1  # devices that share the batch of a member: for few and large ones
    )

    def __post_init__(self):
        for field in ('batch_size', 'num_steps', 'eval_every', 'batch_devices'):
            value = getattr(self, field)
            require(value >= 1, f'train.{field}', value, 'at least 1')
        require(
            self.num_steps <= MOST_STEPS,
            'train.num_steps',
            self.num_steps,
            f'at most {MOST_STEPS:,}',
        )
        rows = self.num_steps // self.eval_every + len(self.snapshot_steps)
        few = f'large enough that the curves have at most {_ROWS:,} rows, not {rows:,}'
        require(rows <= _ROWS, 'train.eval_every', self.eval_every, few)
        inside = all(0 <= s <= self.num_steps for s in self.snapshot_steps)
        steps = f'steps from 0 to {self.num_steps}'
        require(inside, 'train.snapshot_steps', self.snapshot_steps, steps)
        split = self.batch_size % self.batch_devices == 0
        divisor = f'a divisor of train.batch_size, {self.batch_size}'
        require(split, 'train.batch_devices', self.batch_devices, divisor)
        require(
            self.resume_every >= 0,
            'train.resume_every',
            self.resume_every,
            'at least 0',
        )
        require(
            self.precision in PRECISIONS,
            'train.precision',
            self.precision,
            f'in {PRECISIONS}',
        )
        lanes = 1 <= self.lanes <= _LANES or self.lanes == AUTO
        allowed = f'at least 1, or {AUTO} for auto, and at most {_LANES:,}'
        require(lanes, 'train.lanes', self.lanes, allowed)


@dataclasses.dataclass(frozen=True)
class GridConfig:
    """The traced axes: always tuples, even of one. The sweep is their product."""

    gamma: tuple[float, ...] = (0.3, 0.5, 0.8)
    learning_rate: tuple[float, ...] = (2.5e-4,)
    weight_decay: tuple[float, ...] = (0.01,)
    seed: tuple[int, ...] = (0,)

    def __post_init__(self):
        for axis, values in dataclasses.asdict(self).items():
            distinct = len(values) > 0 and len(set(values)) == len(values)
            require(
                distinct, f'grid.{axis}', values, 'at least one value, all distinct'
            )
        sizes = max(map(abs, self.gamma))
        require(sizes <= 100, 'grid.gamma', self.gamma, 'from -100 to 100')
        rates, (low, high) = self.learning_rate, _RATES
        inside = low <= min(rates) and max(rates) <= high
        require(
            inside, 'grid.learning_rate', rates, f'positive, from {low:g} to {high:g}'
        )
        decays = self.weight_decay
        inside = min(decays) >= 0 and max(decays) <= high
        require(inside, 'grid.weight_decay', decays, f'at least 0, at most {high:g}')
        seeds = all(0 <= s < 2**31 for s in self.seed)
        require(seeds, 'grid.seed', self.seed, 'in [0, 2^31)')
