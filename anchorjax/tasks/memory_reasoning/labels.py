"""The labels of the memory_reasoning task, and their distribution (PAPERS 2.1, 2.3)."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks.memory_reasoning.config import MemoryReasoningConfig


class LabelRanges(NamedTuple):
    """The label of a combination and key is uniform in low, ..., low + size - 1.

    A reasoning label is certain: its range has one value.
    """

    low: np.ndarray  # [combination, key]
    size: np.ndarray  # [combination, key]


def combinations(config: MemoryReasoningConfig) -> np.ndarray:
    """All combinations of anchors, [combination, q]: memory, trained, then masked.

    Memory anchors are combined within their group.
    """
    rows: list[Sequence[int]] = []
    first, _ = config.memory_anchors
    size = config.anchors_per_group
    for group in range(config.num_groups):
        start = first + group * size
        rows += itertools.product(range(start, start + size), repeat=config.q)
    masked = set(config.masked)
    for row in itertools.product(range(*config.reasoning_anchors), repeat=config.q):
        if row not in masked:
            rows.append(row)
    rows += config.masked
    return np.array(rows, np.int32)


def label_ranges(config: MemoryReasoningConfig) -> LabelRanges:
    """The range of the label of every combination and key."""
    rows = combinations(config)
    keys = np.arange(*config.keys)
    sums = rows.sum(-1, keepdims=True)  # [combination, 1]
    low = keys + sums
    size = np.ones_like(low)
    memory = slice(config.num_memory)
    if config.memory_labels == 'near':
        low[memory] = keys - sums[memory]
        size[memory] = 2 * sums[memory] + 1
        return LabelRanges(low, size)
    ranges = np.array(config.label_ranges or (config.keys,))
    group = memory_groups(config)[memory]
    first, end = ranges[group].T
    low[memory] = first[:, None]
    size[memory] = (end - first)[:, None]
    return LabelRanges(low, size)


def memory_groups(config: MemoryReasoningConfig) -> np.ndarray:
    """The group of every combination; reasoning follows the memory groups."""
    per_group = config.num_memory // config.num_groups
    num_rows = config.num_memory + config.num_reasoning
    group = np.arange(num_rows) // per_group
    group[config.num_memory :] = config.num_groups
    return group


def draw_labels(config: MemoryReasoningConfig, key: jax.Array) -> jax.Array:
    """The label of every combination and key, [combination, key]."""
    low, size = label_ranges(config)
    bits = jax.random.bits(key, low.shape)
    drawn = (bits % jnp.asarray(size, jnp.uint32)).astype(jnp.int32)
    label = jnp.asarray(low, jnp.int32) + drawn
    if config.ordered:
        return label
    return label[_sorted_rows(config)]


def _sorted_rows(config: MemoryReasoningConfig) -> np.ndarray:
    """For every combination the row of its anchors in increasing order."""
    rows = combinations(config).tolist()
    row_of = {tuple(row): i for i, row in enumerate(rows)}
    return np.array([row_of[tuple(sorted(row))] for row in rows])
