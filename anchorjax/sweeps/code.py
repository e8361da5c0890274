"""Digests of the sources that decide what is trained: of tasks, models and training.

A sweep that goes on after one of them was edited would mix members of two codes.
"""

import pathlib
import sys

import anchorjax
from anchorjax.experiment import Experiment
from anchorjax.hashing import digest_file

_FOLDERS = ('models', 'tasks', 'training')
_FILES = ('experiment.py', 'grid.py', 'model.py', 'permutation.py', 'task.py')
_LENGTH = 16  # hexadecimal digits: enough to tell edits apart


def digest_code(experiment: Experiment) -> dict[str, str]:
    """{path: SHA-256, shortened} of the sources that decide what members become.

    They are those of anchorjax, as they were when this process imported them, and the
    files that a task or a model of the user's own was registered from.
    """
    own = {}
    for cls in (type(experiment.task), type(experiment.model)):
        own |= _digest_own(cls)
    return {**_PACKAGE, **own}


def digest_package(root: pathlib.Path) -> dict[str, str]:
    """The digests of the sources of tasks, models and training below a package.

    What is hidden (an editor's lock is a link to nowhere) cannot be imported.
    """
    paths = [root / name for name in _FILES]
    for folder in _FOLDERS:
        paths += (root / folder).rglob('*.py')
    digests = {}
    for path in sorted(paths):
        inner = path.relative_to(root)
        is_hidden = any(part.startswith('.') for part in inner.parts)
        if path.is_file() and not is_hidden:
            name = f'{root.name}/{inner.as_posix()}'
            digests[name] = digest_file(path)[:_LENGTH]
    return digests


def _digest_own(cls: type) -> dict[str, str]:
    """The digest of the file that a class is from; {} if of anchorjax.

    What was typed into a notebook has no file, and no digest.
    """
    module = sys.modules.get(cls.__module__)
    path = pathlib.Path(getattr(module, '__file__', None) or '')
    if not path.is_file() or path.resolve().is_relative_to(_ROOT):
        return {}
    name = module.__name__.replace('.', '/') + path.suffix
    if module.__name__ in ('__main__', str(path)):  # that of a config is its path
        name = path.name
    return {name: digest_file(path)[:_LENGTH]}


_ROOT = pathlib.Path(anchorjax.__file__).resolve().parent
_PACKAGE = digest_package(_ROOT)  # at once: an edit from now on is not what runs
