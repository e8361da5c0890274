"""How far a network went between two steps: its kernel, its parameters, its neurons."""

import functools
from typing import NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict

from analysis.changes.kernels import kernel_distance, tangent_kernel
from analysis.members.member import Member, applied


class Change(NamedTuple):
    """From a start to an end of the same network."""

    kernel: float  # distance of the tangent kernels, in [0, 1]
    pattern: float  # share of neurons x positions x sequences that switched on or off
    movement: dict[str, float]  # see `movement`


def change(start: Member, end: Member, number: int) -> Change:
    """Compares two states of one member on `number` sequences of its probes."""
    look = _look(start.experiment.model, start.experiment.task.vocab)
    asked = questions(start, number)
    kernels, patterns = zip(
        *(look(m.params, *asked) for m in (start, end)), strict=True
    )
    return Change(
        kernel=kernel_distance(*kernels),
        pattern=_switched(*patterns),
        movement=movement(start.params, end.params),
    )


def questions(member: Member, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens_BT, assigned labels_B), as many of each probe: seen, held-out keys, unseen pairs."""
    tokens_PBT, labels_PRB = member.probes
    labels_PB = labels_PRB[:, member.task.mapping_names.index('assigned')]
    alternating = (a.swapaxes(0, 1) for a in (tokens_PBT, labels_PB))
    tokens_BT, labels_B = (a.reshape(-1, *a.shape[2:])[:number] for a in alternating)
    return tokens_BT, labels_B


def movement(params_0, params_T) -> dict[str, float]:
    """|theta_T - theta_0| / |theta_0| of 'all', and of the parameters of one name in all blocks."""
    start, end = (flatten_dict(p, sep='/') for p in (params_0, params_T))
    groups = {'all': list(start)}
    for path in start:
        groups.setdefault(path.split('/')[-1], []).append(path)
    flat = lambda params, paths: np.concatenate(
        [np.ravel(params[p]) for p in paths]
    ).astype(float)
    return {
        name: _relative(flat(start, paths), flat(end, paths))
        for name, paths in groups.items()
    }


@functools.lru_cache
def _look(model, vocab: int):
    """(params, tokens_BT, labels_B) -> (kernel, patterns), compiled once per architecture."""
    apply = applied(model, vocab)

    def look(params, tokens_BT, labels_B):
        patterns = [block.hidden > 0 for block in apply(params, tokens_BT).blocks]
        return tangent_kernel(apply, params, tokens_BT, labels_B), patterns

    return jax.jit(look)


def _switched(patterns_0, patterns_T) -> float:
    """Share over all blocks, each weighing by its size."""
    shares = [np.mean(a != b) for a, b in zip(patterns_0, patterns_T, strict=True)]
    return float(np.average(shares, weights=[a.size for a in patterns_0]))


def _relative(start, end) -> float:
    """NaN for parameters that were zero at the start."""
    norm = np.linalg.norm(start)
    return float(np.linalg.norm(end - start) / norm) if norm > 0 else float('nan')
