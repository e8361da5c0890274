"""Prints a JobSet that trains a sweep on TPUs on GKE: python launch/jobset.py ...

  python launch/jobset.py --name=phase --image=REGISTRY/anchorjax --shards=4 \\
      --accelerator=tpu-v5-lite-podslice --topology=2x4 --hosts=2 --chips_per_host=4 \\
      --claim=runs -- --config configs/phase.py --workdir /runs/phase \\
      | kubectl apply -f -

The words after -- are those of launch/sweep.py. The config is read here too, so that a
bad one is refused before anything starts. The file system of the claim must have atomic
rename and locks (Filestore or another NFS, not a bucket); --workdir must be on it.

Training was compiled for a v5e, not run on one (tests/training/test_tpu.py).
"""

import argparse
import json
import math
import pathlib
import re
import string
import sys

from anchorjax import cli
from anchorjax.errors import UserError, require
from anchorjax.sweeps.shards import MOST_SHARDS

_TEMPLATE = pathlib.Path(__file__).with_suffix('.yaml')


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
    check_flags(flags)
    check_workdir(words, flags.mount)
    print(make_jobset(flags, words), end='')


def make_jobset(flags: argparse.Namespace, words: list[str]) -> str:
    """The JobSet as YAML."""
    values = vars(flags) | {
        'arguments': make_arguments(flags, words),
        'chips_per_host': str(flags.chips_per_host),  # a quantity is a text
        'retries_of_one_host': flags.retries if flags.hosts == 1 else 0,
    }
    # JSON is YAML, and quotes what has to be quoted.
    written = {}
    for name, value in values.items():
        written[name] = json.dumps(value, ensure_ascii=False)
    return string.Template(_TEMPLATE.read_text()).substitute(written)


def make_arguments(flags: argparse.Namespace, words: list[str]) -> list[str]:
    """The command; Kubernetes replaces $(SHARD) by the index of the pod's Job.

    It reads $$ as $, so doubling every $ protects what a user wrote. No shell reads the
    words: `env` starts the command.
    """
    escaped = [word.replace('$', '$$') for word in words]
    arguments = ['python', '-u', 'launch/sweep.py', *escaped]
    arguments.append(f'--shard=$(SHARD)/{flags.shards}')
    if flags.hosts > 1:
        arguments.append('--distributed')
    return arguments


def check_flags(flags: argparse.Namespace) -> None:
    """Raises ConfigError for what Kubernetes would accept or report only much later.

    Kubernetes checks labels and counts itself. The longest name that it derives from
    that of the JobSet is a pod's host name, NAME-shard-99999-99999, of 63 characters.
    """
    is_name = re.fullmatch('[a-z]([-a-z0-9]{0,43}[a-z0-9])?', flags.name)
    allowed = "a letter, then at most 44 of a-z, 0-9 and '-', not '-' at the end"
    require(bool(is_name), '--name', flags.name, allowed)
    is_grid = re.fullmatch('[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){1,2}', flags.topology)
    require(bool(is_grid), '--topology', flags.topology, 'as 2x4 or 4x4x4')
    chips = math.prod(int(side) for side in flags.topology.split('x'))
    require(flags.hosts > 0, '--hosts', flags.hosts, 'positive')
    given = flags.hosts * flags.chips_per_host
    allowed = f'{chips}, the number of chips in --topology'
    require(given == chips, '--hosts * --chips_per_host', given, allowed)
    allowed = f'from 1 to {MOST_SHARDS}'
    require(0 < flags.shards <= MOST_SHARDS, '--shards', flags.shards, allowed)


def check_workdir(words: list[str], mount: str) -> None:
    """Raises UserError if pods would refuse the words, or lose their folder."""
    sweep_flags, _ = cli.check_job_words(words)
    workdir = pathlib.PurePosixPath(sweep_flags.workdir or '')  # in the pods, not here
    is_inside = workdir.is_relative_to(mount) and '..' not in workdir.parts
    if not is_inside or not mount.startswith('/') or mount == '/':
        raise UserError(
            f'--workdir {workdir}: must be given, and be inside --mount={mount}, '
            'an absolute path other than /, which would hide the image'
        )


if __name__ == '__main__':
    cli.run_command(command)
