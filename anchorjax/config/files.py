"""Config files: Python that returns a ConfigDict, 'configs/phase.py:laptop'.

Such a file may also define a task or a model of its own and enter it in TASKS or
MODELS. The manifest of a sweep says where they are from, so that a run of them can be
opened by any command.
"""

import importlib
import importlib.util
import pathlib
import sys
import traceback
from collections.abc import Collection
from types import ModuleType

import ml_collections

from anchorjax.config.build import default
from anchorjax.errors import ConfigError, brief, describe_cause, nearest
from anchorjax.experiment import Experiment
from anchorjax.models import MODELS
from anchorjax.tasks import TASKS


def load(spec: str | pathlib.Path) -> ml_collections.ConfigDict:
    """The ConfigDict of 'file.py' or 'file.py:preset', from its get_config(preset).

    Raises:
      ConfigError: there is no such file or preset, or the file fails; the line names
        the file.
    """
    spec = str(spec)
    name, _, preset = spec.partition(':')
    path = pathlib.Path(name).absolute()  # as tracebacks name it
    if path.suffix != '.py' or not path.is_file():
        shown = spec or "''"
        raise ConfigError(f'--config {shown}: no such Python file')
    try:
        config = _import_file(path).get_config(preset)
    except ConfigError:
        raise
    except Exception as e:  # the file is Python and may raise anything
        where = _find_line(e, path)
        raise ConfigError(f'--config {spec}{where}: {_describe(e)}') from e
    if not isinstance(config, ml_collections.ConfigDict):
        line = f'get_config returned {config!r}, not a ConfigDict'
        raise ConfigError(f'--config {spec}: {line}')
    return config


def begin(
    stem: str, preset: str, presets: Collection[str], **kinds: str
) -> ml_collections.ConfigDict:
    """The defaults of a config file's preset, named 'cogs_gpt2', or 'cogs' for ''.

    Args:
      stem: the name of the file.
      kinds: task, model and size, as in `default`.

    Raises:
      ConfigError: there is no such preset.
    """
    require_preset(preset, presets)
    config = default(**kinds)
    config.name = f'{stem}_{preset}' if preset else stem
    return config


def require_preset(preset: str, presets: Collection[str]) -> None:
    """Raises ConfigError, with the nearest preset, unless this is one of them."""
    if preset not in presets:
        hint = nearest(preset, filter(None, presets))
        problem = f'preset {preset!r}: there is none' if preset else 'give a preset'
        raise ConfigError(f'{problem}, {hint}')


def find_origins(experiment: Experiment) -> dict[str, str]:
    """{'task': 'FILE.py:CLASS'} for a task and a model that are not of anchorjax.

    The file is a module's name if the class is from a package. What was typed into a
    notebook or a script cannot be imported again, and is left out.
    """
    origins = {}
    for group in ('task', 'model'):
        cls = type(getattr(experiment, group))
        package = cls.__module__.partition('.')[0]
        is_local = '<locals>' in cls.__qualname__  # of a function
        if package not in ('anchorjax', '__main__') and not is_local:
            origins[group] = _name_class(cls)
    return origins


def _name_class(cls: type) -> str:
    return f'{cls.__module__}:{cls.__qualname__}'


def register(experiment: dict, origins: dict[str, str], run: pathlib.Path) -> None:
    """Enters the task and the model of `find_origins` in TASKS and MODELS.

    Args:
      experiment: nested values, as from a manifest; its names are those entered.
      run: the folder of the manifest.

    Raises:
      ConfigError: the class cannot be imported, or another one has its name.
    """
    for group, origin in origins.items():
        table = {'task': TASKS, 'model': MODELS}[group]
        name = experiment[group]['name']
        if name not in table:
            table[name] = _import_class(origin, run)
        known = _name_class(table[name])
        # Files of one name are taken for one: folders may be mounted elsewhere.
        if known.rpartition('/')[2] != origin.rpartition('/')[2]:
            raise ConfigError(
                f'{group} {name!r} is from {origin} in this run, and from {known} in '
                'this process; give one of them another name'
            )


def _import_class(origin: str, run: pathlib.Path) -> type:
    """The class of an origin, which is imported; not from the folder of the run."""
    module, _, cls = origin.rpartition(':')
    file = pathlib.Path(module)
    try:
        if file.suffix != '.py':
            return getattr(importlib.import_module(module), cls)
        if not file.is_absolute() or file.resolve().is_relative_to(run.resolve()):
            raise ConfigError('a file in the folder of a run is not executed')
        return getattr(_import_file(file), cls)
    except Exception as e:  # the file is Python and may raise anything
        raise ConfigError(f'{origin} cannot be imported: {describe_cause(e)}') from e


def _find_line(error: Exception, path: pathlib.Path) -> str:
    """', line 12', the innermost line of the file that the error went through."""
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if pathlib.Path(frame.filename) == path:
            lines.append(frame.lineno)
    return f', line {lines[-1]}' if lines else ''


def _describe(error: Exception) -> str:
    """What went wrong, without the dump of the whole group by ml_collections."""
    text, _, dump = str(error).partition(' Other fields present')
    _, has_hint, hint = dump.partition('Did you mean')
    if has_hint:
        text += f' Did you mean{hint}'
    return brief(f'{type(error).__name__}: {text}')


def _import_file(path: pathlib.Path) -> ModuleType:
    # Under its path, which is no name of another module. Who looks for the file of a
    # task that was made there (`sweeps.code`) finds it.
    spec = importlib.util.spec_from_file_location(str(path), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
