"""The classes of tasks and models, by name: 'anchorjax.tasks.scan.task:ScanConfig'.

The name of one from a config file begins with the path of the file. The manifest of a
sweep has both of its names, so that any command opens a run of a task or a model of
one's own.
"""

import pathlib
from typing import Any

from anchorjax.errors import ConfigError, require
from anchorjax.importing import dotted_name, import_named
from anchorjax.models import MODELS
from anchorjax.tasks import TASKS

TABLES = {'task': TASKS, 'model': MODELS}


def find_class(group: str, name: Any) -> type:
    """The class of a task or a model.

    Args:
      group: 'task' or 'model'.

    Raises:
      ConfigError: there is no such name, or its class cannot be imported.
    """
    table = TABLES[group]
    is_known = isinstance(name, str) and name in table
    require(is_known, f'{group}.name', name, f'one of {tuple(table)}')
    cls = table[name]
    return cls if isinstance(cls, type) else import_named(cls)


def enter_class(group: str, name: str, origin: str, run: pathlib.Path) -> None:
    """Enters a task or a model of a manifest in its table, if it is not there.

    Args:
      origin: its dotted name in the manifest.
      run: the folder of the manifest, from which nothing is imported.

    Raises:
      ConfigError: the class is in the folder of the run, or the name is that of another
        class in this process.
    """
    table = TABLES[group]
    file = pathlib.Path(origin.rpartition(':')[0])
    is_inside = not file.is_absolute() or file.resolve().is_relative_to(run.resolve())
    if name not in table and file.suffix == '.py' and is_inside:
        line = 'a file in the folder of a run is not executed'
        raise ConfigError(f'{origin} cannot be imported: {line}')
    known = dotted_name(table.setdefault(name, origin))
    # Files of one name are taken for one: folders may be mounted elsewhere.
    if known.rpartition('/')[2] != origin.rpartition('/')[2]:
        raise ConfigError(
            f'{group} {name!r} is from {origin} in this run, and from '
            f'{known or "a notebook or a script"} in this process: if its file was '
            'renamed, or is reached by a link, give it by its former name; if they are '
            'two, give one of them another name'
        )
