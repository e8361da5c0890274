"""The forward pass of a member in training, and how a batch is divided for it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from anchorjax.experiment import Experiment
from anchorjax.models import edges

# Divides a batch among devices (members.make_batch_splitter).
Split = Callable[[Any], Any]


def keep_whole(batch: Any) -> Any:
    """The Split for one device: the batch as it is."""
    return batch


def compute_logits(
    experiment: Experiment,
    params: Any,
    tokens_BT: jax.Array,
    last_only: bool,
    dtype: DTypeLike = jnp.float32,
) -> jax.Array:
    """The logits [B, Q, V] of a member and nothing else, with little memory.

    Args:
      dtype: as in `ModelConfig.module_for_logits`.
    """
    task = experiment.task.make()
    module = experiment.model.module_for_logits(task.vocab, dtype)
    module = edges.give_mask(module, experiment.model, task.role_names, task.roles)
    activations: Any = module.apply({'params': params}, tokens_BT, last_only)
    return activations.logits
