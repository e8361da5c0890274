"""What a sweep says to its user: the plan before, one live line during, a table after."""

import sys
import time

import jax
import jax.numpy as jnp

from anchorjax.config import Experiment
from anchorjax.config.grid import Cohort
from anchorjax.storage.reader import Run, members_table
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.run import Progress
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import padded_size

# Share of a bare matmul's rate that whole training steps reach (RESULTS.md, "Speed"): a guess
# for the plan alone; the live line measures.
_EFFICIENCY = {'cpu': 0.4}
_ACCELERATOR_EFFICIENCY = 0.3
_TABLE_ROWS = 40


def describe_plan(
    experiment: Experiment, numerics: dict, workdir, estimate: bool = True
) -> str:
    """The plan: members, cohorts, parameters, size on disk and, by a quick trial, the time."""
    cohorts, layout = experiment.cohorts(), numerics['layout']
    members = sum(c.size for c in cohorts)
    lines = [
        f'{experiment.name}: {members} members in {len(cohorts)} cohorts -> {workdir}'
    ]
    lines += [f'  {axis:14s} {_values(v)}' for axis, v in experiment.axes.items()]
    lines += [_cohort_line(experiment.at(c.static), c) for c in cohorts]
    shared = layout['batch_devices']
    each = f' of {shared} devices' if shared > 1 else ''
    time = (
        f': roughly {format_duration(_seconds(experiment, layout["platform"]))}'
        if estimate
        else ''
    )
    lines.append(
        f'  {experiment.train.num_steps:,} steps of batch {experiment.train.batch_size:,} on '
        f'{layout["devices"]} {layout["platform"]} device(s){each}, {layout["lanes"]} lane(s) '
        f'each{time}'
    )
    return '\n'.join(lines)


def _cohort_line(at: Experiment, cohort: Cohort) -> str:
    state = memory.format_bytes(cost.state_bytes(at))
    kept = len({*at.train.snapshot_steps, at.train.num_steps})
    whole = memory.format_bytes(cohort.size * kept * 4 * cost.num_parameters(at))
    return (
        f'  cohort {cohort.name}: {cohort.size} members, {cost.num_parameters(at):,} parameters '
        f'each; {state} a checkpoint of a member, {whole} of snapshots'
    )


def describe_memory(
    experiment: Experiment, mesh, numerics: dict, available: float
) -> str:
    """Memory of every cohort's compiled program; see `describe` for what goes to disk.

    Raises:
      ConfigError: one does not fit; the line names what to change.
    """
    width = numerics['layout']['lanes']
    lines = [
        f'  a device has {memory.format_bytes(available)} to give; compiled programs need'
    ]
    for cohort in experiment.cohorts():
        at = experiment.at(cohort.static)
        compiled = get_trainer(at, mesh, width).compile(padded_size(1, mesh, width))
        needed = memory.program_bytes(compiled)
        chunks = -(-cohort.size // (width * mesh.shape['member']))
        lines.append(
            f'  cohort {cohort.name}: {memory.format_bytes(needed)} on each device, '
            f'{memory.format_bytes(needed / width)} a member; {chunks} times {mesh.shape["member"]} x '
            f'{width} members'
        )
        memory.require_fit(compiled, width, available, cohort.name)
    return '\n'.join(lines)


def _seconds(experiment: Experiment, platform: str) -> float:
    """Operations of the sweep over the share of a bare product's rate that training reaches."""
    operations = sum(
        cohort.size * cost.operations_per_step(experiment.at(cohort.static))
        for cohort in experiment.cohorts()
    )
    efficiency = _EFFICIENCY.get(platform, _ACCELERATOR_EFFICIENCY)
    return operations * experiment.train.num_steps / measure_matmul_rate() / efficiency


def measure_matmul_rate(repeats: int = 8) -> float:
    """Operations per second of bare float32 products on all devices at once."""
    arrays = [jax.device_put(jnp.ones((_SIZE, _SIZE)), d) for d in jax.local_devices()]
    jax.block_until_ready([_product(a) for a in arrays])
    begun = time.perf_counter()
    jax.block_until_ready([_product(a) for a in arrays for _ in range(repeats)])
    rate = 2 * _SIZE**3 * repeats * len(arrays) / (time.perf_counter() - begun)
    return rate * jax.process_count()


_SIZE = 1024
_product = jax.jit(lambda a: a @ a)


class ProgressLine:
    """One line, rewritten in place on a terminal and every 30 seconds in a log."""

    def __init__(self, stream=sys.stdout):
        self._stream, self._live = stream, stream.isatty()
        self._next = 0.0

    def update(self, p: Progress) -> None:
        """Shows share done, member-steps a second, and the time left."""
        if not self._live and time.monotonic() < self._next and p.done < p.total:
            return
        self._next = time.monotonic() + 30
        left = format_duration((p.total - p.done) / p.rate) if p.rate else 'unknown'
        text = f'{p.done / p.total:6.1%}  {p.label}  {p.rate:,.0f} member-steps/s  {left} left'
        self._stream.write(f'\r\x1b[K{text}' if self._live else f'{text}\n')
        self._stream.flush()

    def warn(self, text: str) -> None:
        self.close()
        print(f'warning: {text}', file=sys.stderr)

    def close(self) -> None:
        if self._live:
            self._stream.write('\n')


def summarize_members(run: Run) -> str:
    """The table of members at the last step: their point, and agreement on the probes."""
    table = members_table(run)
    axes = [a for a, v in run.experiment.axes.items() if len(v) > 1]
    shown = {
        'train_loss': 'loss',
        'seen_heldout_assigned': 'held-out',
        'unseen_inferential': 'inferential',
        'unseen_symmetric': 'symmetric',
    }
    trained = table[table.trained].rename(columns=shown)
    text = (
        trained[[*axes, *shown.values()]]
        .head(_TABLE_ROWS)
        .to_string(index=False, float_format=lambda x: f'{x:.4g}')
    )
    rest = len(trained) - _TABLE_ROWS
    text += f'\n... and {rest} more in members.csv' if rest > 0 else ''
    diverged = trained[trained.diverged >= 0]
    if len(diverged):
        text += f'\n{len(diverged)} members diverged (column diverged of members.csv: the step)'
    return text


def format_duration(seconds: float) -> str:
    """'45 s', '12 min', '3.4 h'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 5400 else f'{seconds / 3600:.1f} h'


def _values(values: tuple) -> str:
    text = ', '.join(f'{v:g}' if isinstance(v, float) else str(v) for v in values)
    return text if len(text) < 80 else f'{text[:76]}... ({len(values)})'
