"""From axes to members: which share a compiled program, and where a point lies.

A sweep has static axes (depth, width, ...: one compilation for each combination) and
the traced axes (gamma, learning rate, weight decay and its windows, seed: members side
by side in one program).
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from anchorjax.errors import UserError, nearest

# Traced axes in the order of the grid, the last varying fastest, and their dtypes.
TRACED_DTYPES = {
    'gamma': np.float32,
    'learning_rate': np.float32,
    'weight_decay': np.float32,
    'seed': np.int32,
}
TRACED_AXES = tuple(TRACED_DTYPES)
# A window of weight decay is its bounds (start, end), or those of two pieces; () is all
# of training. An axis of the grid only in sweeps that use it, before the seed.
WINDOWS = 'decay_window'
NO_WINDOWS = ((),)
MOST_BOUNDS = 4
INIT, DATA, ORDER = 0, 1, 2  # purposes of a member's random keys


Leaf = Any  # an array of NumPy, or of JAX where it is traced


@struct.dataclass
class HParams:
    """What differs between members of one program; leaves [M], or scalars for one."""

    gamma: Leaf  # initialization rate: std = d_in ** -gamma
    learning_rate: Leaf  # peak of the schedule
    weight_decay: Leaf  # decoupled, per unit of learning rate
    seed: Leaf  # int32: data set, order of examples and initialization
    # [MOST_BOUNDS] int32: weight decay acts in steps [w[0], w[1]) and [w[2], w[3]);
    # None: in all, and the program has no windows.
    decay_window: Leaf | None = None


def random_key(seed: int | jax.Array, purpose: int) -> jax.Array:
    """A member's random key for a purpose: INIT, DATA or ORDER (of its examples).

    Of one generator whatever JAX_DEFAULT_PRNG_IMPL says: with some, a member's numbers
    would depend on the lanes beside it. It is jax.random.key(seed) without that
    function's JAX_RANDOM_SEED_OFFSET, which would make every seed another one.
    """
    words = jnp.stack([jnp.uint32(0), jnp.asarray(seed).astype(jnp.uint32)])
    key = jax.random.wrap_key_data(words, impl='threefry2x32')
    return jax.random.fold_in(key, purpose)


class Cohort(NamedTuple):
    """The members of one compiled program: their static fields and HParams [M]."""

    static: tuple[tuple[str, object], ...]  # (('model.depth', 2), ...)
    hparams: HParams

    @property
    def name(self) -> str:
        """Its label, e.g. 'depth=2'; 'all' without static axes."""
        parts = [f'{short_name(path)}={value}' for path, value in self.static]
        return ','.join(parts) or 'all'

    @property
    def folder_name(self) -> str:
        """The name, escaped for use as a folder; distinct names stay distinct.

        A value may be a path, whose '/' would lead into the folder of another cohort:
        'path=data%2Fa'.
        """
        return self.name.replace('%', '%25').replace('/', '%2F')

    @property
    def size(self) -> int:
        """Its number of members."""
        return len(self.hparams.seed)


def expand_traced(traced: dict[str, tuple]) -> HParams:
    """The product of the traced axes, seed varying fastest, as HParams [M]."""
    axes = name_axes(traced, ())
    rows = itertools.product(*axes.values())
    columns = dict(zip(axes, zip(*rows, strict=True), strict=True))
    leaves = {}
    for axis, dtype in TRACED_DTYPES.items():
        leaves[axis] = np.asarray(columns[axis], dtype)
    if WINDOWS in columns:
        leaves[WINDOWS] = np.stack([pad_window(bounds) for bounds in columns[WINDOWS]])
    return HParams(**leaves)


def pad_window(bounds: tuple[int, ...]) -> np.ndarray:
    """A window as [MOST_BOUNDS] int32; () has no end, and a missing piece no steps."""
    padded = np.zeros(MOST_BOUNDS, np.int32)
    padded[: len(bounds)] = bounds
    if not bounds:
        padded[1] = np.iinfo(np.int32).max
    return padded


def expand_cohorts(traced: dict[str, tuple], static_axes: tuple) -> tuple[Cohort, ...]:
    """One cohort for every combination of the static axes."""
    hparams = expand_traced(traced)
    paths = [path for path, _ in static_axes]
    cohorts = []
    for combination in itertools.product(*(values for _, values in static_axes)):
        static = tuple(zip(paths, combination, strict=True))
        cohorts.append(Cohort(static, hparams))
    return tuple(cohorts)


def name_axes(traced: dict[str, tuple], static_axes: tuple) -> dict[str, tuple]:
    """Every axis by its short name, static ones first: the dims of the results."""
    axes = {}
    for path, values in static_axes:
        axes[short_name(path)] = tuple(values)
    for axis in TRACED_AXES:
        if axis == 'seed' and traced[WINDOWS] != NO_WINDOWS:
            axes[WINDOWS] = tuple(traced[WINDOWS])
        axes[axis] = tuple(traced[axis])
    return axes


def locate(axes: dict[str, tuple], point: dict[str, object]) -> tuple[int, int]:
    """(index of the cohort, row in it) of the member at `point`.

    Axes of a single value may be absent.

    Raises:
      UserError: an axis is unknown, has no such value, or is absent though it has
        several.
    """
    given = find_indices(axes, point)
    indices = []
    for name, values in axes.items():
        if name in given:
            indices.append(given[name])
        elif len(values) == 1:
            indices.append(0)
        else:
            raise UserError(f'point: {name} is missing: give one of {values}')
    sizes = {name: len(values) for name, values in axes.items()}
    flat = int(np.ravel_multi_index(indices, tuple(sizes.values())))
    cohort_size = math.prod(sizes.get(name, 1) for name in (*TRACED_AXES, WINDOWS))
    return divmod(flat, cohort_size)


def find_point(axes: dict[str, tuple], index: int) -> dict[str, object]:
    """The labels of the axes at the member of this place in the sweep.

    The members are the product of the axes, the last varying fastest.
    """
    sizes = tuple(len(values) for values in axes.values())
    point = {}
    for (name, values), i in zip(
        axes.items(), np.unravel_index(index, sizes), strict=True
    ):
        point[name] = axis_label(values[i])
    return point


def find_indices(axes: dict[str, tuple], point: Mapping[str, object]) -> dict[str, int]:
    """Where the values of a point lie on their axes; UserError if one does not."""
    indices = {}
    for name, wanted in point.items():
        if name not in axes:
            raise UserError(f'point: unknown axis {name!r}, {nearest(name, axes)}')
        indices[name] = match_value(name, axes[name], wanted)
    return indices


def match_value(name: str, values: tuple, wanted: Any) -> int:
    """The index of a value on an axis; UserError if none.

    Floats lie within 1e-5 of it, and for a tuple its label does, as in `Run.members`.
    """
    if wanted in values:
        return values.index(wanted)
    for i, value in enumerate(values):
        if isinstance(value, float) and isinstance(wanted, int | float):
            distance = 1e-5 * abs(value)
            # An integer may be too large for a float, but not for these comparisons.
            if value - distance <= wanted <= value + distance:
                return i
        if isinstance(value, tuple) and wanted == axis_label(value):
            return i
    raise UserError(f'point: no member has {name} = {wanted!r}; the sweep has {values}')


def axis_label(value: Any) -> Any:
    """The label of a value along an axis of the results; for a tuple, its text."""
    return str(value) if isinstance(value, tuple) else value


def short_name(path: str) -> str:
    """'model.depth' -> 'depth'."""
    return path.rpartition('.')[2]
