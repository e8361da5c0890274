"""One command for every figure: what a figure's module says, and how it is drawn.

A figure is one file in one of the ROOMS, with

  TITLE, PAPER, CAPTION   words for the list, the page and the reader
  compute(subject, ...)   numbers: a DataFrame or a Dataset
  draw(result, axes)      fills a grid of axes; computes nothing
  layout                  its panels and size, or a function of the result

The first parameter of `compute` says what the figure is about: a `Run` or its members
(a `DataFrame`, `frame.read_members`) are a whole sweep; a `Member` is one network,
which --AXIS=VALUE and --step choose. A `compute` with **point takes these itself. Its
other parameters are the flags of the command:

    number: Annotated[int, at_least(1), at_most(100_000), 'sequences to patch'] = 1024

A module with `command(words)` instead of these prints a text and reads its own flags.
"""

import argparse
import importlib
import inspect
import pathlib
import types
import typing
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any, NamedTuple, NoReturn

import pandas as pd

from analysis import frame
from analysis.drawing import style
from analysis.members.member import Member, member_of
from analysis.members.point import (
    Point,
    complete_point,
    format_point,
    select_varying,
)
from anchorjax import cli
from anchorjax.config.schema import literal_or_text
from anchorjax.errors import UserError, nearest
from anchorjax.limits import check_value
from anchorjax.storage.reader import Run, open_run

ROOMS = ('p1', 'p2', 'p3', 'p4', 'text_tasks', 'law')
ANALYSIS = pathlib.Path(__file__).parent


class Flag(NamedTuple):
    """A parameter of `compute` that the command line sets."""

    name: str
    hint: Any  # type with bounds
    default: Any
    help: str


def import_claims(paper: str) -> ModuleType:
    """The module of a paper with CLAIMS, INTRODUCTION, GALLERY and `tabulate`.

    GALLERY is the folder of analysis/gallery that has its committed table.
    """
    return importlib.import_module(f'analysis.{paper}.claims')


def find_figures() -> dict[str, ModuleType]:
    """The module of every figure, by name."""
    figures = {}
    for name, path in _list_files().items():
        module = importlib.import_module(path)
        if hasattr(module, 'draw') or hasattr(module, 'command'):
            figures[name] = module
    return figures


def find_figure(name: str) -> ModuleType:
    """The module of one figure; no other is imported, unless to name the nearest.

    Raises:
      UserError: there is none of this name.
    """
    files = _list_files()
    module = importlib.import_module(files[name]) if name in files else None
    if not (hasattr(module, 'draw') or hasattr(module, 'command')):
        hint = nearest(name, find_figures())
        raise UserError(f'no figure {name!r}, {hint}; see --list')
    return module


def _list_files() -> dict[str, str]:
    """Paths for import of the modules in ROOMS, by the names of their files."""
    files = {}
    for room in ROOMS:
        for path in sorted((ANALYSIS / room).glob('[!_.]*.py')):
            files[path.stem] = f'analysis.{room}.{path.stem}'
    return files


def list_figures() -> str:
    """A line for every figure: name, paper, what it needs, title."""
    rows = []
    for name, module in find_figures().items():
        rows.append((name, module.PAPER, name_subject(module), module.TITLE))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append('  '.join(cells).rstrip())
    return '\n'.join(lines)


def name_subject(module: ModuleType) -> str:
    """'sweep', 'member' or 'text': what the figure is about, or that it is none."""
    if hasattr(module, 'command'):
        return 'text'
    return 'member' if _find_subject(module) is Member else 'sweep'


def _find_subject(module: ModuleType) -> type:
    """The type of the first parameter of `compute`."""
    parameter = next(iter(inspect.signature(module.compute).parameters.values()))
    return parameter.annotation


