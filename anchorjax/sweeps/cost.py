"""What a run costs, by formula: operations per step, parameters, bytes."""

import jax

from anchorjax import models
from anchorjax.config import Experiment


def forward_operations(experiment: Experiment, last_only: bool = True) -> float:
    """Multiply-adds, times two, of the matrix products of one forward pass of one sequence.

    A full block: Q, K, V, attention, W_O and the MLP at T positions. A block that answers one
    position: one row each, and T rows for the scores and the weighted mean. What `last_only`
    counts is what we run: a first block's projections are tables of V + T rows for the batch.
    """
    m, T, V = experiment.model, experiment.task.seq_len, experiment.task.vocab
    inner = m.heads * m.head_dim
    per_row = 4 * m.width * inner + 2 * m.width * m.mlp_dim
    full = T * per_row + 2 * T * T * inner
    last = per_row + 2 * T * m.heads * m.width
    blocks = (m.depth - 1) * full + (last if last_only else full)
    if last_only and m.depth > 1 and m.norm != 'pre':
        projections = (
            3 if m.norm == 'post' else 2
        )  # 'pre_query' normalizes what Q reads
        table_rows = (V + T) / experiment.train.batch_size
        blocks -= projections * m.width * inner * (T - table_rows)
    return 2 * (blocks + (1 if last_only else T) * m.width * V)


def operations_per_step(experiment: Experiment, last_only: bool = True) -> float:
    """Of one member: forward, and twice that for the backward pass."""
    return 3 * experiment.train.batch_size * forward_operations(experiment, last_only)


def num_parameters(experiment: Experiment) -> int:
    """Of one member; 2,732,201 for the official 2-layer model (PAPERS 1.2)."""
    abstract = models.abstract_params(experiment.model, experiment.task.vocab)
    return sum(leaf.size for leaf in jax.tree.leaves(abstract))


def state_bytes(experiment: Experiment) -> int:
    """Of one member: parameters, both moments, three counters and two sums; also on disk."""
    return 4 * (3 * num_parameters(experiment) + 5)


def step_bytes(experiment: Experiment) -> int:
    """Estimated peak of one member: two states, a gradient, activations kept for backward."""
    m, e = experiment.model, experiment
    rows = e.train.batch_size * e.task.seq_len
    inner = m.heads * m.head_dim
    per_row = 8 * m.width + 4 * inner + 3 * m.mlp_dim + 3 * m.heads * e.task.seq_len
    return 3 * state_bytes(e) + 4 * (
        m.depth * rows * per_row + 4 * e.train.batch_size * e.task.vocab
    )
