"""What every command line shares: configs with presets and overrides, errors in one line."""

import argparse
import importlib.util
import math
import os
import pathlib
import sys
from collections.abc import Callable

import jax
import jaxlib
import ml_collections

from anchorjax import config
from anchorjax.errors import ConfigError, UserError, printable
from anchorjax.storage.manifest import read_experiment
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts
from anchorjax.training.members import cpu_fingerprint

EXIT_USER_ERROR = 2
EXIT_PREEMPTED = 75  # sysexits' "temporary failure": saved, run me again


def run_command(command: Callable[[], None]) -> None:
    """Runs a command; a user's error is one line and exit code 2, a preemption exit code 75."""
    try:
        command()
    except UserError as e:
        print(f'error: {e}', file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except OSError as e:  # a full disk shows wherever something is written
        where = f': {e.filename}' if e.filename else ''
        print(f'error: {printable(f"{e.strerror or e}{where}")}', file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except jax.errors.JaxRuntimeError as e:
        if 'RESOURCE_EXHAUSTED' not in str(e):
            raise
        print(
            'error: a device is out of memory; give fewer train.lanes', file=sys.stderr
        )
        sys.exit(EXIT_USER_ERROR)
    except Preempted:
        print(
            'stopped by a signal; saved. The same command continues.', file=sys.stderr
        )
        sys.exit(EXIT_PREEMPTED)
    except KeyboardInterrupt:
        print(
            'interrupted; the same command continues from the last save.',
            file=sys.stderr,
        )
        sys.exit(130)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose complaints are UserErrors."""

    def error(self, message: str):
        raise UserError(f'{message} (see --help)')


def parse_command_line(parser: argparse.ArgumentParser, words: list[str] | None = None):
    """(flags, experiment) of a command line: --config FILE[:PRESET], or --config_json FILE, which
    runs no code, and then its overrides --config.x.y=z.

    Raises:
      UserError: unknown flag, or anything wrong with the config.
    """
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--config', metavar='FILE[:PRESET]')
    source.add_argument(
        '--config_json', metavar='FILE', help='a manifest, or the JSON of a config'
    )
    flags, rest = parser.parse_known_args(words)
    loaded = load(flags.config) if flags.config else load_json(flags.config_json)
    while rest:
        word = rest.pop(0)
        if not word.startswith('--config.'):
            raise UserError(f'unknown argument {word!r} (see --help)')
        path, equals, text = word.removeprefix('--config.').partition('=')
        if not equals and not rest:
            raise ConfigError(f'{path}: give a value, --config.{path}=VALUE')
        config.override(loaded, path, text if equals else rest.pop(0))
    return flags, config.resolve(loaded)


def load_json(name: str) -> ml_collections.ConfigDict:
    """The config that a manifest, or a JSON file of its own, holds; nothing in it is executed.

    Raises:
      UserError: no such file, or anything wrong with it.
    """
    experiment = read_experiment(pathlib.Path(name))
    return ml_collections.ConfigDict(config.to_dict(experiment)).lock()


def join_hosts(flags: argparse.Namespace) -> None:
    """Joins the other processes of a program on several hosts, when the flags say so.

    Raises:
      UserError: the flags are incomplete, or the others are not found.
    """
    explicit = [flags.coordinator, flags.processes, flags.process]
    given = [value is not None for value in explicit]
    if any(given) and not all(given):
        raise UserError('--coordinator, --processes and --process belong together')
    if flags.distributed or all(given):
        hosts.join(*explicit)


def parse_gibibytes(text: str) -> float:
    """Bytes of a number of GiB; raises ValueError."""
    if not 0 < (size := float(text)) < math.inf:
        raise ValueError
    return size * 2**30


def load(spec: str):
    """The ConfigDict of 'file.py' or 'file.py:preset': what its get_config(preset) returns.

    Raises:
      ConfigError: no such file or preset, or the file fails; the line names the file.
    """
    name, _, preset = spec.partition(':')
    path = pathlib.Path(name)
    if path.suffix != '.py' or not path.is_file():
        raise ConfigError(f'--config {spec}: no such Python file')
    module_spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(module_spec)
    try:
        module_spec.loader.exec_module(module)
        made = module.get_config(preset)
    except ConfigError:
        raise
    except (
        Exception
    ) as e:  # a config file is Python: whatever it raises is a bad config
        raise ConfigError(f'--config {spec}: {type(e).__name__}: {e}') from e
    if not isinstance(made, ml_collections.ConfigDict):
        raise ConfigError(
            f'--config {spec}: get_config returned {made!r}, not a ConfigDict'
        )
    return made


def use_compilation_cache() -> None:
    """Compiled programs persist, in a folder of their own per jaxlib and kind of CPU."""
    if jax.config.jax_compilation_cache_dir:
        return
    home = pathlib.Path(
        os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')
    )
    folder = home / 'anchorjax' / f'jaxlib-{jaxlib.__version__}-{cpu_fingerprint()}'
    jax.config.update('jax_compilation_cache_dir', str(folder))
    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.5)
