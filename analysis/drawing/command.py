"""What the command lines of the figures share: --run, --step, --AXIS=VALUE, and where files go."""

import argparse
import ast
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis.drawing import style
from analysis.members.member import label, member_of, varying
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run


class Flag(NamedTuple):
    """An option of a figure's `compute`."""

    parse: Callable[[str], Any]
    default: Any
    help: str


def member(doc: str, name: str, compute, draw, layout, **flags: Flag) -> None:
    """Draws a figure of one member: compute(member, **flags), draw(result, axes).

    `layout` is a style.Layout, or a function of the result that gives one.
    """

    def look(run, options, point):
        found = member_of(run, point.pop('step', 'last'), **point)
        return compute(found, **options), found.point

    _figure(doc, name, look, draw, layout, flags)


def sweep(doc: str, name: str, compute, draw, layout, **flags: Flag) -> None:
    """Draws a figure of a whole sweep: compute(run, **flags)."""

    def look(run, options, point):
        if point:
            raise UserError(
                f'argument --{min(point)}: this figure shows the whole sweep'
            )
        return compute(run, **options), {}

    _figure(doc, name, look, draw, layout, flags)


def at(doc: str, name: str, compute, draw, layout, **flags: Flag) -> None:
    """Draws a figure of a sweep at some values of its axes: compute(run, **flags, **point).

    The point has a `step` where one was asked for.
    """
    look = lambda run, options, point: (compute(run, **options, **point), point)
    _figure(doc, name, look, draw, layout, flags)


def _figure(doc: str, name: str, look, draw, layout, flags: dict[str, Flag]) -> None:
    """look(run, options, point) -> (result, the point that names the files)."""

    def command():
        given, point = parse(doc, flags)
        cli.use_compilation_cache()
        run, options = (
            open_run(given.run),
            {flag: getattr(given, flag) for flag in flags},
        )
        step = {'step': point['step']} if 'step' in point else {}
        result, where = look(run, options, dict(point))
        unusual = {f: v for f, v in options.items() if v != flags[f].default}
        words = (
            label(varying(run, where) | step | unusual)
            .replace('/', '.')
            .replace(' ', '')
        )
        folder = given.out or run.sweep_dir.workdir / 'figures'
        save(result, draw, layout, folder, f'{name}_{words}' if words else name)

    cli.run_command(command)


def parse(
    doc: str, flags: dict[str, Flag]
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """(the figure's flags, the point): every other --AXIS=VALUE is part of the point."""
    epilog = '--AXIS=VALUE ... picks a member, --step=STEP one of its snapshots'
    parser = cli.Parser(description=doc.splitlines()[0], epilog=epilog)
    parser.add_argument(
        '--run', required=True, type=pathlib.Path, help='folder of the sweep'
    )
    parser.add_argument(
        '--out', type=pathlib.Path, help='default: figures/ in that folder'
    )
    for name, flag in flags.items():
        parser.add_argument(
            f'--{name}', type=flag.parse, default=flag.default, help=flag.help
        )
    given, rest = parser.parse_known_args()
    point = dict(_axis(word) for word in rest if word != '--step=last')
    if not isinstance(point.get('step', 0), int):
        raise UserError(f'--step={point["step"]}: must be a snapshot step or last')
    return given, point


def truth(text: str) -> bool:
    """'true' or 'false', for Flag.parse."""
    if text not in ('true', 'false'):
        raise ValueError(text)  # argparse names the flag
    return text == 'true'


def numbers(text: str) -> tuple[int, ...]:
    """'1,2,3' -> (1, 2, 3), for Flag.parse."""
    return tuple(int(word) for word in text.split(','))


def save(result, draw, layout, where: pathlib.Path, name: str) -> list[pathlib.Path]:
    """Writes name.png, name.pdf and the numbers behind them, name.npz; prints the paths."""
    paths = style.written(result, draw, layout, where / name)
    print(*paths, sep='\n')
    return paths


def _axis(word: str) -> tuple[str, Any]:
    name, equals, value = word.removeprefix('--').partition('=')
    try:
        if not (word.startswith('--') and equals):
            raise ValueError
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise UserError(
            f'cannot read {word!r}: give --AXIS=VALUE (see --help)'
        ) from None
