"""Prepares a data set: python launch/data.py scan --out data/scan

By our own rules (--source own, the default), from the public files (--source public,
on a machine with internet), or from a local copy of these (--source PATH). Says what is
written, how large it is and under which licence, and checks every row. The same command
again continues, and keeps what is there. Exit code 2: a file is missing, truncated or
another one.
"""

import pathlib
import sys
from typing import get_args

from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.sources.catalog import SOURCES
from anchorjax.sources.prepare import OWN, PUBLIC, describe, prepare
from anchorjax.sweeps.memory import format_bytes
from anchorjax.tasks import ProntoqaConfig
from anchorjax.tasks.prontoqa.worlds import Distractor, Ontology, Order


def make_parser() -> cli.Parser:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add('name', choices=tuple(SOURCES))
    add('--out', type=pathlib.Path, required=True, help='folder of the prepared files')
    text = (
        "'own' (our rules), 'public', or the path of a local copy of the public files"
    )
    add('--source', default=OWN, help=text)
    add('--seed', type=int, default=0, help='of what own rules draw: cogs, prontoqa')
    text = 'prontoqa by own rules: number of questions'
    add('--number', type=int, default=20_500, help=text)
    add('--hops', type=int, default=5, help='prontoqa by own rules: 1 to 5')
    add('--ontology', default='fictional', choices=get_args(Ontology))
    add('--order', default='postorder', choices=get_args(Order))
    add('--distractor', default='original', choices=get_args(Distractor))
    return parser


def report(name: str, done: int, total: int) -> None:
    """Shows how much of a file is downloaded."""
    line = f'\r  {name}: {format_bytes(done)}'
    if total:
        line += f' of {format_bytes(total)}'
    if done >= total > 0:
        line += '\n'
    print(line, end='', file=sys.stderr, flush=True)


def command() -> None:
    flags = make_parser().parse_args()
    if flags.number < 2:
        raise UserError(f'--number {flags.number}: must be at least 2')
    questions = ProntoqaConfig(
        hops=flags.hops,
        ontology=flags.ontology,
        order=flags.order,
        distractor=flags.distractor,
        num_examples=flags.number - 1,
        probe_examples=1,
        pool_seed=flags.seed,
    )
    source = SOURCES[flags.name]
    print(describe(flags.name, flags.source, questions))
    print(f'licence: {source.licence}', flush=True)
    if flags.source == PUBLIC:
        size = sum(file.size for file in source.files)
        print(f'{len(source.files)} files, {format_bytes(size)}', flush=True)
    total = 0
    for file in prepare(flags.name, flags.out, flags.source, questions, report):
        size = format_bytes(file.size)
        state = 'written' if file.is_new else 'there already'
        print(f'  {file.name}: {file.rows:,} rows, {size}, {state}', flush=True)
        total += file.size
    print(f'{flags.out}: {format_bytes(total)}')


if __name__ == '__main__':
    cli.run_command(command)
