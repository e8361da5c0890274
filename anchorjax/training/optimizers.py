"""AdamW as PyTorch means it, and schedules as unit shapes times a traced rate (P1 App A).

The rate of a member is floor + (learning_rate - floor) * shape(step): the official warm-up
starts at the floor, and its cosine ends there (PAPERS 1.3: both are the base rate, 1e-5).
"""

import dataclasses

import jax
import jax.numpy as jnp
import optax

from anchorjax.errors import require

SHAPES = ('warmup_cosine', 'warmup_drop', 'constant')


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
    """Defaults are P1's (PAPERS 1.3), in steps of 370 an epoch."""

    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8
    clip_norm: float = 1.0  # of the gradient over all parameters
    shape: str = 'warmup_cosine'
    warmup_steps: int = 3_700
    schedule_steps: int = 0  # length of warm-up and cosine together; 0: train.num_steps
    floor: float = 1e-5  # absolute rate before warm-up and after the cosine

    def __post_init__(self):
        for field in ('b1', 'b2'):
            value = getattr(self, field)
            require(0 <= value < 1, f'optimizer.{field}', value, 'in [0, 1)')
        require(self.eps > 0, 'optimizer.eps', self.eps, 'positive')
        require(self.clip_norm > 0, 'optimizer.clip_norm', self.clip_norm, 'positive')
        require(self.shape in SHAPES, 'optimizer.shape', self.shape, f'one of {SHAPES}')
        for field in ('warmup_steps', 'schedule_steps', 'floor'):
            value = getattr(self, field)
            require(value >= 0, f'optimizer.{field}', value, 'at least 0')


def unit_shape(config: OptimizerConfig, step: jax.Array) -> jax.Array:
    """The schedule in [0, 1] before the step with this number (0-based).

    'warmup_cosine': linear to 1 over warmup_steps, then half a cosine to 0 at schedule_steps
    (the paper's text). 'warmup_drop': the same warm-up, then 0, the base rate, for good: what
    one release of the scheduler package that the official code imports does. 'constant': 1.
    """
    if config.shape == 'constant':
        return jnp.ones_like(step, jnp.float32)
    rise = step / max(1, config.warmup_steps)
    if config.shape == 'warmup_drop':
        fall = jnp.zeros_like(rise)
    else:
        span = max(1, config.schedule_steps - config.warmup_steps)
        done = jnp.clip((step - config.warmup_steps) / span, 0.0, 1.0)
        fall = 0.5 * (1.0 + jnp.cos(jnp.pi * done))
    return jnp.where(step < config.warmup_steps, rise, fall).astype(jnp.float32)


def learning_rate(
    config: OptimizerConfig, peak: jax.Array, step: jax.Array
) -> jax.Array:
    """Rate of the step with this number for a member whose peak is `peak`."""
    return config.floor + (peak - config.floor) * unit_shape(config, step)


def make_tx(config: OptimizerConfig) -> optax.GradientTransformation:
    """Clip and Adam, without rate and decay: those are traced per member (see `apply`)."""
    clip = optax.clip_by_global_norm(config.clip_norm)
    return optax.chain(clip, optax.scale_by_adam(config.b1, config.b2, config.eps))


def apply(params, updates, rate: jax.Array, weight_decay: jax.Array):
    """p - rate * (update + weight_decay * p), decay on every parameter (PAPERS 1.3, one group)."""
    return jax.tree.map(lambda p, u: p - rate * (u + weight_decay * p), params, updates)


def global_norm(tree) -> jax.Array:
    """Euclidean norm over all leaves."""
    return optax.tree.norm(tree)
