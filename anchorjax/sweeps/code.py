"""Digests of the sources that decide what is trained: of tasks, models and training.

A sweep that goes on after one of them was edited would mix members of two codes.
"""

import ast
import importlib
import importlib.util
import pathlib
import sys
import sysconfig
from typing import Any

import anchorjax
from anchorjax.experiment import Experiment
from anchorjax.hashing import digest_file
from anchorjax.importing import dotted_name
from anchorjax.models import MODELS
from anchorjax.tasks import TASKS
from anchorjax.training.optimizers import find_optimizer, find_schedule

_FOLDERS = ('models', 'tasks', 'training')
_FILES = (
    'experiment.py',
    'grid.py',
    'numerics.py',
    'permutation.py',
)
_LENGTH = 16  # hexadecimal digits: enough to tell edits apart


def digest_code(experiment: Experiment) -> dict[str, str]:
    """{path: SHA-256, shortened} of the sources that decide what members become.

    They are those of anchorjax, as they were when this process imported them, and the
    files that a task, a model or an optimizer of the user's own is from, with the
    modules that these import, but for installed packages.
    """
    own = {}
    optimizer = experiment.optimizer
    parts = (find_optimizer(optimizer), find_schedule(optimizer))
    for part in (type(experiment.task), type(experiment.model), *parts):
        own |= _digest_own(part)
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


def _digest_own(cls: Any) -> dict[str, str]:
    """The digests of the file that a class or a function is from, with what it imports.

    {} if it is of anchorjax. What was typed into a notebook has no file, and no digest.
    """
    path = _find_source(cls.__module__)
    if path is None or path.is_relative_to(_ROOT):
        return {}
    package = cls.__module__.partition('.')[0]
    digests = {}
    waiting = {path: cls.__module__}
    seen = set(waiting)
    while waiting:
        source, name = waiting.popitem()
        digests[_label(name, source)] = digest_file(source)[:_LENGTH]
        for imported in _list_imports(source, name):
            found = _find_source(imported)
            is_of_package = imported.partition('.')[0] == package
            if found not in (None, *seen) and (is_of_package or _is_own(found)):
                seen.add(found)
                waiting[found] = imported
    return digests


def _label(name: str, path: pathlib.Path) -> str:
    """'package/helper.py' of a module; the file's name of a config or a script."""
    if name == '__main__' or name.endswith('.py'):  # that of a config is its path
        return path.name
    folder = name.replace('.', '/')
    return f'{folder}/{path.name}' if path.name == '__init__.py' else f'{folder}.py'


def _list_imports(path: pathlib.Path, name: str) -> list[str]:
    """The modules that a file imports, anywhere in it, and the packages around them."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:  # edited since it was imported
        return []
    is_package = path.name == '__init__.py'
    package = name if is_package else name.rpartition('.')[0]
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ''
            if node.level:
                parts = package.split('.')
                above = parts[: len(parts) - node.level + 1]
                base = '.'.join([*above, *filter(None, [base])])
            # What is imported from a package may be a module of it, or a name in it.
            names += [base, *(f'{base}.{alias.name}' for alias in node.names)]
    modules = {}
    for imported in names:
        parts = imported.split('.')
        for end in range(1, len(parts) + 1):
            modules['.'.join(parts[:end])] = None
    return list(modules)


def _find_source(name: str) -> pathlib.Path | None:
    """The Python file of a module; None: it has none, or there is no such module."""
    module = sys.modules.get(name)
    origin = getattr(module, '__file__', None)
    if module is None:  # imported within a function: perhaps not yet
        try:
            spec = importlib.util.find_spec(name)
        except Exception:  # a name in a module, or a package that cannot be imported
            return None
        origin = spec.origin if spec is not None else None
    path = pathlib.Path(origin or '')
    return path.resolve() if path.suffix == '.py' and path.is_file() else None


def _is_own(path: pathlib.Path) -> bool:
    """Whether a source is neither of anchorjax, nor of Python, nor installed."""
    is_installed = not {'site-packages', 'dist-packages'}.isdisjoint(path.parts)
    return not (
        is_installed or path.is_relative_to(_ROOT) or path.is_relative_to(_PYTHON)
    )


# Of the digests below: what a config named later would be imported later.
for _class in (*TASKS.values(), *MODELS.values()):
    if dotted_name(_class).startswith('anchorjax.'):
        importlib.import_module(dotted_name(_class).partition(':')[0])
_PYTHON = pathlib.Path(sysconfig.get_path('stdlib')).resolve()
_ROOT = pathlib.Path(anchorjax.__file__).resolve().parent
_PACKAGE = digest_package(_ROOT)  # at once: an edit from now on is not what runs