def list_flags(compute: Callable) -> list[Flag]:
    """The parameters after the first, but **point: Annotated[type, bounds, words]."""
    hints = typing.get_type_hints(compute, include_extras=True)
    flags = []
    for parameter in list(inspect.signature(compute).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint = hints[parameter.name]
        is_described = typing.get_origin(hint) is Annotated
        parts = typing.get_args(hint) if is_described else (hint, '')
        kind, *bounds, words = parts
        if typing.get_origin(kind) is types.UnionType:  # int | None
            kind = typing.get_args(kind)[0]
        if bounds:
            kind = Annotated[kind, *bounds]
        flags.append(Flag(parameter.name, kind, parameter.default, words))
    return flags


def parse_flag(flag: Flag, text: str) -> Any:
    """The value of a flag, of its type and in its bounds.

    Raises:
      UserError: it is not.
    """
    value = literal_or_text(text)
    if typing.get_origin(flag.hint) is tuple and not isinstance(value, tuple):
        value = (value,)
    return check_value(value, flag.hint, f'--{flag.name}')


def run_figure(module: ModuleType, words: list[str]) -> None:
    """Computes, draws and saves a figure, as the words of a command line say."""
    if hasattr(module, 'command'):
        module.command(words)
        return
    name = name_module(module)
    flags = list_flags(module.compute)
    arguments, point = _parse_command_line(module, flags, words)
    cli.use_compilation_cache()
    run = open_run(arguments.run)
    options = {}
    for flag in flags:
        text = getattr(arguments, flag.name)
        is_default = text in (None, str(flag.default))  # as --help shows it
        options[flag.name] = flag.default if is_default else parse_flag(flag, text)

    is_member = _find_subject(module) is Member
    if point and not is_member and not _takes_point(module.compute):
        _refuse_point(run, flags, min(point))
    result = compute(module, run, point, **options)

    axes = {axis: value for axis, value in point.items() if axis != 'step'}
    parts = select_varying(run, complete_point(run, axes) if is_member else axes)
    if 'step' in point:
        parts['step'] = point['step']
    for flag in flags:
        if options[flag.name] != flag.default:
            parts[flag.name] = options[flag.name]
    suffix = format_point(parts).replace('/', '.').replace(' ', '')
    folder = arguments.out or run.folder.workdir / 'figures'
    save(module, result, folder / (f'{name}_{suffix}' if suffix else name))


def _refuse_point(run: Run, flags: list[Flag], name: str) -> NoReturn:
    """Raises UserError for --AXIS=VALUE, or a mistyped flag, of a whole sweep."""
    reason = 'this figure shows the whole sweep'
    if name not in (*run.experiment.axes, 'step'):
        known = ('run', 'out', *(flag.name for flag in flags))
        reason = f'no such flag, {nearest(name, known)}'
    raise UserError(f'argument --{name}: {reason}')


def compute(module: ModuleType, run: Run, point: Point, **options: Any) -> Any:
    """The result of a figure of one network, at a point, or of the whole sweep.

    Raises:
      UserError: the network is not trained to its end, and no step is given: that of
        its newest snapshot, which may be 0, would pass for the last.
    """
    subject = _find_subject(module)
    if subject is Member:
        axes = dict(point)
        step = axes.pop('step', 'last')
        member = member_of(run, step, **axes)
        if step == 'last' and member.step < run.experiment.train.num_steps:
            steps = run.steps(**axes)
            raise UserError(
                f'the member is not trained to its end: give --step, one of {steps}'
            )
        return module.compute(member, **options)
    if _takes_point(module.compute):
        return module.compute(run, **options, **point)
    of_sweep = frame.read_members(run) if subject is pd.DataFrame else run
    return module.compute(of_sweep, **options)


def name_module(module: ModuleType) -> str:
    """'phase': the name of a figure."""
    return module.__name__.rpartition('.')[2]


def save(module: ModuleType, result: Any, path: pathlib.Path) -> list[pathlib.Path]:
    """Writes path.png, path.pdf and the numbers behind them; prints the paths."""
    paths = style.write_figure(result, module.draw, module.layout, path)
    print(*paths, sep='\n')
    return paths


def _takes_point(compute: Callable) -> bool:
    """Whether it has **point."""
    kinds = [p.kind for p in inspect.signature(compute).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _parse_command_line(
    module: ModuleType, flags: list[Flag], words: list[str]
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """(--run, --out and the texts of the flags; the point that --AXIS=VALUE give)."""
    epilog = '--AXIS=VALUE ... picks a member, --step=STEP one of its snapshots'
    takes_point = _find_subject(module) is Member or _takes_point(module.compute)
    parser = cli.Parser(
        prog=f'python -m analysis {name_module(module)}',
        description=f'{module.TITLE} ({module.PAPER}).\n\n{module.__doc__}',
        epilog=epilog if takes_point else None,
    )
    parser.add_argument(
        '--run', required=True, type=cli.parse_folder, help='folder of the sweep'
    )
    parser.add_argument(
        '--out', type=cli.parse_folder, help='default: figures/ in that folder'
    )
    for flag in flags:
        text = f'{flag.help} ({flag.default})'.replace('%', '%%')
        parser.add_argument(f'--{flag.name}', help=text)
    arguments, others = parser.parse_known_args(words)
    point = dict(parse_axis(word) for word in others if word != '--step=last')
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
