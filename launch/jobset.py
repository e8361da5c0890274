"""Prints a JobSet that trains a sweep on TPUs on GKE: python launch/jobset.py ...

  python launch/jobset.py --name=phase --image=REGISTRY/anchorjax --shards=4 \\
      --accelerator=tpu-v5-lite-podslice --topology=2x4 --hosts=2 --chips_per_host=4 \\
      --claim=runs -- --config configs/phase.py --workdir /runs/phase \\
      | kubectl apply -f -

The words after -- are those of launch/sweep.py. The config is read here too, so that a
bad one is refused before anything starts. The file system of the claim must have atomic
rename and locks (Filestore or another NFS, not a bucket); --workdir must be on it.
"""

import pathlib
import posixpath
import sys

from anchorjax import cli
from anchorjax.cluster import gke
from anchorjax.errors import UserError


def make_parser() -> cli.Parser:
    parser = cli.Parser(
        usage='%(prog)s --name=.. [flags] -- words of sweep.py',
        description=__doc__,
    )
    add = parser.add_argument
    number = {'type': int, 'metavar': 'N'}
    add('--name', required=True, help='name of the JobSet')
    add('--image', required=True, help='with this repository as working directory')
    add('--shards', required=True, help='parts of the sweep, each on a slice', **number)
    text = 'type of TPU, e.g. tpu-v5-lite-podslice'
    add('--accelerator', required=True, metavar='LABEL', help=text)
    text = 'chips of a slice, e.g. 2x4 or 4x4x4'
    add('--topology', required=True, metavar='AxB', help=text)
    add('--hosts', default=1, help='hosts of a slice (%(default)s)', **number)
    add('--chips_per_host', required=True, **number)
    add('--claim', required=True, metavar='PVC', help='NFS that many pods may write to')
    add('--mount', default='/runs', help='where the claim is mounted (%(default)s)')
    text = 'how often a shard that crashes is tried again (%(default)s)'
    add('--retries', default=3, help=text, **number)
    text = 'time for saving when a pod is stopped (%(default)s)'
    add('--grace', type=int, default=120, metavar='SECONDS', help=text)
    return parser


def command() -> None:
    own_words, words = cli.split_words(sys.argv[1:])
    flags = make_parser().parse_args(own_words)
    volume = gke.Volume(flags.claim, flags.mount)
    gke.check_volume(volume)
    check_workdir(words, flags.mount)
    slices = gke.Slices(
        flags.accelerator, flags.topology, flags.hosts, flags.chips_per_host
    )
    jobset = gke.make_jobset(
        flags.name,
        flags.image,
        flags.shards,
        slices,
        volume,
        words,
        retries=flags.retries,
        grace=flags.grace,
    )
    try:
        import yaml
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[cluster]'") from None
    print(yaml.safe_dump(jobset, sort_keys=False), end='')


def check_workdir(words: list[str], mount: str) -> None:
    """Raises UserError if pods would refuse the words, or lose their folder."""
    sweep_flags, _ = cli.check_job_words(words)
    workdir = sweep_flags.workdir
    # Without '..', which could lead out again. It is a path of the pods, not of here.
    inside = pathlib.PurePosixPath(posixpath.normpath(workdir or ''))
    if workdir is None or not inside.is_relative_to(mount):
        raise UserError(
            f'--workdir {workdir}: must be given, and be inside --mount={mount}'
        )


if __name__ == '__main__':
    cli.run_command(command)
