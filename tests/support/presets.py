"""The presets of all configs."""

import importlib.util
import pathlib

from anchorjax import config
from tests.support.sweeps import ROOT

CONFIGS = sorted((ROOT / 'configs').glob('*.py'))


def list_presets(path: pathlib.Path) -> list[str]:
    """Names in a config module's PRESETS; '' is the default."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.PRESETS)


def list_kinds_of_axes(path: pathlib.Path) -> list[str]:
    """A preset of a config for each task and kind of axes; many differ in numbers."""
    first_of = {}
    for preset in list_presets(path):
        spec = f'{path}:{preset}'
        experiment = config.resolve(config.load(spec))
        kind = [experiment.task.name, getattr(experiment.task, 'exception', '')]
        for axis, values in experiment.axes.items():
            kind.append((axis, len(values) > 1, type(values[0])))
        first_of.setdefault(tuple(kind), spec)
    return list(first_of.values())


def list_specs() -> list[str]:
    """'PATH:PRESET' of every preset of every config, as `config.load` takes it."""
    specs = []
    for path in CONFIGS:
        specs += [f'{path}:{preset}' for preset in list_presets(path)]
    return specs
