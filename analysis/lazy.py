"""Did a network learn features, or stay near its start? Its tangent kernel before and after.

A lazy network moves its parameters, yet the gradients of its answers, so its tangent kernel, stay
what they were: it is a kernel machine. Kernel distance as in Fort et al. 2020 (arXiv 2010.15110):
0 is lazy, towards 1 the kernel was learnt. Beside it: how far the parameters moved, and how many
neurons of the MLPs switched.

  python analysis/lazy.py --run runs/phase
"""

import functools
import pathlib
import sys
import time
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict

from analysis import command, style
from analysis.member import Member, applied, label, member_of, varying
from analysis.phase import SEEN_ENOUGH, SOLUTIONS, SOLVED
from anchorjax import store, tasks
from anchorjax.errors import UserError
from anchorjax.grid import DATA, TRACED_AXES, random_key

MARKERS = 'osD^v'  # one per row
BATCH = 12  # sequences; gradients of two batches are in memory at a time


class Result(NamedTuple):
    """One row per member that was trained and has two snapshots."""

    points: dict[str, np.ndarray]  # [M] each axis of the sweep
    row_name: str  # the axis told apart by markers
    start_M: np.ndarray  # steps: 0, or the first snapshot (the figure says so)
    end_M: np.ndarray
    lazy_M: np.ndarray  # distance of the tangent kernels, in [0, 1]: 0 is the kernel regime
    pattern_M: np.ndarray  # share of neurons x positions x sequences that switched
    movement_M: np.ndarray  # |theta_T - theta_0| / |theta_0|
    group_names: tuple[str, ...]
    movement_MG: np.ndarray  # the same of parameters of one name; NaN if absent or zero at start
    outcome_M3: np.ndarray  # inferential and symmetric on the unseen pair, held-out
    solution_M: np.ndarray  # name
    left_out: tuple[str, ...]
    number: int  # sequences


def compute(run: store.Run, number: int = 48, start: int = 0) -> Result:
    """Compares every member with its own start, on `number` sequences of its probes.

    Args:
      start: compare with the first snapshot from this step on. At a very small initialization the
        kernel of step 0 says only which sequences share an answer, and a later start tells more.

    Raises:
      UserError: no member has two snapshots.
    """
    members, left_out = _usable(run, start)
    rows, movements = [], []
    said = time.monotonic()
    for i, (point, first) in enumerate(members):
        before, after = (member_of(run, step, **point) for step in (first, 'last'))
        rows.append((first, after.step, *changes(before, after, number)))
        movements.append(movement(before.params, after.params))
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f'lazy: {i + 1} of {len(members)} members', file=sys.stderr)
    outcome = np.array([_outcome(run, point) for point, _ in members])
    names = tuple(dict.fromkeys(name for found in movements for name in found if name != 'all'))
    first_axis = next(iter(run.experiment.axes))
    first_M, last_M, distance, pattern = np.array(rows).T
    return Result(
        points={a: np.array([point[a] for point, _ in members]) for a in run.experiment.axes},
        row_name='weight_decay' if first_axis in TRACED_AXES else first_axis,
        start_M=first_M.astype(int),
        end_M=last_M.astype(int),
        lazy_M=distance,
        pattern_M=pattern,
        movement_M=np.array([found['all'] for found in movements]),
        group_names=names,
        movement_MG=np.array([[found.get(n, np.nan) for n in names] for found in movements]),
        outcome_M3=outcome,
        solution_M=np.array([solution(*row) for row in outcome]),
        left_out=tuple(left_out),
        number=number,
    )


