"""What is kept of a member whenever a segment ends."""

from typing import NamedTuple

import jax

from anchorjax.tasks import Task

DEVIATION_LIMIT = 32  # of (prediction - inferential label) on the unseen pair
RECORD_DIMS = {
    'train_loss': (),
    'grad_norm': (),
    'probe_loss': ('probe',),
    'agreement': ('probe', 'mapping'),
    'deviation': ('offset',),
}


class Record(NamedTuple):
    """One row of a member's curves; the fields' dims are in DIMS."""

    train_loss: jax.Array  # [] mean over the segment's steps, nats
    grad_norm: jax.Array  # [] mean over the segment's steps, before the clip
    probe_loss: jax.Array  # [P] cross-entropy against the assigned mapping, nats
    agreement: jax.Array  # [P, R] share of predictions equal to each mapping's label
    deviation: (
        jax.Array
    )  # [offset] shares of -LIMIT..LIMIT, and last of everything beyond


def curve_coordinates(task: Task) -> dict[str, list[str]]:
    """Labels along probe, mapping and offset."""
    offsets = [*map(str, range(-DEVIATION_LIMIT, DEVIATION_LIMIT + 1)), 'beyond']
    return {
        'probe': list(task.probe_names),
        'mapping': list(task.mapping_names),
        'offset': offsets,
    }


def record_shapes(task: Task) -> Record:
    """Shape of every field of a Record."""
    sizes = {dim: len(labels) for dim, labels in curve_coordinates(task).items()}
    return Record(*(tuple(sizes[d] for d in RECORD_DIMS[f]) for f in Record._fields))
