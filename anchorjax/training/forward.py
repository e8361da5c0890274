"""The forward pass of a member, and how its rows are divided among devices."""

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import PartitionSpec

from anchorjax import models
from anchorjax.config import Experiment
from anchorjax.models.base import Activations

# Divides a batch among devices (members.make_batch_splitter).
Split = Callable[[Any], Any]


def keep_whole(batch: Any) -> Any:
    """The Split for one device: the batch as it is."""
    return batch


def forward(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool = True
) -> Activations:
    """The activations of a member; logits at the last position, or at all."""
    module = models.make(experiment.model, experiment.task.vocab, gamma=0.0)
    return module.apply({'params': params}, tokens_BT, last_only)


def compute_logits(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool
) -> jax.Array:
    """The logits of `forward` and nothing else, with little memory: for training."""
    model, vocab = experiment.model, experiment.task.vocab
    gather = gather_parts if experiment.train.shard_params else keep_whole
    make_for_logits = models.MODELS[model.name].make_for_logits
    if make_for_logits is None:
        module = models.make(model, vocab, gamma=0.0)
        params = gather(params)
    else:
        module = make_for_logits(model, vocab, gather)
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
