"""One command for every figure: what a figure's module says, and how it is drawn.

A figure is one file in the package of a paper (`analysis.papers`), with

  TITLE, PAPER, CAPTION   words for the list, the page and the reader
  compute(subject, ...)   numbers: a DataFrame or a Dataset
  draw(result, axes)      fills a grid of axes; computes nothing
  layout                  its panels and size, or a function of the result
  COMPARES                the axes of which one must vary, where it compares

The first parameter of `compute` says what the figure is about: a `Run` or its members
(a `DataFrame`, `frame.read_members`) are a whole sweep; a `Network` is one network,
which --AXIS=VALUE and --step choose, or else the most composed one. A `compute` with
**point takes these itself: they fix axes of a sweep (`frame.fix_axes`); with **network
they name one network. Above every figure stands which run and networks it shows; what
a figure fixes itself it names in attrs['selection']. Its other parameters are the flags
of the command:

    number: Annotated[int, at_least(1), at_most(100_000), 'sequences to patch'] = 1024

A module with `command(words)` reads its own flags: of several sweeps, or it prints a
text.

A figure of one's own needs no place there: --figures FOLDER finds it, or in a package
that Python can import.
"""

import argparse
import functools
import importlib.util
import inspect
import pathlib
import sys
import types
import typing
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, NamedTuple, NoReturn

import pandas as pd
import xarray as xr

from analysis import frame, papers
from analysis.drawing import grids, style
from analysis.members.point import (
    Point,
    format_point,
    list_points,
    select_varying,
)
from analysis.members.selection import rank_towards
from analysis.names import name_axis, name_network, name_value
from anchorjax import cli
from anchorjax.config.schema import literal_or_text
from anchorjax.errors import UserError, describe_cause, nearest
from anchorjax.limits import check_value
from anchorjax.network import Network
from anchorjax.storage.reader import Run, open_run

# Words by which others look for a figure.
SYNONYMS = {
    'pca': ('embedding', 'embedding_grid', 'embedding_pca'),
    'umap': ('tsne',),
    'heatmap': ('phase', 'cosine', 'decay_map'),
    'attention': ('attention_flow', 'first_attention'),
    'loss': ('curves',),
    'losscurve': ('curves',),
    'learningcurve': ('curves',),
    'spectrum': ('eigenvalues',),
    'svd': ('eigenvalues',),
    'ablation': ('causal',),
    'patching': ('causal',),
    'ntk': ('lazy',),
    'similarity': ('cosine',),
}


class Flag(NamedTuple):
    """A parameter of `compute` that the command line sets."""

    name: str
    hint: Any  # type with bounds
    default: Any
    help: str


def find_figures() -> dict[str, ModuleType]:
    """The module of every figure, by name."""
    modules = {}
    for name, path in _list_files().items():
        module = importlib.import_module(path)
        if _is_figure(module):
            modules |= _add_grid(name, module)
    return modules


def _add_grid(name: str, module: ModuleType) -> dict[str, ModuleType]:
    """A figure, and the same of every network of a sweep if it can be drawn small."""
    if not hasattr(module, 'GRID_PAPER'):
        return {name: module}
    return {name: module, f'{name}{grids.SUFFIX}': grids.repeat(module)}


def find_figure(name: str) -> ModuleType:
    """The module of one figure; no other is imported, unless to name the nearest.

    Raises:
      UserError: there is none of this name; the line names those that are meant.
    """
    files = _list_files()
    file = files.get(name) or files.get(name.removesuffix(grids.SUFFIX))
    module = importlib.import_module(file) if file else None
    if module is not None and name not in files:
        module = _add_grid(name_module(module), module).get(name)
    if module is None or not _is_figure(module):
        word = name.lower().replace('-', '').replace('_', '')
        if word in SYNONYMS:
            hint = f'did you mean {" or ".join(SYNONYMS[word])}?'
        else:
            hint = nearest(word, find_figures())
        raise UserError(f'no figure {name!r}, {hint}; see --list')
    return module


def import_figures(where: pathlib.Path) -> dict[str, ModuleType]:
    """Figures of one's own, by name: of a folder, a file, or a package by its path.

    Raises:
      UserError: there is none, or one lacks what every figure has.
    """
    if where.is_dir():
        paths = sorted(where.glob('[!_.]*.py'))
    elif where.is_file():
        paths = [where]
    else:
        paths = _list_package(str(where))
    figures = {}
    for path in paths:
        sys.path.append(str(path.parent.absolute()))  # what it imports beside it
        spec = importlib.util.spec_from_file_location(f'own.{path.stem}', path)
        if spec is None or spec.loader is None:
            raise UserError(f'--figures {where}: {path.name} is no file of Python')
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as e:  # the file is Python and may raise anything
            raise UserError(f'--figures {path}: {describe_cause(e)}') from e
        if _is_figure(module):
            _require_complete(module, path)
            figures |= _add_grid(path.stem, module)
    if not figures:
        raise UserError(f'--figures {where}: has no figure, a file with `draw`')
    return figures


