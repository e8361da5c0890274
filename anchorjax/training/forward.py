"""The forward pass of a member, and how its rows are divided among devices."""

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import PartitionSpec

from anchorjax.experiment import Experiment
from anchorjax.model import Activations

# Divides a batch among devices (members.make_batch_splitter).
Split = Callable[[Any], Any]


def keep_whole(batch: Any) -> Any:
    """The Split for one device: the batch as it is."""
    return batch


def forward(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool = True
) -> Activations:
    """The activations of a member; logits at the last position, or at all."""
    module = experiment.model.module(experiment.task.vocab, gamma=0.0)
    return module.apply({'params': params}, tokens_BT, last_only)


def compute_logits(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool
) -> jax.Array:
    """The logits of `forward` and nothing else, with little memory: for training."""
    model, vocab = experiment.model, experiment.task.vocab
    gather = gather_parts if experiment.train.shard_params else keep_whole
    module = model.module_for_logits(vocab, gather)
    if module is None:
        module = model.module(vocab, gamma=0.0)
        params = gather(params)
    return module.apply({'params': params}, tokens_BT, last_only).logits


def gather_parts(params: Any) -> Any:
    """Parameters whole on every device, where devices share them; else as they are.

    Without this XLA may send activations around instead of parameters.
    """
    mesh = jax.sharding.get_abstract_mesh()
    if mesh.empty or mesh.shape.get('batch', 1) == 1:
        return params

    def gather_array(x: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(x, PartitionSpec())

    return jax.tree.map(gather_array, params)
