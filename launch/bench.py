"""Prints a table of speed, all of it measured now: python launch/bench.py

On a CPU: speed relative to eager PyTorch, a plain Flax loop, Hugging Face's GPT-2 and
bare matrix products; what members, depth, windows from the host, the loop of a sweep,
checkpoints and compilation cost; thousands of members on disk. PyTorch and transformers
come with the extra `bench`; without them their rows say so. On an accelerator also
lanes and matmul precision. anchorjax/bench/speed.py explains how the numbers are
measured.
"""

import platform

import jax

from anchorjax import cli
from anchorjax.bench import feeds, language, overhead, precisions, scale, speed
from anchorjax.training.devices import use_every_core

MEASUREMENTS = (
    speed.compare_with_baselines,
    speed.compare_numbers_of_members,
    speed.compare_depths,
    language.compare_gpt2,
    feeds.compare_feeds,
    overhead.measure_sweep,
    overhead.measure_saving,
    overhead.measure_compilation,
    scale.measure_planning,
    scale.measure_finalizing,
    scale.measure_checkpoint_size,
)


def command() -> None:
    cli.Parser(description=__doc__).parse_args()
    use_every_core()
    devices = jax.devices()
    device = f'{len(devices)} x {devices[0].device_kind} ({platform.machine()})'
    print(f'{device}, jax {jax.__version__}')
    measurements = list(MEASUREMENTS)
    if devices[0].platform != 'cpu':
        measurements.append(precisions.compare_precisions)
    for measure in measurements:
        for name, value in measure():
            print(f'{name:40s} {value}', flush=True)


if __name__ == '__main__':
    cli.run_command(command)
