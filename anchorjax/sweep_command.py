"""The words of launch/sweep.py: read by itself, and by whoever places many of it."""

import pathlib

from anchorjax import cli, config
from anchorjax.errors import UserError

# What the engine that places a job says for it.
_OF_ENGINES = ('shard', 'distributed', 'coordinator', 'processes', 'process', 'dry_run')


def parser(**about) -> cli.Parser:
    """Every flag but --config and its like, which `cli.parse` adds."""
    p = cli.Parser(epilog='--config.x.y=z sets a field', **about)
    add = p.add_argument
    add('--workdir', type=pathlib.Path, help='default: runs/<config name>')
    add(
        '--dry_run',
        action='store_true',
        help='print the plan, memory measured, and stop',
    )
    add('--shard', default='0/1', metavar='I/N', help='part I (from 0) of N')
    add(
        '--allow_numerics_change',
        action='store_true',
        help='go on with other bits (recorded)',
    )
    add(
        '--device_memory',
        type=cli.parse_gibibytes,
        metavar='GIB',
        help='what a device may use',
    )
    add(
        '--distributed',
        action='store_true',
        help='several hosts as one program; JAX finds them',
    )
    add(
        '--coordinator',
        metavar='HOST:PORT',
        help='of process 0, when JAX cannot find it',
    )
    add('--processes', type=int, metavar='N', help='with --coordinator')
    add('--process', type=int, metavar='I', help='with --coordinator: this one, from 0')
    return p


def workdir(given: pathlib.Path | None, experiment: config.Experiment) -> pathlib.Path:
    """Where a sweep lies when nothing else is said."""
    return given or pathlib.Path('runs') / experiment.name


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """(words before --, words after it)."""
    at = words.index('--') if '--' in words else len(words)
    return words[:at], words[at + 1 :]


def checked(words: list[str]):
    """(flags, experiment) of words that every job will get, read once before all refuse them.

    Raises:
      UserError: launch/sweep.py would refuse them, or they are the engine's to say.
    """
    plain = parser()
    flags, experiment = cli.parse_command_line(plain, words)
    for name in _OF_ENGINES:
        if getattr(flags, name) != plain.get_default(name):
            raise UserError(
                f'--{name} after --: each job gets its own from this command'
            )
    return flags, experiment
