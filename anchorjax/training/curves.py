"""What is recorded of a member at the end of a segment: one row of its curves."""

from typing import NamedTuple

import jax
import numpy as np

from anchorjax.tasks import Task
from anchorjax.tasks.columns import RECORD_DIMS

DEVIATION_LIMIT = 32  # of |prediction - answer|; larger ones share one bin


class Record(NamedTuple):
    """One row of a member's curves; the dims of the fields are in RECORD_DIMS."""

    train_loss: jax.Array  # [] mean over the segment's steps, nats
    grad_norm: jax.Array  # [] mean over the segment's steps, before clipping
    eval_set_loss: jax.Array  # [P] against the trained mapping, nats
    agreement: jax.Array  # [P, R] share of sequences answered as each mapping does
    token_agreement: jax.Array  # [P, R] share of scored tokens that are right
    agreement_by_group: jax.Array  # [P, R, G] the same of each group; NaN: no sequence
    # [offset] share of every difference from -LIMIT to LIMIT, then of all beyond.
    deviation: jax.Array


def curve_coordinates(task: Task) -> dict[str, list[str]]:
    """The labels along eval set, mapping, group and offset."""
    offsets = []
    if task.deviation is not None:
        offsets = [str(i) for i in range(-DEVIATION_LIMIT, DEVIATION_LIMIT + 1)]
        offsets.append('beyond')
    return {
        'eval_set': list(task.eval_set_names),
        'mapping': list(task.mapping_names),
        'group': list(task.group_names),
        'offset': offsets,
    }


def record_shapes(task: Task) -> Record:
    """A Record that holds the shape of every field."""
    sizes = {dim: len(labels) for dim, labels in curve_coordinates(task).items()}
    shapes = []
    for field in Record._fields:
        shapes.append(tuple(sizes[dim] for dim in RECORD_DIMS[field]))
    return Record(*shapes)


def empty_record(task: Task, num_records: int, num_members: int) -> Record:
    """The curves of members that are not trained yet, [S, M, ...] of NaN."""
    curves = []
    for shape in record_shapes(task):
        curves.append(np.full((num_records, num_members, *shape), np.nan, np.float32))
    return Record(*curves)