def _list_package(name: str) -> list[pathlib.Path]:
    """The files of a package, or the file of a module, without importing them."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a parent is missing, or it is no name
        spec = None
    if spec is None:
        raise UserError(f'--figures {name}: no such folder, and no such package')
    if spec.submodule_search_locations is None:
        return [pathlib.Path(spec.origin)] if spec.origin else []
    folders = map(pathlib.Path, spec.submodule_search_locations)
    return sorted(path for folder in folders for path in folder.glob('[!_.]*.py'))


def _is_figure(module: ModuleType) -> bool:
    return hasattr(module, 'draw') or hasattr(module, 'command')


def _require_complete(module: ModuleType, path: pathlib.Path) -> None:
    needed = ['TITLE', 'PAPER', 'CAPTION']
    if not hasattr(module, 'command'):
        needed += ['compute', 'layout']
    missing = [name for name in needed if not hasattr(module, name)]
    if missing:
        raise UserError(f'--figures {path}: has no {", ".join(missing)}')
    if not hasattr(module, 'command'):
        _require_parameters(module.compute, path)
        vars(module)['compute'] = _require_table(module.compute, path)


def _require_parameters(compute: Callable, path: pathlib.Path) -> None:
    """Raises UserError unless what a figure is about, and its flags, have types."""
    try:
        hints = typing.get_type_hints(compute)
    except Exception as e:  # of an annotation that is text
        line = f'--figures {path}: types of compute: {describe_cause(e)}'
        raise UserError(line) from e
    names = _list_parameters(compute)
    if not names:
        raise UserError(f'--figures {path}: compute takes no Run, DataFrame or Network')
    where = f'--figures {path}: the parameter'
    parameters = inspect.signature(compute).parameters
    for name in names:
        # An untyped `run` is the Run.
        if name not in hints and name != 'run':
            kind = 'Run, DataFrame or Network' if name == names[0] else 'that of a flag'
            raise UserError(f'{where} {name!r} of compute has no type: {kind}')
        if name in ('run', 'out', 'help') and name != names[0]:
            raise UserError(f'{where} {name!r} of compute: every figure has this flag')
        if parameters[name].default is inspect.Parameter.empty and name != names[0]:
            raise UserError(f'{where} {name!r} of compute has no default')


def _require_table(compute: Callable, path: pathlib.Path) -> Callable:
    @functools.wraps(compute)
    def check(*args: Any, **options: Any) -> pd.DataFrame | xr.Dataset:
        result = compute(*args, **options)
        if not isinstance(result, pd.DataFrame | xr.Dataset):
            kind = type(result).__name__
            allowed = 'a DataFrame or a Dataset'
            raise UserError(f'--figures {path}: compute gives {kind}, not {allowed}')
        return result

    return check


def _list_files() -> dict[str, str]:
    """Paths for import of the modules of all papers, by the names of their files."""
    files = {}
    for package in papers.NAMES:
        for path in sorted((papers.ANALYSIS / package).glob('[!_.]*.py')):
            files[path.stem] = f'analysis.{package}.{path.stem}'
    return files


def list_figures(own: Mapping[str, ModuleType]) -> str:
    """A line for every figure: name, paper, what it needs, title; one's own first."""
    rows = []
    for name, module in {**own, **find_figures(), **own}.items():
        rows.append((name, module.PAPER, name_subject(module), module.TITLE))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append('  '.join(cells).rstrip())
    return '\n'.join(lines)


def name_subject(module: ModuleType) -> str:
    """'sweep', 'sweeps' or 'network': what the figure is about; 'text': it is none."""
    if hasattr(module, 'command') and hasattr(module, 'draw'):
        return 'sweeps'
    if hasattr(module, 'command'):
        return 'text'
    return 'network' if _is_of_network(module) else 'sweep'


def _is_of_network(module: ModuleType) -> bool:
    """Whether the figure is about one network of a sweep."""
    return _find_subject(module) is Network or _find_rest(module.compute) == 'network'


def _find_subject(module: ModuleType) -> type:
    """The type of the first parameter of `compute`."""
    hints = typing.get_type_hints(module.compute)
    return hints.get(_list_parameters(module.compute)[0], Run)


def _list_parameters(compute: Callable) -> list[str]:
    """Their names, but that of **point."""
    parameters = inspect.signature(compute).parameters.values()
    return [part.name for part in parameters if part.kind is not part.VAR_KEYWORD]