def changes(start: Member, end: Member, number: int) -> tuple[float, float]:
    """(kernel distance, share of switched neurons) between two states of one architecture."""
    experiment = start.experiment
    tokens_PBT, labels_PB = _probes(experiment.task)(start.point['seed'])
    # As many from every probe: the seen pairs, their held-out keys, the unseen pairs.
    chosen = [np.asarray(a).swapaxes(0, 1) for a in (tokens_PBT, labels_PB)]
    tokens_BT, labels_B = (a.reshape(-1, *a.shape[2:])[:number] for a in chosen)
    look = _look(experiment.model, experiment.task.vocab)
    kernels, patterns = zip(
        *(look(m.params, tokens_BT, labels_B) for m in (start, end)), strict=True
    )
    switched = [np.mean(a != b) for a, b in zip(*patterns, strict=True)]
    sizes = [a.size for a in patterns[0]]
    return kernel_distance(*kernels), float(np.average(switched, weights=sizes))


def kernel_distance(K0_BB, KT_BB) -> float:
    """1 - <K0, KT> / (|K0| |KT|) (Fort et al. 2020, eq. 4); NaN for a kernel of zeros."""
    K0, KT = np.asarray(K0_BB, np.float64), np.asarray(KT_BB, np.float64)
    norms = np.linalg.norm(K0) * np.linalg.norm(KT)
    return float(1 - (K0 * KT).sum() / norms) if norms > 0 else float('nan')


def tangent_kernel(apply, params, tokens_BT, labels_B) -> jax.Array:
    """K_ij = <grad f(x_i), grad f(x_j)>, f = logit of the label - mean logit, last position.

    Gradients of two batches are in memory at a time, formed again for every pair of batches.
    """
    number = len(tokens_BT)
    size = next(b for b in range(min(BATCH, number), 0, -1) if number % b == 0)
    batches = number // size

    def f(params, tokens_T, label):
        logits_V = apply(params, tokens_T[None]).logits[0, -1]
        return logits_V[label] - logits_V.mean()

    def block(pair):
        chosen_B = (pair[:, None] * size + jnp.arange(size)).ravel()
        gradients = jax.vmap(jax.grad(f), (None, 0, 0))
        return _inner(gradients(params, tokens_BT[chosen_B], labels_B[chosen_B]), size)

    rows, columns = np.triu_indices(batches)  # the kernel is symmetric
    blocks = jax.lax.map(block, jnp.stack([rows, columns], axis=-1))
    K = jnp.zeros((batches, batches, size, size)).at[rows, columns].set(blocks)
    K = K.at[columns, rows].set(blocks.mT)
    return K.swapaxes(1, 2).reshape(number, number)


def movement(params_0, params_T) -> dict[str, float]:
    """|theta_T - theta_0| / |theta_0| of 'all', and of the parameters of one name in all blocks."""
    start, end = (flatten_dict(p, sep='/') for p in (params_0, params_T))
    groups = {'all': list(start)}
    for path in start:
        groups.setdefault(path.split('/')[-1], []).append(path)
    flat = lambda params, paths: np.concatenate([np.ravel(params[p]) for p in paths])
    return {
        name: _relative(flat(start, paths).astype(float), flat(end, paths).astype(float))
        for name, paths in groups.items()
    }


def solution(inferential: float, symmetric: float, heldout: float) -> str:
    """As the phase diagram says it."""
    if max(inferential, symmetric) >= SOLVED:
        return SOLUTIONS[0 if inferential >= SOLVED else 1]
    return SOLUTIONS[2 if heldout < SEEN_ENOUGH else 3]


def draw(result: Result, axes) -> None:
    """Fills axes [1, 3]: kernel distance, movement and switched neurons over gamma."""
    panels = (
        ('distance of tangent kernels', result.lazy_M),
        ('relative movement of parameters', result.movement_M),
        ('share of neurons switched', result.pattern_M),
    )
    rows = sorted(set(result.points[result.row_name].tolist()))
    gamma_M = result.points['gamma']
    for axis, (title, values_M) in zip(axes[0], panels, strict=True):
        for i, name in np.ndindex(len(rows), len(SOLUTIONS)):
            here = result.points[result.row_name] == rows[i]
            chosen = here & (result.solution_M == SOLUTIONS[name])
            apart = 0.02 * np.ptp(gamma_M) * (i - (len(rows) - 1) / 2)  # rows side by side
            look = {'marker': MARKERS[i % 5], 'color': style.COLOURS[SOLUTIONS[name]], 'alpha': 0.8}
            axis.plot(gamma_M[chosen] + apart, values_M[chosen], ls='', ms=4, mew=0, **look)
        axis.set(title=title, xlabel='γ', ylim=(0, None if values_M is result.movement_M else 1))
    _legend(axes[0, 0], result, rows)


