"""Speed at the paper's size by matmul precision and lanes, beside bare products.

Made for accelerators: each row says how much of the device's peak a training step
reaches, where the peak is what a large matrix product reaches in the same process, with
the same setting of the precision, timed in turn with the steps.

On a GPU, JAX's setting 'bfloat16' multiplies float32 arrays as TF32 where the device
can (see lax.Precision), so it should be as fast as 'tensorfloat32'. The last column
shows what products of bfloat16 arrays reach, which we do not use.
"""

import csv
import dataclasses
import io
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.bench.harness import (
    Contender,
    Row,
    make_experiment,
    prepare_anchorjax,
    time_in_turn,
)
from anchorjax.bench.speed import PAPER, Size
from anchorjax.config import PRECISIONS, schema
from anchorjax.errors import UserError, require
from anchorjax.storage import atomic
from anchorjax.sweeps import cost
from anchorjax.sweeps.stages import Amount, ShouldStop, Stage, describe_error

LANES = (1, 4, 16)


class Scale(NamedTuple):
    """What a row measures: the model, the batch, and the matrices beside it."""

    size: Size = PAPER._replace(num_steps=50)
    batch_size: int = 2048
    matrix_size: int = 8192
    rounds: int = 5


@dataclasses.dataclass(frozen=True)
class Speed:
    """A row; teraflops are 10^12 operations a second on all devices."""

    device: str
    precision: str
    lanes: int
    member_steps_per_s: float
    teraflops: float
    matmul_teraflops: float
    share_of_matmul: float
    native_teraflops: float  # of products of bfloat16 arrays; 0 for other precisions


def list_rows() -> list[tuple[str, int]]:
    """(precision, lanes) of every row, the one that training uses first."""
    rows = [('tensorfloat32', 4)]
    for precision in PRECISIONS:
        for lanes in LANES:
            if (precision, lanes) not in rows:
                rows.append((precision, lanes))
    return rows


def measure_speed(precision: str, lanes: int, scale: Scale) -> Speed:
    """One row: our steps and bare products, timed in turn."""
    size = scale.size
    experiment = make_experiment(
        size.width,
        size.head_dim,
        size.mlp_dim,
        train__batch_size=scale.batch_size,
        train__precision=precision,
        train__lanes=lanes,
    )
    contenders: dict[str, Contender] = {
        'ours': prepare_anchorjax(experiment, lanes),
        'matmul': prepare_matmul(scale.matrix_size, precision, jnp.float32),
    }
    if precision == 'bfloat16':
        native = prepare_matmul(scale.matrix_size, precision, jnp.bfloat16)
        contenders['native'] = native
    seconds = time_in_turn(contenders, size.num_steps, scale.rounds)

    devices = jax.devices()
    member_steps = size.num_steps * lanes * len(devices)
    products = 2 * scale.matrix_size**3 * size.num_steps * len(devices)
    rate = member_steps / np.median(seconds['ours'])
    achieved = rate * cost.operations_per_step(experiment)
    matmul = products / np.median(seconds['matmul'])
    native_rate = 0.0
    if 'native' in seconds:
        native_rate = products / np.median(seconds['native'])
    return Speed(
        device=f'{len(devices)} x {devices[0].device_kind}',
        precision=precision,
        lanes=lanes,
        member_steps_per_s=float(rate),
        teraflops=float(achieved / 1e12),
        matmul_teraflops=float(matmul / 1e12),
        share_of_matmul=float(achieved / matmul),
        native_teraflops=float(native_rate / 1e12),
    )


def compare_precisions() -> Iterator[Row]:
    """For accelerators: every row of `list_rows`, for launch/bench.py."""
    for precision, lanes in list_rows():
        speed = measure_speed(precision, lanes, Scale())
        yield (
            f'{precision}, {lanes} lanes',
            f'{speed.member_steps_per_s:,.0f} member-steps/s, '
            f'{speed.teraflops:.1f} TFLOP/s, '
            f'{speed.share_of_matmul:.0%} of bare products',
        )


