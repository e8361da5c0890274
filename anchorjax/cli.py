"""What the command lines share: reading a config, one-line errors, exit codes."""

import argparse
import contextlib
import io
import math
import os
import pathlib
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    TextIO,
    get_args,
    get_origin,
)

import jax

from anchorjax import config, files
from anchorjax.errors import (
    EXIT_FAILED,
    EXIT_PREEMPTED,
    EXIT_USER_ERROR,
    CliError,
    ConfigError,
    UserError,
    is_temporary,
    nearest,
)
from anchorjax.experiment import Experiment
from anchorjax.limits import declared_fields, read_meanings
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts
from anchorjax.training.devices import cpu_fingerprint

# Flags of sweep.py that the command that starts the jobs decides for each of them.
_FLAGS_OF_A_JOB = ('shard', 'distributed', 'coordinator', 'processes', 'process')
_FLAGS_OF_A_JOB += ('dry_run',)
_LINES_OF_JAX = {  # by a part of its own
    'RESOURCE_EXHAUSTED': 'a device is out of memory; use fewer train.lanes',
    'Unable to initialize backend': 'JAX_PLATFORMS: must name devices that are here',
    # An assertion of JAX without words: its line.
    '_default_backend is not None': 'JAX_PLATFORMS: must name devices that are here',
    'Disallowed ': 'JAX_TRANSFER_GUARD: must allow transfers; leave it unset',
}
_WIDEST_FIELD = 36  # characters of a field and its value in --help
_MEANING = {'width': 88, 'initial_indent': 8 * ' ', 'subsequent_indent': 8 * ' '}


class LossyStream:
    """A text stream that loses what it cannot write, from the first failure on."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes the text if possible; returns its length."""
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream if possible."""
        self._try(self._stream.flush)

    def _try(self, use: Callable[[], object]) -> None:
        try:
            use()
        except OSError:  # its reader has ended, or its disk is full
            with contextlib.suppress(OSError, AttributeError):  # it has no number
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def lose_output() -> Iterator[None]:
    """Inside the block, what cannot be written to standard output is lost."""
    stream = LossyStream(sys.stdout)
    with contextlib.redirect_stdout(stream):
        yield
        stream.flush()


def _open_closed_streams() -> None:
    """Gives /dev/null to the standard streams that this process began without.

    Otherwise the next file that is opened would have their numbers, and get what
    libraries print.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        if getattr(sys, name) is None:
            mode = 'w' if number else 'r'
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def run_command(command: Callable[[], None]) -> None:
    """Runs a command; known errors become one line and an exit code.

    What cannot be written to standard error is lost, and nothing else. What is printed
    may be γ where the terminal knows ASCII alone: '\\u03b3' then.
    """
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):  # not the stream of a notebook
        sys.stdout.reconfigure(errors='backslashreplace')
    with contextlib.redirect_stderr(LossyStream(sys.stderr)):
        _run(command)


