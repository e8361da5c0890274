"""How far a network moved between two steps: kernel, parameters and neurons."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict

from analysis.changes.kernels import kernel_distance, tangent_kernel
from analysis.members.member import Member, make_apply
from anchorjax.model import ModelConfig


class Change(NamedTuple):
    """From a start to an end of the same network."""

    kernel: float  # distance of the tangent kernels, in [0, 1]
    # Share of neurons x positions x sequences that switched on or off; NaN without any.
    pattern: float
    movement: dict[str, float]  # see `measure_movement`


def measure_change(start: Member, end: Member, number: int) -> Change:
    """Compares two states of one member on `number` sequences of its probes."""
    tokens_BT, labels_B = choose_sequences(start, number)
    config = start.experiment
    probe_network = _compile_probe(config.model, config.task.vocab)
    start_kernel, start_active = probe_network(start.params, tokens_BT, labels_B)
    end_kernel, end_active = probe_network(end.params, tokens_BT, labels_B)
    return Change(
        kernel=kernel_distance(start_kernel, end_kernel),
        pattern=_share_switched(start_active, end_active),
        movement=measure_movement(start.params, end.params),
    )


def measure_kernel_distance(first: Member, second: Member, number: int) -> float:
    """Distance of the tangent kernels of two networks for one task, in [0, 1].

    Both are asked the same `number` sequences, those of the first one's probes.
    """
    tokens_BT, labels_B = choose_sequences(first, number)
    config = first.experiment
    probe_network = _compile_probe(config.model, config.task.vocab)
    first_kernel, _ = probe_network(first.params, tokens_BT, labels_B)
    second_kernel, _ = probe_network(second.params, tokens_BT, labels_B)
    return kernel_distance(first_kernel, second_kernel)


def choose_sequences(member: Member, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [B, T], trained labels [B]) of the first sequences of each probe."""
    tokens_PBT, labels_PRB = member.probes
    trained = member.task.mapping_names.index(member.task.trained_mapping)
    labels_PB = labels_PRB[:, trained]
    seq_len = tokens_PBT.shape[-1]
    tokens_BPT = tokens_PBT.swapaxes(0, 1)
    labels_BP = labels_PB.swapaxes(0, 1)
    tokens_BT = tokens_BPT.reshape(-1, seq_len)
    labels_B = labels_BP.reshape(-1)
    return tokens_BT[:number], labels_B[:number]


def measure_movement(start_params: Any, end_params: Any) -> dict[str, float]:
    """|theta_T - theta_0| / |theta_0| of each name in all blocks, and of 'all'.

    NaN for parameters that are zero at the start.
    """
    start = flatten_dict(start_params, sep='/')
    end = flatten_dict(end_params, sep='/')
    groups = {'all': list(start)}
    for path in start:
        name = path.split('/')[-1]
        groups.setdefault(name, []).append(path)

    movement = {}
    for name, paths in groups.items():
        start_vector = _concatenate(start, paths)
        end_vector = _concatenate(end, paths)
        movement[name] = _relative_distance(start_vector, end_vector)
    return movement


@functools.lru_cache
def _compile_probe(model: ModelConfig, vocab: int) -> Callable:
    """(params, tokens_BT, labels_B) -> (tangent kernel, active neurons of each block).

    Compiled once per architecture.
    """
    apply = make_apply(model, vocab)

    def probe_network(params: Any, tokens_BT: jax.Array, labels_B: jax.Array) -> tuple:
        activations = apply(params, tokens_BT)
        is_active = [block.hidden > 0 for block in activations.blocks]
        return tangent_kernel(apply, params, tokens_BT, labels_B), is_active

    return jax.jit(probe_network)


def _share_switched(start_active: list, end_active: list) -> float:
    """Share of neurons over all blocks, each block weighted by its size.

    NaN without any block.
    """
    if not start_active:
        return float('nan')
    shares = []
    sizes = []
    for start, end in zip(start_active, end_active, strict=True):
        has_switched = start != end
        shares.append(np.mean(has_switched))
        sizes.append(start.size)
    average = np.average(shares, weights=sizes)
    return float(average)


def _concatenate(leaves: dict[str, np.ndarray], paths: list[str]) -> np.ndarray:
    """The parameters at these paths as one vector, in double precision."""
    vectors = []
    for path in paths:
        vectors.append(np.ravel(leaves[path]))
    return np.concatenate(vectors).astype(float)


def _relative_distance(start: np.ndarray, end: np.ndarray) -> float:
    norm = np.linalg.norm(start)
    if norm == 0:
        return float('nan')
    distance = np.linalg.norm(end - start)
    return float(distance / norm)
