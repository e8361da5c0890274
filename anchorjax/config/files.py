"""Config files: Python that returns a ConfigDict, 'configs/phase.py:laptop'.

Such a file may also define a task or a model of its own and enter it in TASKS or
MODELS; see `registry`.
"""

import pathlib
import traceback
from collections.abc import Collection

import ml_collections

from anchorjax.config.build import default
from anchorjax.errors import ConfigError, brief, nearest
from anchorjax.importing import import_file


def load(spec: str | pathlib.Path) -> ml_collections.ConfigDict:
    """The ConfigDict of 'file.py' or 'file.py:preset', from its get_config(preset).

    Raises:
      ConfigError: there is no such file or preset, or the file fails; the line names
        the file.
    """
    spec = str(spec)
    stem, has_preset, preset = spec.partition('.py:')  # a folder may have a colon
    name = f'{stem}.py' if has_preset else spec
    path = pathlib.Path(name).absolute()  # as tracebacks name it
    if path.suffix != '.py' or not path.is_file():
        shown = spec or "''"
        raise ConfigError(f'--config {shown}: no such Python file')
    try:
        config = import_file(path).get_config(preset)
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
