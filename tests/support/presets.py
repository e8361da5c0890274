"""The presets of all configs."""

import importlib.util
import pathlib

from tests.support.sweeps import ROOT

CONFIGS = sorted((ROOT / 'configs').glob('*.py'))


def list_presets(path: pathlib.Path) -> list[str]:
    """Names in a config module's PRESETS; '' is the default."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.PRESETS)


def list_specs() -> list[str]:
    """'PATH:PRESET' of every preset of every config, as `config.load` takes it."""
    specs = []
    for path in CONFIGS:
        specs += [f'{path}:{preset}' for preset in list_presets(path)]
    return specs