def _run(command: Callable[[], None]) -> None:
    try:
        command()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough
        LossyStream(sys.stdout).flush()
        sys.exit(EXIT_FAILED)
    except CliError as e:
        # A full disk is not the user's mistake.
        code = EXIT_FAILED if is_temporary(e) else EXIT_USER_ERROR
        _exit(f'error: {e}', code)
    except OSError as e:
        where = f': {e.filename}' if e.filename else ''
        _exit(f'error: {e.strerror or e}{where}', EXIT_FAILED)
    except (RuntimeError, AssertionError) as e:
        said = str(e) or traceback.extract_tb(e.__traceback__)[-1].line or ''
        for part, line in _LINES_OF_JAX.items():
            if part in said:
                _exit(f'error: {line}', EXIT_USER_ERROR)
        raise
    except Preempted:
        line = 'stopped by a signal and saved; the same command continues.'
        _exit(line, EXIT_PREEMPTED)
    except KeyboardInterrupt:
        line = 'interrupted; the same command continues from the last save.'
        _exit(line, EXIT_FAILED)


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises UserError for bad flags, and for a part of one.

    --help shows the description as it is written: the docstring of the command.
    """

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault('formatter_class', argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise UserError(f'{message} (see --help)')


def print_usage(description: str | None) -> None:
    """Prints the docstring of a command, which `python -OO` leaves out."""
    print((description or 'see README.md: python -OO has no text of help').strip())


def run_subcommand(
    commands: Mapping[str, Callable[[list[str]], None]], description: str | None
) -> None:
    """Dispatches to the subcommand in argv[1]; UserError if there is none."""
    name = sys.argv[1] if len(sys.argv) > 1 else ''
    if name in ('-h', '--help'):
        print_usage(description)
        return
    if name not in commands:
        raise UserError(f'{name!r}: must be one of {tuple(commands)} (see --help)')
    commands[name](sys.argv[2:])


def parse_command_line(
    parser: argparse.ArgumentParser, words: list[str] | None = None
) -> tuple[argparse.Namespace, Experiment]:
    """The flags and the experiment of a command line.

    The experiment comes from --config FILE[:PRESET], changed by --config.x.y=z; these
    are in `overrides` of the flags, {'x.y': 'z'}. What else they change is said in a
    line on stderr (`config.override_all`).

    Raises:
      UserError: a flag is unknown, or something is wrong with the config.
    """
    parser.add_argument('--config', required=True, metavar='FILE[:PRESET]')
    flags, rest = parser.parse_known_args(words)
    loaded = config.load(flags.config)
    flags.overrides = {}
    while rest:
        word = rest.pop(0)
        if not word.startswith('--config.'):
            hint = _suggest(word.partition('=')[0], parser, loaded)
            if flags.overrides and not word.startswith('-'):
                path, text = flags.overrides.popitem()
                hint = f'several values have commas: --config.{path}={text},{word}'
            raise UserError(f'unknown argument {word!r}, {hint} (see --help)')
        path, equals, text = word.removeprefix('--config.').partition('=')
        if not equals:
            if not rest:
                raise ConfigError(f'{path}: give a value, --config.{path}=VALUE')
            text = rest.pop(0)
        flags.overrides[path] = text
    for line in config.override_all(loaded, flags.overrides):
        print(line, file=sys.stderr)
    return flags, config.resolve(loaded)


def _suggest(
    flag: str, parser: argparse.ArgumentParser, loaded: config.ConfigDict
) -> str:
    """The field that lacks its group, or the flag that was meant; see `nearest`."""
    path = config.find_path(loaded, flag.removeprefix('--'))
    if path:
        return f"did you mean '--config.{path}'?"
    flags = []
    for action in parser._actions:
        flags += action.option_strings
    return nearest(flag, flags)


class _Help(argparse.Action):
    """--help, which lists the fields of the config if --config stands before it."""

    def __call__(
        self, parser: argparse.ArgumentParser, flags: argparse.Namespace, *_: Any
    ) -> None:
        spec = getattr(flags, 'config', None)
        if spec:
            parser.epilog = describe_fields(config.resolve(config.load(spec)))
        parser.print_help()
        parser.exit()


def describe_fields(experiment: Experiment) -> str:
    """Every field of a config: its value here, its type and its range, what it is."""
    lines = ['fields of this config, set by --config.GROUP.FIELD=VALUE:']
    for group in ('task', 'model', 'optimizer', 'train', 'grid'):
        values = getattr(experiment, group)
        meanings = read_meanings(type(values))
        lines.append(f'\n  {group}')
        for name, hint in declared_fields(type(values)).items():
            shown = f'{name}={getattr(values, name)}'
            if len(shown) > _WIDEST_FIELD:
                shown = shown[: _WIDEST_FIELD - 3] + '...'
            lines.append(f'    {shown:{_WIDEST_FIELD}}  {_describe_hint(hint)}')
            lines += textwrap.wrap(meanings.get(name, ''), **_MEANING)
    return '\n'.join(lines)


def _describe_hint(hint: Any) -> str:
    """'int, at least 1' of the annotation of a field; see `limits`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return ', '.join([_describe_hint(args[0]), *map(str, args[1:])])
    if origin is Literal:
        return ' or '.join(args)
    if origin is tuple and args[-1] is Ellipsis:
        return f'tuple of {_describe_hint(args[0])}'
    if origin is tuple:
        return f'({"; ".join(map(_describe_hint, args))})'
    if NoneType in args:
        return f'{_describe_hint(args[0])} or None'
    return hint.__name__