def list_flags(compute: Callable) -> list[Flag]:
    """The parameters after the first, but **point: Annotated[type, bounds, words]."""
    hints = typing.get_type_hints(compute, include_extras=True)
    flags = []
    for name in _list_parameters(compute)[1:]:
        parameter = inspect.signature(compute).parameters[name]
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

    if point and not _takes_point(module):
        _refuse_point(run, flags, min(point))
    axes = {axis: value for axis, value in point.items() if axis != 'step'}
    chosen = ''
    if _is_of_network(module):
        axes, chosen = choose_network(run, axes)
        point |= axes
    result = compute(module, run, point, **options)
    if chosen:
        result.attrs['about'] += f' ({chosen})'
        print(f'{name}: {result.attrs["about"]}', file=sys.stderr)

    parts = {**select_varying(run, axes)}
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

    Its attribute `about`, which stands above the figure, says of which run and networks
    it is, and which flags were set.

    Raises:
      UserError: the network is not trained to its end, and no step is given: that of
        its newest snapshot, which may be 0, would pass for the last.
    """
    result, words = _compute(module, run, point, options)
    for flag in list_flags(module.compute):
        value = options.get(flag.name, flag.default)
        if value != flag.default:
            words.append(f'{name_axis(flag.name)} {value}')
    name = run.folder.workdir.resolve().name
    about = ', '.join(filter(None, words))
    result.attrs['about'] = f'{name}: {about}'
    return result


def _compute(
    module: ModuleType, run: Run, point: Point, options: dict[str, Any]
) -> tuple[Any, list[str]]:
    """The result, and which networks of the run it is about."""
    subject = _find_subject(module)
    if subject is Network:
        axes = dict(point)
        step = axes.pop('step', 'last')
        member = run.network(step, **axes)
        if step == 'last' and member.step < run.experiment.train.num_steps:
            steps = run.steps(**axes)
            raise UserError(
                f'the member is not trained to its end: give --step, one of {steps}'
            )
        words = _name_network(run, member.point, f'step {member.step}')
        return module.compute(member, **options), [words]
    if _is_of_network(module):
        result = module.compute(run, **options, **point)
        steps = f'to step {run.curves.step.values[-1]}'
        return result, [_name_network(run, run.complete_point(point), steps)]
    if _takes_point(module):
        result = module.compute(run, **options, **point)
    else:
        of_sweep = frame.read_members(run) if subject is pd.DataFrame else run
        result = module.compute(of_sweep, **options)
    selection = result.attrs.pop('selection', '')
    return result, [selection or _count_networks(run)]


def _count_networks(run: Run) -> str:
    """'18 networks', '12 of 18 networks'."""
    usable, total = len(frame.find_usable(run.members)), len(run.members)
    return f'{total} networks' if usable == total else f'{usable} of {total} networks'


def choose_network(run: Run, point: Point) -> tuple[Point, str]:
    """(a complete point, how it was chosen): the most composed network at a point.

    Of a task without composition it is the one with the lowest train loss; '' where the
    point names one network by itself.

    Raises:
      UserError: no such axis or value, or no network there is trained.
    """
    run.labels(**point)  # raises the error of an unknown axis
    axes = run.experiment.axes
    if all(axis in point or len(values) == 1 for axis, values in axes.items()):
        return run.complete_point(point), ''
    members = frame.list_usable(run)
    for axis, label in run.labels(**point).items():
        members = members[members[axis] == label]
    if not len(members):
        raise UserError(f'no member at {format_point(point)} is trained yet')
    if 'unseen_composed' in members:
        ranked, words = rank_towards(members, 'composed'), 'most composed'
        columns = ranked.columns.tolist()
        place = ranked.sort_values(columns, ascending=False, kind='stable').index[0]
    else:
        place = members.index[int(members.train_loss.argmin())]
        words = 'lowest train loss'
    return list_points(run)[place], f'the {words} of {len(members)} networks'


def _name_network(run: Run, point: Point, steps: str) -> str:
    """'γ 1.7 (1.18 at width 400), seed 0, depth 2, step 6000'."""
    names = [name_network(run, point)]
    if len(run.experiment.axes['seed']) == 1:
        names.append(name_value(run, 'seed', point['seed']))
    depth = getattr(run.experiment_of(**point).model, 'depth', None)
    if depth is not None and len(run.experiment.axes.get('depth', ())) < 2:
        names.append(f'depth {depth}')
    return ', '.join([*names, steps])


def name_module(module: ModuleType) -> str:
    """'phase': the name of a figure."""
    return module.__name__.rpartition('.')[2]


def save(module: ModuleType, result: Any, path: pathlib.Path) -> list[pathlib.Path]:
    """Writes path.png, path.pdf and the numbers behind them; prints the paths."""
    paths = style.write_figure(result, module.draw, module.layout, path)
    print(*paths, sep='\n')
    return paths


def _takes_point(module: ModuleType) -> bool:
    """Whether --AXIS=VALUE choose what it shows."""
    return _is_of_network(module) or _find_rest(module.compute) != ''


def _find_rest(compute: Callable) -> str:
    """'point' or 'network', the name of its ** parameter; '' without one."""
    for parameter in inspect.signature(compute).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            return parameter.name
    return ''


def _parse_command_line(
    module: ModuleType, flags: list[Flag], words: list[str]
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """(--run, --out and the texts of the flags; the point that --AXIS=VALUE give)."""
    epilog = '--AXIS=VALUE ... picks a member, --step=STEP one of its snapshots'
    if _is_of_network(module):
        epilog += '; default: the most composed one, at its last step'
    parser = cli.Parser(
        prog=f'python -m analysis {name_module(module)}',
        description=f'{module.TITLE} ({module.PAPER}).\n\n{module.__doc__ or ""}',
        epilog=epilog if _takes_point(module) else None,
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
