"""AdamW as in PyTorch; a schedule is a shape in [0, 1] times a traced rate (P1 App A).

The rate of a member is floor + (learning_rate - floor) * shape(step): the official
warm-up starts at the floor, and its cosine ends there (PAPERS 1.3: both are the base
rate, 1e-5).

An optimizer of one's own is a function like `make_adamw`, a schedule one like
`warmup_cosine`, in any module or config file; `optimizer.method` and `optimizer.shape`
take its name, from `config.dotted_name`. Rate and decay are traced and differ by member
and step, so the state must not depend on them.
"""

from typing import Any

import jax
import jax.numpy as jnp
import optax

from anchorjax.experiment import OptimizerConfig
from anchorjax.importing import import_named

Scalar = jax.Array | float


def warmup_cosine(config: OptimizerConfig) -> optax.Schedule:
    """Linear to 1 over warmup_steps, then half a cosine to 0 at schedule_steps.

    As in the paper's text, and in the released version of the package that the official
    code uses (PAPERS 1.3).
    """
    warmup = config.warmup_steps
    end = max(warmup + 1, config.schedule_steps)  # optax needs a step to fall in
    return optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup, end)


def warmup_drop(config: OptimizerConfig) -> optax.Schedule:
    """The same warm-up, then 0 (the base rate) for the rest.

    As in one commit of that package, which the official runs were not made with (PAPERS
    1.3).
    """
    warmup = config.warmup_steps
    parts = [optax.linear_schedule(0.0, 1.0, warmup), optax.constant_schedule(0.0)]
    return optax.join_schedules(parts, [warmup])


def constant(config: OptimizerConfig) -> optax.Schedule:
    """1 at every step (P4)."""
    return optax.constant_schedule(1.0)


def make_adamw(
    config: OptimizerConfig, is_decayed: Any, rate: Scalar, weight_decay: Scalar
) -> optax.GradientTransformation:
    """p - rate * (direction + weight_decay * p), as in PyTorch (PAPERS 1.3).

    Args:
      is_decayed: a tree of bools; where it is False, p - rate * direction.
    """
    return optax.adamw(
        rate,
        config.b1,
        config.b2,
        config.eps,
        weight_decay=weight_decay,
        mask=is_decayed,
    )


def make_sgd(
    config: OptimizerConfig, is_decayed: Any, rate: Scalar, weight_decay: Scalar
) -> optax.GradientTransformation:
    """The same with the momentum m = b1 m + g as its direction."""
    momentum = optax.trace(config.b1)
    decay = optax.add_decayed_weights(weight_decay, is_decayed)
    return optax.chain(momentum, decay, optax.scale_by_learning_rate(rate))


OPTIMIZERS = {'adam': make_adamw, 'sgd': make_sgd}
SCHEDULES = {
    'warmup_cosine': warmup_cosine,
    'warmup_drop': warmup_drop,
    'constant': constant,
}


def find_optimizer(config: OptimizerConfig) -> Any:
    """The function of `optimizer.method`; ConfigError if it cannot be imported."""
    return OPTIMIZERS.get(config.method) or import_named(config.method)


def find_schedule(config: OptimizerConfig) -> Any:
    """The function of `optimizer.shape`; ConfigError if it cannot be imported."""
    return SCHEDULES.get(config.shape) or import_named(config.shape)


def learning_rate(
    config: OptimizerConfig, peak: jax.Array, step: jax.Array
) -> jax.Array:
    """The rate [] of a step [], counted from 0, for a member with this peak rate [].

    The peak is traced, which optax's schedules refuse: so theirs is 1, times the peak.
    """
    schedule = find_schedule(config)(config)
    return config.floor + (peak - config.floor) * schedule(step)


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
    rate: Scalar = 0.0,
    weight_decay: Scalar = 0.0,
) -> optax.GradientTransformation:
    """The optimizer of `optimizer.method`, of clipped gradients.

    Args:
      is_decayed: as in `make_adamw`.
    """
    clip = optax.clip_by_global_norm(config.clip_norm)
    make = find_optimizer(config)
    return optax.chain(clip, make(config, is_decayed, rate, weight_decay))