def sweep_parser(description: str | None = None) -> Parser:
    """A parser of the flags of launch/sweep.py, except those for the config."""
    text = '--config.x.y=z sets a field; --config FILE --help lists all of them'
    parser = Parser(description=description, epilog=text, add_help=False)
    add = parser.add_argument
    switch: dict[str, Any] = {'action': 'store_true'}
    add('-h', '--help', action=_Help, nargs=0, help='show this text and exit')
    add('--workdir', type=check_folder, help='default: runs/<config name>')
    add('--dry_run', help='print the plan and exit', **switch)
    add('--shard', default='0/1', metavar='I/N', help='train part I (from 0) of N')
    text = (
        'continue although hardware, versions, layout or code changed; bits may differ'
    )
    add('--allow_numerics_change', help=text, **switch)
    text = (
        'memory that a device may use; default: 90 %% of what JAX may allocate, which '
        'is 75 %% of a GPU unless XLA_PYTHON_CLIENT_MEM_FRACTION is set'
    )
    add('--device_memory', type=parse_gibibytes, metavar='GIB', help=text)
    text = 'run as one program on several hosts, which JAX finds'
    add('--distributed', help=text, **switch)
    text = 'address of process 0, if JAX cannot find the hosts'
    add('--coordinator', metavar='HOST:PORT', help=text)
    text = 'with --coordinator: number of processes'
    add('--processes', type=int, metavar='N', help=text)
    text = 'with --coordinator: index of this process, from 0'
    add('--process', type=int, metavar='I', help=text)
    return parser


def sweep_workdir(given: str | None, experiment: Experiment) -> pathlib.Path:
    """The absolute path of a sweep: the given folder, or runs/<config name>."""
    return parse_folder(given or os.path.join('runs', experiment.name))


def split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """The words of a command line before and after --."""
    if '--' not in words:
        return words, []
    at = words.index('--')
    return words[:at], words[at + 1 :]


def check_job_words(words: list[str]) -> tuple[argparse.Namespace, Experiment]:
    """The flags and the experiment of the words that every job will get.

    Raises:
      UserError: launch/sweep.py would refuse them, or they have a flag that is
        decided for each job.
    """
    parser = sweep_parser()
    flags, experiment = parse_command_line(parser, words)
    for name in _FLAGS_OF_A_JOB:
        if getattr(flags, name) != parser.get_default(name):
            raise UserError(
                f'--{name} after --: not allowed; this command decides it for every job'
            )
    return flags, experiment


def join_hosts(flags: argparse.Namespace) -> None:
    """Joins the other processes of a program on several hosts, if the flags say so.

    Raises:
      UserError: the flags are incomplete, or no cluster is recognized.
      TemporaryError: the other processes do not answer in time.
    """
    explicit = (flags.coordinator, flags.processes, flags.process)
    num_given = sum(value is not None for value in explicit)
    if 0 < num_given < len(explicit):
        raise UserError('--coordinator, --processes and --process belong together')
    if flags.distributed or num_given:
        hosts.join(*explicit)


def check_folder(text: str) -> str:
    """The text that is the path of a folder, maybe on another machine."""
    _parse_path(text, 'folder')
    return text


def parse_folder(text: str) -> pathlib.Path:
    """The absolute path of a folder, for argparse; '' (an unset variable) is none."""
    return _parse_path(text, 'folder')


def parse_file(text: str) -> pathlib.Path:
    """The absolute path of a file, for argparse; '' is none."""
    return _parse_path(text, 'file')


def _parse_path(text: str, kind: str) -> pathlib.Path:
    try:
        return files.absolute_path(text, kind)
    except UserError as e:
        raise argparse.ArgumentTypeError(str(e)) from None


def parse_gibibytes(text: str) -> float:
    """The bytes in a number of GiB, for argparse."""
    return parse_positive(text) * 2**30


def parse_positive(text: str) -> float:
    """A positive and finite number, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f'{text!r}: must be a positive number')
    return number


def use_compilation_cache() -> None:
    """Keeps compiled programs on disk, in one folder per jaxlib version and CPU."""
    settings: Any = jax.config  # its fields are made when it is imported
    if settings.jax_compilation_cache_dir:
        return
    name = f'jaxlib-{version("jaxlib")}-{cpu_fingerprint()}'
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    if home.startswith('~'):  # of a user without a name and a HOME, as in a container
        return
    folder = pathlib.Path(home) / 'anchorjax' / name
    jax.config.update('jax_compilation_cache_dir', str(folder))
    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.5)


def _exit(line: str, code: int) -> NoReturn:
    LossyStream(sys.stdout).flush()  # or Python would try again, and change the code
    print(line, file=sys.stderr)
    sys.exit(code)
