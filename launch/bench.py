"""Prints a table of speed, all of it measured now: python launch/bench.py

Our training relative to eager PyTorch, Hugging Face's GPT-2 and bare matrix products.
PyTorch and transformers come with the extra `bench`; without them, and on anything but
a CPU, their rows are left out. anchorjax/extras/bench/compare.py explains how the
numbers are measured.
"""

import platform

import jax

from anchorjax import cli
from anchorjax.extras.bench.compare import (
    DEFAULT,
    NARROW,
    PAPER,
    SMALL,
    compare_gpt2,
    compare_p1,
)
from anchorjax.training.devices import name_device, use_every_core


def command() -> None:
    cli.Parser(description=__doc__).parse_args()
    use_every_core()
    devices = jax.devices()
    device = f'{len(devices)} x {name_device(devices[0])} ({platform.machine()})'
    print(f'{device}, jax {jax.__version__}')
    of_sizes = [compare_p1(size) for size in (DEFAULT, NARROW, SMALL, PAPER)]
    for rows in (*of_sizes, compare_gpt2()):
        for name, value in rows:
            print(f'{name:46s} {value}', flush=True)


if __name__ == '__main__':
    cli.run_command(command)
