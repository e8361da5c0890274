"""What is kept of a member at the end of every segment: one row of its curves."""

from typing import NamedTuple

import jax

from anchorjax.tasks import Task

DEVIATION_LIMIT = 32  # of prediction minus answer; larger ones share one bin
RECORD_DIMS = {
    'train_loss': (),
    'grad_norm': (),
    'probe_loss': ('probe',),
    'agreement': ('probe', 'mapping'),
    'deviation': ('offset',),
}


class Record(NamedTuple):
    """One row of a member's curves; the dims of the fields are in RECORD_DIMS."""

    train_loss: jax.Array  # [] mean over the segment's steps, nats
    grad_norm: jax.Array  # [] mean over the segment's steps, before the clip
    probe_loss: jax.Array  # [P] cross-entropy against the trained mapping, nats
    agreement: jax.Array  # [P, R] share of sequences answered as each mapping does
    deviation: (
        jax.Array
    )  # [offset] shares of -LIMIT..LIMIT, and last of everything beyond


def curve_coordinates(task: Task) -> dict[str, list[str]]:
    """Labels along probe, mapping and offset."""
    offsets = []
    if task.deviation is not None:
        offsets = [str(i) for i in range(-DEVIATION_LIMIT, DEVIATION_LIMIT + 1)]
        offsets.append('beyond')
    return {
        'probe': list(task.probe_names),
        'mapping': list(task.mapping_names),
        'offset': offsets,
    }


def record_shapes(task: Task) -> Record:
    """Shape of every field of a Record."""
    sizes = {dim: len(labels) for dim, labels in curve_coordinates(task).items()}
    shapes = []
    for field in Record._fields:
        shapes.append(tuple(sizes[dim] for dim in RECORD_DIMS[field]))
    return Record(*shapes)
