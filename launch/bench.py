"""Prints one table of speed, every figure measured in this run: python launch/bench.py

On a CPU: against PyTorch eager and a plain Flax loop, against the bare matmul, compilation,
checkpoints, members and depth, thousands of members on disk. On an accelerator also lanes and
matmul precision.
"""

import pathlib
import platform
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import jax

from anchorjax import benchmark, benchmark_scale, cli, sharding


def command() -> None:
    cli.Parser(description=__doc__.splitlines()[0]).parse_args()
    sharding.use_every_core()
    device = jax.devices()[0]
    print(
        f'{len(jax.devices())} x {device.device_kind} ({platform.machine()}), jax {jax.__version__}'
    )
    parts = [benchmark.against_today, benchmark.against_members_and_depth]
    parts += [benchmark.checkpoints, benchmark.compilation]
    parts += [benchmark_scale.planning, benchmark_scale.finalizing]
    parts.append(benchmark_scale.checkpoint_size)
    if device.platform != 'cpu':
        parts.append(benchmark.lanes_and_precision)
    for part in parts:
        for name, value in part():
            print(f'{name:36s} {value}', flush=True)


if __name__ == '__main__':
    cli.main(command)
