"""What JAX computes here, whatever this process has set elsewhere.

Options of JAX (its variables of the environment, `jax.config.update` in a notebook)
change the bits of random draws, the precision of products and the types of numbers. A
network is the same under all of them: who traces or runs a program of ours does so
inside `pin`, which leaves the process's own settings as they are.
"""

import contextlib
import os
from collections.abc import Iterator
from importlib.metadata import version

import jax

# What changes bits and is not pinned, because an option of the compiler may be needed:
# a sweep goes on under the same ones alone. In older versions of JAX some are absent.
_RECORDED = (
    'jax_allow_f16_reductions',
    'jax_compiler_enable_remat_pass',
    'jax_disable_most_optimizations',
    'jax_exec_time_optimization_effort',
    'jax_high_dynamic_range_gumbel',
    'jax_memory_fitting_effort',
    'jax_optimization_level',
    'jax_random_seed_offset',
    'jax_use_direct_linearize',
    'jax_use_shardy_partitioner',
)
_VARIABLES = ('LIBTPU_INIT_ARGS', 'NVIDIA_TF32_OVERRIDE')  # of other libraries
# XLA flags that change no bit by themselves: the number of devices is recorded anyway.
_IGNORED_FLAGS = ('--xla_force_host_platform_device_count',)

_LIBRARIES = ('jax', 'jaxlib', 'flax', 'optax', 'numpy')  # that decide bits

DEFAULT_PRECISION = 'float32'  # of products: not the faster one of an accelerator


@contextlib.contextmanager
def pin(precision: str = DEFAULT_PRECISION) -> Iterator[None]:
    """Within it, or in a function that it decorates, JAX computes as in training.

    Args:
      precision: `train.precision` of a run. Of 'bfloat16' it is the model that rounds
        the factors of its products, in training alone; all others are float32.
    """
    if precision == 'bfloat16':
        precision = 'float32'
    with (
        jax.enable_x64(False),
        jax.threefry_partitionable(True),
        jax.default_prng_impl('threefry2x32'),
        jax.default_matmul_precision(precision),
        jax.numpy_dtype_promotion('standard'),
        jax.numpy_rank_promotion('allow'),
        jax.softmax_custom_jvp(False),
        jax.disable_jit(False),
        # NaN is data here: a diverged network, a group that an eval set has none of.
        jax.debug_nans(False),
        jax.debug_infs(False),
    ):
        yield


def read_versions() -> dict[str, str]:
    """The versions of the libraries that decide what is computed."""
    return {library: version(library) for library in _LIBRARIES}


def read_flags() -> dict[str, str | int | float | bool | None]:
    """Flags and settings that may change what is computed, or in which order.

    Those that `pin` sets are not among them.
    """
    flags: dict[str, str | int | float | bool | None] = {}
    for word in os.environ.get('XLA_FLAGS', '').split():
        name, _, value = word.partition('=')
        if name not in _IGNORED_FLAGS:
            flags[name] = value
    for name in _VARIABLES:
        if name in os.environ:
            flags[name] = os.environ[name]
    for name in _RECORDED:
        value = getattr(jax.config, name, None)
        is_plain = value is None or isinstance(value, int | float | str)
        flags[name] = value if is_plain else str(value)
    return flags
