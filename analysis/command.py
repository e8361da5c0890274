"""What the command lines of the figures share: --run, --step, --AXIS=VALUE, and where files go."""

import argparse
import ast
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis import style
from analysis.member import label, member_of, varying
from anchorjax import cli, store
from anchorjax.errors import UserError


class Flag(NamedTuple):
    """An option of a figure's `compute`."""

    parse: Callable[[str], Any]
    default: Any
    help: str


def member(doc: str, name: str, compute, draw, layout: style.Layout, **flags: Flag) -> None:
    """Draws a figure of one member: compute(member, **flags), draw(result, axes)."""

    def command():
        given, point = parse(doc, flags, epilog='--AXIS=VALUE ... picks the member')
        run = store.open(given.run)
        step = given.step if given.step == 'last' else int(given.step)
        found = member_of(run, step, **point)
        result = compute(found, **options(given, flags))
        where = varying(run, found.point) | ({} if step == 'last' else {'step': step})
        save(result, draw, layout, folder(given, run), named(name, where, given, flags))

    cli.main(command)


def sweep(doc: str, name: str, compute, draw, layout, **flags: Flag) -> None:
    """Draws a figure of a whole sweep: compute(run, **flags), draw(result, axes).

    `layout` may be a function of the result.
    """

    def command():
        given, point = parse(doc, flags)
        if point or given.step != 'last':
            unknown = next(iter(point), 'step')
            raise UserError(f'argument --{unknown}: this figure shows the whole sweep (see --help)')
        run = store.open(given.run)
        result = compute(run, **options(given, flags))
        save(result, draw, layout, folder(given, run), named(name, {}, given, flags))

    cli.main(command)


def parse(doc: str, flags: dict[str, Flag], epilog: str = '') -> tuple[argparse.Namespace, dict]:
    """(the figure's flags, the point): every other --AXIS=VALUE is part of the point."""
    parser = cli.Parser(description=doc.splitlines()[0], epilog=epilog)
    parser.add_argument('--run', required=True, type=pathlib.Path, help='folder of the sweep')
    parser.add_argument('--out', type=pathlib.Path, help='default: figures/ in that folder')
    parser.add_argument('--step', default='last', help='a snapshot step, or last')
    for name, flag in flags.items():
        parser.add_argument(f'--{name}', type=flag.parse, default=flag.default, help=flag.help)
    given, rest = parser.parse_known_args()
    if given.step != 'last' and not given.step.isdigit():
        raise UserError(f'--step={given.step}: must be a step or last')
    return given, dict(_axis(word) for word in rest)


def options(given: argparse.Namespace, flags: dict[str, Flag]) -> dict[str, Any]:
    """The flags as arguments of `compute`."""
    return {flag: getattr(given, flag) for flag in flags}


def named(name: str, where: dict, given: argparse.Namespace, flags: dict[str, Flag]) -> str:
    """File name of a figure: what it shows, where, and every flag that is not its default."""
    chosen = {f: v for f, v in options(given, flags).items() if v != flags[f].default}
    words = label(where | chosen).replace('/', '.').replace(' ', '')
    return f'{name}_{words}' if words else name


def numbers(text: str) -> tuple[int, ...]:
    """'1,2,3' -> (1, 2, 3), for Flag.parse."""
    return tuple(int(word) for word in text.split(','))


def folder(given: argparse.Namespace, run: store.Run) -> pathlib.Path:
    return given.out or run.sweep_dir.workdir / 'figures'


def save(result, draw, layout, where: pathlib.Path, name: str) -> list[pathlib.Path]:
    """Writes name.png, name.pdf and the numbers behind them, name.npz; prints the paths."""
    paths = style.drawn(result, draw, layout, where / name)
    paths.append(style.save_arrays(result, where / name))
    print(*paths, sep='\n')
    return paths


def _axis(word: str) -> tuple[str, Any]:
    name, equals, value = word.removeprefix('--').partition('=')
    try:
        if not (word.startswith('--') and equals):
            raise ValueError
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise UserError(f'cannot read {word!r}: give --AXIS=VALUE (see --help)') from None
