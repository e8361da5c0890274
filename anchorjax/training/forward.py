"""The forward pass of a member, and how its rows are divided among devices."""

from collections.abc import Callable
from typing import Any

import jax

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
