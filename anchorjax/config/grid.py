"""From axes to members: which runs of a sweep share one compiled program, and where a point lies.

A sweep has static axes (`loop`: depth, width, ... one compilation for each combination) and
traced axes (gamma, learning rate, weight decay, seed: members side by side in one program).
"""

import itertools
from typing import NamedTuple

import jax
import numpy as np
from flax import struct

from anchorjax.errors import ConfigError, UserError, nearest

TRACED_AXES = ('gamma', 'learning_rate', 'weight_decay', 'seed')
DTYPES = (np.float32, np.float32, np.float32, np.int32)
INIT, DATA, ORDER = 0, 1, 2  # purposes of a member's random keys


@struct.dataclass
class HParams:
    """What differs between the members of one program; leaves [M] (or scalars for one member)."""

    gamma: np.ndarray  # initialization rate: std = d_in ** -gamma
    learning_rate: np.ndarray  # peak of the schedule
    weight_decay: np.ndarray  # decoupled, per unit of learning rate
    seed: np.ndarray  # int32: data set, order of examples and initialization


def random_key(seed: int | jax.Array, purpose: int) -> jax.Array:
    """A member's key for INIT, its DATA or the ORDER of its examples."""
    return jax.random.fold_in(jax.random.key(seed), purpose)


class Cohort(NamedTuple):
    """The members of one compiled program: static overrides and traced leaves [M]."""

    static: tuple[tuple[str, object], ...]  # (('model.depth', 2), ...)
    hparams: HParams

    @property
    def name(self) -> str:
        """Folder-safe label, e.g. 'depth=2'; 'all' when nothing is static."""
        return ','.join(f'{p.split(".")[-1]}={v}' for p, v in self.static) or 'all'

    @property
    def size(self) -> int:
        return len(self.hparams.seed)


def expand_traced(traced: dict[str, tuple]) -> HParams:
    """Cartesian product of the traced axes, seed varying fastest; leaves [M]."""
    rows = list(itertools.product(*(traced[name] for name in TRACED_AXES)))
    columns = zip(*rows, strict=True)
    return HParams(*(np.asarray(c, d) for c, d in zip(columns, DTYPES, strict=True)))


def expand_cohorts(traced: dict[str, tuple], loop: tuple) -> tuple[Cohort, ...]:
    """One cohort for every combination of the static axes."""
    hparams = expand_traced(traced)
    paths = [path for path, _ in loop]
    combos = itertools.product(*(values for _, values in loop))
    return tuple(
        Cohort(tuple(zip(paths, combo, strict=True)), hparams) for combo in combos
    )


def name_axes(traced: dict[str, tuple], loop: tuple) -> dict[str, tuple]:
    """Every axis of the sweep by its short name, static ones first: the dims of the results.

    Raises:
      ConfigError: two axes have the same short name.
    """
    names = [path.split('.')[-1] for path, _ in loop] + list(TRACED_AXES)
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f'loop: two axes are called {name!r}; every axis needs its own name'
            )
    values = [v for _, v in loop] + [traced[name] for name in TRACED_AXES]
    return dict(zip(names, map(tuple, values), strict=True))


def locate(all_axes: dict[str, tuple], point: dict[str, object]) -> tuple[int, int]:
    """(cohort, row) of the one member at `point`; axes with a single value may be left out.

    Raises:
      UserError: an axis is unknown, missing while ambiguous, or has no such value.
    """
    for name in point:
        if name not in all_axes:
            raise UserError(f'point: unknown axis {name!r}, {nearest(name, all_axes)}')
    indices = [_index(name, values, point) for name, values in all_axes.items()]
    sizes = [len(values) for values in all_axes.values()]
    flat = int(np.ravel_multi_index(indices, sizes))
    per_cohort = int(np.prod(sizes[-len(TRACED_AXES) :]))
    return divmod(flat, per_cohort)


def _index(name: str, values: tuple, point: dict[str, object]) -> int:
    if name not in point and len(values) == 1:
        return 0
    if name not in point:
        raise UserError(f'point: {name} is missing; the sweep has {values}')
    wanted = point[name]
    if wanted in values:
        return values.index(wanted)
    for i, value in enumerate(values):
        near = isinstance(value, float) and isinstance(wanted, int | float)
        if near and np.isclose(value, wanted, atol=0):
            return i
    raise UserError(
        f'point: no member has {name} = {point[name]!r}; the sweep has {values}'
    )
