"""Prints a JobSet that trains a sweep on TPUs of GKE: python launch/jobset.py ... -- --config FILE

  python launch/jobset.py --name=phase --image=REGISTRY/anchorjax --shards=4 \\
      --accelerator=tpu-v5-lite-podslice --topology=2x4 --hosts=2 --chips_per_host=4 \\
      --claim=runs -- --config configs/phase.py --workdir /runs/phase | kubectl apply -f -

The words after -- are those of launch/sweep.py; the config is read here too, so a bad one is
refused before anything starts. The claim's file system must have atomic rename and locks:
Filestore or another NFS, not a bucket. --workdir must lie on it.
"""

import argparse
import sys

from anchorjax import cli, sweep_command
from anchorjax.cluster import gke
from anchorjax.errors import UserError


def parser() -> cli.Parser:
    raw = argparse.RawDescriptionHelpFormatter
    p = cli.Parser(
        usage='%(prog)s --name=.. [flags] -- words of sweep.py', formatter_class=raw
    )
    p.description = __doc__
    add = p.add_argument
    add('--name', required=True, help='of the JobSet')
    add('--image', required=True, help='this repository is its working directory')
    add(
        '--shards',
        type=int,
        required=True,
        metavar='N',
        help='Jobs, each with a slice of its own',
    )
    add(
        '--accelerator', required=True, metavar='LABEL', help='tpu-v5-lite-podslice, ..'
    )
    add(
        '--topology',
        required=True,
        metavar='AxB',
        help='chips of a slice: 2x4, 4x4x4, ..',
    )
    add(
        '--hosts',
        type=int,
        default=1,
        metavar='N',
        help='machines of a slice (%(default)s)',
    )
    add('--chips_per_host', type=int, required=True, metavar='N')
    add('--claim', required=True, metavar='PVC', help='NFS, for many writers')
    add('--mount', default='/runs', help='where the claim is mounted (%(default)s)')
    add('--retries', type=int, default=3, metavar='N', help='of crashes (%(default)s)')
    add(
        '--grace',
        type=int,
        default=120,
        metavar='SECONDS',
        help='to save in (%(default)s)',
    )
    return p


def command() -> None:
    own, words = sweep_command.split(sys.argv[1:])
    flags = parser().parse_args(own)
    check(words, flags.mount)
    made = gke.make_jobset(
        flags.name,
        flags.image,
        flags.shards,
        gke.Slices(
            flags.accelerator, flags.topology, flags.hosts, flags.chips_per_host
        ),
        gke.Volume(flags.claim, flags.mount),
        words,
        retries=flags.retries,
        grace=flags.grace,
    )
    try:
        import yaml
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[cluster]'") from None
    print(yaml.safe_dump(made, sort_keys=False), end='')


def check(words: list[str], mount: str) -> None:
    """Raises UserError for what each pod would refuse, or would lose when it ends."""
    said, _ = sweep_command.checked(words)
    if said.workdir is None or not said.workdir.is_relative_to(mount):
        raise UserError(
            f'--workdir {said.workdir}: must be given, and lie below --mount={mount}'
        )


if __name__ == '__main__':
    cli.run_command(command)
