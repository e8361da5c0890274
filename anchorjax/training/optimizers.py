"""AdamW as in PyTorch; a schedule is a shape in [0, 1] times a traced rate (P1 App A).

The rate of a member is floor + (learning_rate - floor) * shape(step): the official
warm-up starts at the floor, and its cosine ends there (PAPERS 1.3: both are the base
rate, 1e-5).
"""

from typing import Any, assert_never

import jax
import jax.numpy as jnp
import optax

from anchorjax.experiment import OptimizerConfig


def unit_schedule(config: OptimizerConfig) -> optax.Schedule:
    """The schedule in [0, 1] of steps, counted from 0 (PAPERS 1.3).

    'warmup_cosine': linear to 1 over warmup_steps, then half a cosine to 0 at
    schedule_steps; as in the paper's text, and in the released version of the package
    that the official code uses. 'warmup_drop': the same warm-up, then 0 (the base
    rate) for the rest; as in one commit of that package, which the official runs were
    not made with (PAPERS 1.3). 'constant': 1.
    """
    warmup = config.warmup_steps
    if config.shape == 'constant':
        return optax.constant_schedule(1.0)
    if config.shape == 'warmup_drop':
        parts = [optax.linear_schedule(0.0, 1.0, warmup), optax.constant_schedule(0.0)]
        return optax.join_schedules(parts, [warmup])
    if config.shape == 'warmup_cosine':
        end = max(warmup + 1, config.schedule_steps)  # optax needs a step to fall in
        return optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup, end)
    assert_never(config.shape)  # a name without a branch must not train a cosine


def learning_rate(
    config: OptimizerConfig, peak: jax.Array, step: jax.Array
) -> jax.Array:
    """The rate [] of a step [], counted from 0, for a member with this peak rate [].

    The peak is traced, which optax's schedules refuse: so theirs is 1, times the peak.
    """
    return config.floor + (peak - config.floor) * unit_schedule(config)(step)


def decay_shape(
    config: OptimizerConfig, window: jax.Array, step: jax.Array, num_steps: int
) -> jax.Array:
    """What weight decay is multiplied by at a step, counted from 0 (PAPERS 4.1).

    1 inside the window and 0 outside. With `equal_budget` it is num_steps / steps of
    the window inside, so that its mean over training is 1 for every window.

    Args:
      window: [4] bounds of two pieces, as in HParams; may be traced.
    """
    start, end = window[0::2], jnp.minimum(window[1::2], num_steps)
    is_inside = ((step >= start) & (step < end)).any()
    if not config.equal_budget:
        return is_inside.astype(jnp.float32)
    covered = jnp.maximum(1, (end - start).sum())
    return jnp.where(is_inside, num_steps / covered, 0.0).astype(jnp.float32)


def make_optimizer(
    config: OptimizerConfig,
    is_decayed: Any,
    rate: jax.Array | float = 0.0,
    weight_decay: jax.Array | float = 0.0,
) -> optax.GradientTransformation:
    """AdamW, or SGD with momentum m = b1 m + g, as in PyTorch; gradients are clipped.

    Every parameter becomes p - rate * (direction + weight_decay * p) (PAPERS 1.3). Rate
    and decay differ by member and step, may be traced, and leave the state alone.

    Args:
      is_decayed: a tree of bools; where it is False, p - rate * direction.
    """
    clip = optax.clip_by_global_norm(config.clip_norm)
    if config.method == 'sgd':
        momentum = optax.trace(config.b1)
        decay = optax.add_decayed_weights(weight_decay, is_decayed)
        return optax.chain(clip, momentum, decay, optax.scale_by_learning_rate(rate))
    adamw = optax.adamw(
        rate,
        config.b1,
        config.b2,
        config.eps,
        weight_decay=weight_decay,
        mask=is_decayed,
    )
    return optax.chain(clip, adamw)
