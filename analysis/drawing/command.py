"""What the command lines of all figures share: --run, --out, --step, --AXIS=VALUE."""

import argparse
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis.drawing import style
from analysis.members.member import member_of
from analysis.members.point import format_point, select_varying
from anchorjax import cli
from anchorjax.config.schema import literal_or_text
from anchorjax.errors import UserError, brief
from anchorjax.storage.reader import Run, open_run

MOST = 100_000  # of a count on the command line

Layout = style.Layout | Callable[[Any], style.Layout]
# (run, the figure's flags, point) -> (result, the point that the file names contain).
Look = Callable[[Run, dict[str, Any], dict[str, Any]], tuple[Any, dict[str, Any]]]


class Flag(NamedTuple):
    """An option of a figure's `compute`."""

    parse: Callable[[str], Any]
    default: Any
    help: str


def run_member_figure(
    doc: str,
    name: str,
    compute: Callable,
    draw: Callable,
    layout: Layout,
    **flags: Flag,
) -> None:
    """Draws a figure of one member: compute(member, **flags), draw(result, axes)."""

    def look(run: Run, options: dict, point: dict) -> tuple[Any, dict]:
        axes = dict(point)
        member = member_of(run, axes.pop('step', 'last'), **axes)
        return compute(member, **options), member.point

    _run_figure(doc, name, look, draw, layout, flags)


def run_sweep_figure(
    doc: str,
    name: str,
    compute: Callable,
    draw: Callable,
    layout: Layout,
    **flags: Flag,
) -> None:
    """Draws a figure of a whole sweep: compute(run, **flags), draw(result, axes)."""

    def look(run: Run, options: dict, point: dict) -> tuple[Any, dict]:
        if point:
            line = f'argument --{min(point)}: this figure shows the whole sweep'
            raise UserError(line)
        return compute(run, **options), {}

    _run_figure(doc, name, look, draw, layout, flags)


def run_point_figure(
    doc: str,
    name: str,
    compute: Callable,
    draw: Callable,
    layout: Layout,
    **flags: Flag,
) -> None:
    """Draws a figure of a sweep at a point: compute(run, **flags, **point), draw(...).

    The point holds the axes that the command line gives, and `step` if it gives one.
    """

    def look(run: Run, options: dict, point: dict) -> tuple[Any, dict]:
        return compute(run, **options, **point), point

    _run_figure(doc, name, look, draw, layout, flags)


def save_figure(
    result: Any, draw: Callable, layout: Layout, folder: pathlib.Path, name: str
) -> list[pathlib.Path]:
    """Writes name.png, name.pdf and name.npz, the numbers; prints the paths."""
    paths = style.write_figure(result, draw, layout, folder / name)
    print(*paths, sep='\n')
    return paths


def parse_truth(text: str) -> bool:
    """'true' or 'false', for Flag.parse."""
    if text not in ('true', 'false'):
        line = f'{brief(text)!r}: must be true or false'
        raise argparse.ArgumentTypeError(line)
    return text == 'true'


def parse_count(text: str) -> int:
    """A whole number, for Flag.parse: larger counts end in memory or never."""
    if not (text.isascii() and text.isdigit() and int(text) <= MOST):
        line = f'{brief(text)!r}: must be a whole number, at most {MOST:,}'
        raise argparse.ArgumentTypeError(line)
    return int(text)


def parse_numbers(text: str) -> tuple[int, ...]:
    """'1,2,3' -> (1, 2, 3), for Flag.parse."""
    return parse_sequence(text, int, 'whole numbers with commas, as in 1,2,3')


def parse_sequence(text: str, kind: type, allowed: str) -> tuple:
    """The values of one kind in a text with commas; the error says what is allowed."""
    try:
        return tuple(map(kind, text.split(',')))
    except ValueError:
        line = f'{brief(text)!r}: must be {allowed}'
        raise argparse.ArgumentTypeError(line) from None


def _run_figure(
    doc: str,
    name: str,
    look: Look,
    draw: Callable,
    layout: Layout,
    flags: dict[str, Flag],
) -> None:
    def command() -> None:
        arguments, point = _parse_command_line(doc, flags)
        cli.use_compilation_cache()
        run = open_run(arguments.run)
        folder = arguments.out or run.folder.workdir / 'figures'
        options = {flag: getattr(arguments, flag) for flag in flags}
        result, where = look(run, options, point)

        parts = select_varying(run, where)
        if 'step' in point:
            parts['step'] = point['step']
        for flag, value in options.items():
            if value != flags[flag].default:
                parts[flag] = value
        suffix = format_point(parts).replace('/', '.').replace(' ', '')
        file_name = f'{name}_{suffix}' if suffix else name
        save_figure(result, draw, layout, folder, file_name)

    cli.run_command(command)


def _parse_command_line(
    doc: str, flags: dict[str, Flag]
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """(the figure's flags, the point): other --AXIS=VALUE are parts of the point."""
    parser = cli.Parser(
        description=doc,
        epilog='--AXIS=VALUE ... picks a member, --step=STEP one of its snapshots',
    )
    parser.add_argument(
        '--run', required=True, type=cli.parse_folder, help='folder of the sweep'
    )
    parser.add_argument(
        '--out', type=cli.parse_folder, help='default: figures/ in that folder'
    )
    for name, flag in flags.items():
        parser.add_argument(
            f'--{name}', type=flag.parse, default=flag.default, help=flag.help
        )
    arguments, words = parser.parse_known_args()
    point = {}
    for word in words:
        if word != '--step=last':
            axis, value = parse_axis(word)
            point[axis] = value
    return arguments, point


def parse_axis(word: str) -> tuple[str, Any]:
    """(axis, value) of '--AXIS=VALUE'; a value that is not a Python literal is text.

    Raises:
      UserError: the word is not like that, or it gives a step that cannot be one.
    """
    axis, _, text = word.removeprefix('--').partition('=')
    if not (word.startswith('--') and text):
        raise UserError(f'cannot read {word!r}: give --AXIS=VALUE (see --help)')
    value = literal_or_text(text)
    # Python takes True for the integer 1.
    if axis == 'step' and value != 'last' and type(value) is not int:
        raise UserError(f'--step={text}: must be a snapshot step or last')
    return axis, value
