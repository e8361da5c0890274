"""Config files: Python that returns a ConfigDict, 'configs/phase.py:laptop'."""

import importlib.util
import pathlib
from types import ModuleType

import ml_collections

from anchorjax.errors import ConfigError


def load(spec: str) -> ml_collections.ConfigDict:
    """The ConfigDict of 'file.py' or 'file.py:preset': what get_config(preset) returns.

    Raises:
      ConfigError: no such file or preset, or the file fails; the line names the file.
    """
    name, _, preset = spec.partition(':')
    path = pathlib.Path(name)
    if path.suffix != '.py' or not path.is_file():
        raise ConfigError(f'--config {spec}: no such Python file')
    try:
        config = _import_file(path).get_config(preset)
    except ConfigError:
        raise
    except (
        Exception
    ) as e:  # a config file is Python: whatever it raises is a bad config
        raise ConfigError(f'--config {spec}: {type(e).__name__}: {e}') from e
    if not isinstance(config, ml_collections.ConfigDict):
        line = f'get_config returned {config!r}, not a ConfigDict'
        raise ConfigError(f'--config {spec}: {line}')
    return config


def _import_file(path: pathlib.Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
