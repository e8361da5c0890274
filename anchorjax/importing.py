"""Classes and functions by dotted names: 'anchorjax.tasks.scan.task:ScanConfig'.

The name of one from a config file begins with the path of the file.
"""

import importlib
import importlib.util
import pathlib
import sys
from types import ModuleType
from typing import Any

from anchorjax.errors import ConfigError, describe_cause


def dotted_name(cls: Any) -> str:
    """The dotted name of a class or a function; '' if no other process can import it.

    Such a class was typed into a notebook or a script, or is made by a function.
    """
    if isinstance(cls, str):
        return cls
    is_typed = cls.__module__ == '__main__' or '<locals>' in cls.__qualname__
    return '' if is_typed else f'{cls.__module__}:{cls.__qualname__}'


def import_named(name: str) -> Any:
    """What has this dotted name: 'anchorjax.tasks.scan.task:ScanConfig'.

    Raises:
      ConfigError: it cannot be imported.
    """
    module, _, attribute = name.rpartition(':')
    try:
        is_new_file = module.endswith('.py') and module not in sys.modules
        load = import_file if is_new_file else importlib.import_module
        return getattr(load(module), attribute)
    except Exception as e:  # the file is Python and may raise anything
        raise ConfigError(f'{name} cannot be imported: {describe_cause(e)}') from e


def import_file(path: str | pathlib.Path) -> ModuleType:
    """The module of a Python file, which is executed.

    It is in sys.modules under its path, which is the name of no other module, so that
    `sweeps.code` finds its source.
    """
    spec = importlib.util.spec_from_file_location(str(path), path)
    assert spec is not None and spec.loader is not None  # of a path there is one
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