def make_stage(
    name: str, rows: Sequence[tuple[str, int]], scale: Scale, path: pathlib.Path
) -> Stage:
    """A stage that measures those of the rows that a file does not have, and adds them.

    Args:
      rows: (precision, lanes); a piece measures one and is not interrupted.
      path: a file of `write_rows`, which several stages may share.
    """

    def list_missing() -> list[tuple[str, int]]:
        known = [(row.precision, row.lanes) for row in read_rows(path)]
        return [row for row in rows if row not in known]

    def measure_next(_: ShouldStop) -> None:
        missing = list_missing()
        if missing:
            precision, lanes = missing[0]
            speed = measure_speed(precision, lanes, scale)
            write_rows(path, [*read_rows(path), speed])

    def count_rows() -> Amount:
        try:
            num_missing = len(list_missing())
        except UserError as e:
            return Amount(0, len(rows), problem=describe_error(e))
        return Amount(len(rows) - num_missing, len(rows))

    def find_rate() -> float:
        return 0.0  # every row has its own, in the table of the bench

    return Stage(name, [measure_next] * len(rows), count_rows, find_rate)


def prepare_matmul(
    size: int, precision: str, dtype: jax.typing.DTypeLike
) -> Callable[[int], None]:
    """A contender that multiplies random matrices [size, size] on every device.

    Random because products of zeros are faster on a GPU, which draws less power then.
    """
    pairs = []
    for index, device in enumerate(jax.devices()):
        keys = jax.random.split(jax.random.key(index))
        matrices = [jax.random.normal(key, (size, size), dtype) for key in keys]
        pairs.append(jax.device_put(matrices, device))

    def multiply(a: jax.Array, b: jax.Array) -> jax.Array:
        with jax.default_matmul_precision(precision):
            return jnp.matmul(a, b)

    compiled = jax.jit(multiply)

    def multiply_all(times: int) -> None:
        for _ in range(times):
            products = [compiled(a, b) for a, b in pairs]
        jax.block_until_ready(products)

    return multiply_all


def read_rows(path: pathlib.Path) -> list[Speed]:
    """The rows in a file of `write_rows`; none without a file.

    Raises:
      UserError: the file holds something else.
    """
    if not path.exists():
        return []
    values = atomic.read_json(path)
    require(isinstance(values, list), str(path), values, 'a list of rows')
    rows = []
    for row in values:
        require(isinstance(row, dict), str(path), row, 'an object')
        rows.append(schema.build(Speed, row, str(path)))
    return rows


def write_rows(path: pathlib.Path, rows: list[Speed]) -> None:
    """Writes the rows as JSON."""
    atomic.write_json(path, [dataclasses.asdict(row) for row in rows])


def make_csv(rows: list[Speed]) -> str:
    """The rows as the text of a CSV file, numbers with four digits."""
    text = io.StringIO()
    names = [field.name for field in dataclasses.fields(Speed)]
    writer = csv.DictWriter(text, names, lineterminator='\n')
    writer.writeheader()
    for row in rows:
        values = dataclasses.asdict(row)
        for name, value in values.items():
            if isinstance(value, float):
                values[name] = f'{value:.4g}'
        writer.writerow(values)
    return text.getvalue()


def make_table(rows: list[Speed]) -> str:
    """The rows as a Markdown table."""
    lines = [
        '| precision | lanes | member-steps/s | TFLOP/s '
        '| bare product | share | of bf16 arrays |',
        '|---|---|---|---|---|---|---|',
    ]
    for row in rows:
        native = f'{row.native_teraflops:.3g}' if row.native_teraflops else ''
        lines.append(
            f'| {row.precision} | {row.lanes} | {row.member_steps_per_s:,.0f} '
            f'| {row.teraflops:.3g} | {row.matmul_teraflops:.3g} '
            f'| {row.share_of_matmul:.0%} | {native} |'
        )
    return '\n'.join(lines) + '\n'
