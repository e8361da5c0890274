"""How far a network moved between two steps: kernel, parameters and neurons."""

import math
from typing import Any

import jax
import numpy as np
import pandas as pd

from analysis.changes.kernels import (
    Gradients,
    kernel_distance,
    make_gradients,
    tangent_kernel,
)
from analysis.members.member import (
    Member,
    flatten_params,
    make_apply,
    program_of,
)
from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.models import ModelConfig


def measure_change(start: Member, end: Member, number: int) -> dict[str, float]:
    """Compares two states of one member on `number` sequences of its eval sets.

    kernel         distance of the tangent kernels, in [0, 1]
    pattern        share of neurons x positions x sequences that switched on or off; NaN
                   without any
    movement       of all parameters, and movement_NAME: see `measure_movement`
    """
    start_kernel, start_active, end_kernel, end_active = _ask_both(start, end, number)
    movement = measure_movement(start.params, end.params)
    change = {
        'kernel': kernel_distance(start_kernel, end_kernel),
        'pattern': _share_switched(start_active, end_active),
        'movement': movement.pop('all'),
    }
    return change | {f'movement_{name}': moved for name, moved in movement.items()}


def measure_kernel_distance(first: Member, second: Member, number: int) -> float:
    """Distance of the tangent kernels of two networks for one task, in [0, 1].

    Both are asked the same `number` sequences, those of the first one's eval sets.
    """
    first_kernel, _, second_kernel, _ = _ask_both(first, second, number)
    return kernel_distance(first_kernel, second_kernel)


def _ask_both(first: Member, second: Member, number: int) -> list:
    """[tangent kernel, active neurons] of each, on the first one's eval sets."""
    tokens_BT, labels_B = choose_sequences(first, number)
    compute_gradients = _compile_gradients(*program_of(first.experiment))
    found = []
    for member in (first, second):
        batch = member.params, tokens_BT, labels_B
        found.append(tangent_kernel(compute_gradients, *batch))
        found.append([block.hidden > 0 for block in member.forward(tokens_BT).blocks])
    return found


def choose_sequences(member: Member, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [B, T], trained labels [B]) of the first sequences of each eval set."""
    tokens_PBT, labels_PRB = member.eval_sets
    trained = member.task.mapping_names.index(member.task.trained_mapping)
    tokens_BT = tokens_PBT.swapaxes(0, 1).reshape(-1, tokens_PBT.shape[-1])
    labels_B = labels_PRB[:, trained].T.ravel()
    return tokens_BT[:number], labels_B[:number]


def measure_movement(start_params: Any, end_params: Any) -> dict[str, float]:
    """|theta_T - theta_0| / |theta_0| of each name in all blocks, and of 'all'.

    NaN for parameters that are zero at the start.
    """
    end = flatten_params(end_params)
    rows = []
    for path, before in flatten_params(start_params).items():
        norm = np.linalg.norm(before.astype(float))
        distance = np.linalg.norm(end[path].astype(float) - before)
        name = path.split('/')[-1]
        rows.append({'name': name, 'start': norm**2, 'moved': distance**2})
    squares = pd.DataFrame(rows).groupby('name', sort=False).sum()
    squares.loc['all'] = squares.sum()
    ratios = squares.moved / squares.start.where(squares.start > 0)
    return {str(name): ratio for name, ratio in ratios.transform(np.sqrt).items()}


@cache()
def _compile_gradients(model: ModelConfig, vocab: int, precision: str) -> Gradients:
    """The jitted `make_gradients`, compiled once per architecture."""
    return numerics.pin(precision)(jax.jit(make_gradients(make_apply(model, vocab))))


def _share_switched(start_active: list, end_active: list) -> float:
    """Share of neurons over all blocks that switched; NaN without any block."""
    if not start_active:
        return math.nan
    switched = []
    for start, end in zip(start_active, end_active, strict=True):
        switched.append(np.ravel(start != end))
    return float(np.concatenate(switched).mean())
