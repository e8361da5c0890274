"""The forward pass of a member."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from anchorjax.experiment import Experiment
from anchorjax.models import Activations

# Divides a batch among devices (members.make_batch_splitter).
Split = Callable[[Any], Any]


def keep_whole(batch: Any) -> Any:
    """The Split for one device: the batch as it is."""
    return batch


def forward(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool = True
) -> Activations:
    """The activations of a member; logits [B, 1, V] at the last position, or at all."""
    module = experiment.model.module(experiment.task.vocab, gamma=0.0)
    activations: Any = module.apply({'params': params}, tokens_BT, last_only)
    return activations


def compute_logits(
    experiment: Experiment,
    params: Any,
    tokens_BT: jax.Array,
    last_only: bool,
    dtype: DTypeLike = jnp.float32,
) -> jax.Array:
    """The logits [B, Q, V] of `forward` and nothing else, with little memory.

    Args:
      dtype: as in `ModelConfig.module_for_logits`.
    """
    module = experiment.model.module_for_logits(experiment.task.vocab, dtype)
    activations: Any = module.apply({'params': params}, tokens_BT, last_only)
    return activations.logits
