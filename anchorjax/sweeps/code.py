"""Digests of the sources that decide what is trained: of tasks, models and training.

A sweep that goes on after one of them was edited would mix members of two codes.
"""

import functools
import pathlib
import sys
from typing import Any

import anchorjax
from anchorjax import models, tasks
from anchorjax.config import Experiment
from anchorjax.hashing import digest_file

_FOLDERS = ('models', 'tasks', 'training')
_LENGTH = 16  # hexadecimal digits: enough to tell edits apart


def digest_code(experiment: Experiment) -> dict[str, str]:
    """{path: SHA-256, shortened} of the sources that decide what members become.

    They are those of anchorjax, as they were when this process imported them, and the
    files that a task or a model of the user's own was registered from.
    """
    task = tasks.TASKS[experiment.task.name]
    model = models.MODELS[experiment.model.name]
    own = {}
    for registered in (task, model.config, model.make):
        own |= _digest_own(registered)
    return {**_PACKAGE, **own}


def digest_package(root: pathlib.Path) -> dict[str, str]:
    """The digests of the sources of tasks, models and training below a package."""
    paths = []
    for folder in _FOLDERS:
        paths += (root / folder).rglob('*.py')
    return {_name(path, root): _digest(path) for path in sorted(paths)}


def _digest_own(registered: Any) -> dict[str, str]:
    """The digest of the file that a class or function is from; {} if of anchorjax.

    What was typed into a notebook has no file, and no digest.
    """
    while isinstance(registered, functools.partial):
        registered = registered.func
    module = sys.modules.get(getattr(registered, '__module__', ''))
    path = pathlib.Path(getattr(module, '__file__', None) or '')
    if not path.is_file() or path.resolve().is_relative_to(_ROOT):
        return {}
    name = module.__name__.replace('.', '/') + path.suffix
    if module.__name__ == '__main__':
        name = path.name
    return {name: _digest(path)}


def _name(path: pathlib.Path, root: pathlib.Path) -> str:
    return f'{root.name}/{path.relative_to(root).as_posix()}'


def _digest(path: pathlib.Path) -> str:
    return digest_file(path)[:_LENGTH]


_ROOT = pathlib.Path(anchorjax.__file__).resolve().parent
_PACKAGE = digest_package(_ROOT)  # at once: an edit from now on is not what runs
