"""Prints one table of speed, every figure measured in this run: python launch/bench.py

On a CPU: against PyTorch eager and a plain Flax loop, against the bare matmul, compilation,
checkpoints, members and depth, thousands of members on disk. On an accelerator also lanes and
matmul precision.
"""

import platform

import jax

from anchorjax import cli
from anchorjax.bench import scale, speed
from anchorjax.training.members import use_every_core


def command() -> None:
    cli.Parser(description=__doc__.splitlines()[0]).parse_args()
    use_every_core()
    device = jax.devices()[0]
    print(
        f'{len(jax.devices())} x {device.device_kind} ({platform.machine()}), jax {jax.__version__}'
    )
    parts = [speed.against_today, speed.against_members_and_depth]
    parts += [speed.checkpoints, speed.compilation]
    parts += [scale.planning, scale.finalizing]
    parts.append(scale.checkpoint_size)
    if device.platform != 'cpu':
        parts.append(speed.lanes_and_precision)
    for part in parts:
        for name, value in part():
            print(f'{name:36s} {value}', flush=True)


if __name__ == '__main__':
    cli.run_command(command)