layout = style.Layout(1, 3, 7.0, 2.7)


def _legend(axis, result: Result, rows: list) -> None:
    """Below all panels: colours, markers, and from which step the change counts."""
    for name in SOLUTIONS:
        axis.plot([], [], 'o', ms=4, color=style.COLOURS[name], label=name)
    for i, row in enumerate(rows):
        named = f'{result.row_name.replace("_", " ")} {row}'
        axis.plot([], [], MARKERS[i % 5], ms=4, color='black', mfc='none', label=named)
    steps = '-'.join(f'{s:,}' for s in sorted({result.start_M.min(), result.start_M.max()}))
    title = f'{len(result.lazy_M)} members, from step {steps} to {result.end_M.max():,}'
    axis.figure.legend(loc='outside lower center', ncols=6, title=title, title_fontsize=7)


@functools.lru_cache
def _look(model, vocab: int):
    """(params, tokens_BT, labels_B) -> (kernel, patterns), compiled once per architecture."""
    apply = applied(model, vocab)

    def look(params, tokens_BT, labels_B):
        patterns = [block.hidden > 0 for block in apply(params, tokens_BT).blocks]
        return tangent_kernel(apply, params, tokens_BT, labels_B), patterns

    return jax.jit(look)


@functools.lru_cache
def _probes(config):
    """seed -> (tokens [P, B, T], assigned labels [P, B]), compiled once per task."""
    task = tasks.make(config)

    def probes(seed):
        found = task.probes(task.make_data(random_key(seed, DATA)))
        return found.tokens_PBT, found.labels_PRB[:, task.mapping_names.index('assigned')]

    return jax.jit(probes)


def _inner(gradients, size: int) -> jax.Array:
    """Inner products of the first `size` gradients with the others, summed leaf by leaf."""

    def dot(leaf):
        rows = leaf.reshape(len(leaf), -1)
        return jnp.matmul(rows[:size], rows[size:].T, precision='highest')

    return sum(map(dot, jax.tree.leaves(gradients)))


def _relative(start, end) -> float:
    norm = np.linalg.norm(start)
    return float(np.linalg.norm(end - start) / norm) if norm > 0 else float('nan')


def _outcome(run: store.Run, point: dict) -> list[float]:
    agreement = run.results.agreement.sel(point)
    asked = (('unseen', 'inferential'), ('unseen', 'symmetric'), ('seen_heldout', 'assigned'))
    return [float(agreement.sel(probe=p, mapping=m)) for p, m in asked]


def _usable(run: store.Run, start: int) -> tuple[list[tuple[dict, int]], list[str]]:
    """([(point, first snapshot from `start` on)], a line for every member without two)."""
    usable, left_out = [], []
    results, axes = run.results, run.experiment.axes
    for index in np.ndindex(results.trained.shape):
        point = {a: v[i] for (a, v), i in zip(axes.items(), index, strict=True)}
        steps = [s for s in run.steps(**point) if s >= start]
        if not results.trained.values[index]:
            left_out.append(f'{label(varying(run, point))}: not trained yet')
        elif results.diverged.values[index] >= 0:
            left_out.append(f'{label(varying(run, point))}: diverged')
        elif len(steps) < 2:
            left_out.append(f'{label(varying(run, point))}: a single snapshot')
        else:
            usable.append((point, steps[0]))
    if not usable:
        raise UserError(f'no member has a snapshot of its start and its end: {left_out[0]}')
    return usable, left_out


if __name__ == '__main__':
    command.sweep(
        __doc__,
        'lazy',
        compute,
        draw,
        layout,
        number=command.Flag(int, 48, 'sequences on which the kernels are compared'),
        start=command.Flag(int, 0, 'compare with the first snapshot from this step on'),
    )
