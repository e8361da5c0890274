"""What a config set for other lengths and widths than the command line asks for.

Its snapshots and its warm-up become as short as training, and its sizes as wide as the
model. What the command line set itself is never changed.
"""

from collections.abc import Collection, Mapping
from typing import Any

import ml_collections

from anchorjax.config.build import override
from anchorjax.errors import ConfigError
from anchorjax.experiment import GridConfig, OptimizerConfig, TrainConfig
from anchorjax.limits import check_value, declared_fields

_STEPS = 'train.num_steps'
_SNAPSHOTS = 'train.snapshot_steps'
_WARMUP = 'optimizer.warmup_steps'
_SCHEDULE = 'optimizer.schedule_steps'
_WINDOWS = 'grid.decay_window'
_GROUPS = {'train': TrainConfig, 'optimizer': OptimizerConfig, 'grid': GridConfig}
_WIDTH = 'model.width'
_SIZES = ('head_dim', 'mlp_dim')  # that follow it


def override_all(
    config: ml_collections.ConfigDict, texts: Mapping[str, str]
) -> list[str]:
    """Sets the fields of a command line, {'train.num_steps': '300'}, and what follows.

    Returns:
      A line for each of them that changed others, and says which.

    Raises:
      ConfigError: as `override`; or several of the given fields do not fit the length
        of training, and the line names all of them.
    """
    before = config.to_dict()
    for path, text in texts.items():
        override(config, path, text)
    return [*_fit_length(config, before, texts), *_fit_width(config, before, texts)]


def _fit_length(
    config: ml_collections.ConfigDict, before: dict, given: Collection[str]
) -> list[str]:
    lengths = (_STEPS, _SNAPSHOTS, _WARMUP, _SCHEDULE, _WINDOWS)
    if not set(lengths) & set(given):
        return []
    values = {path: _check(config, path) for path in lengths}
    too_long = _find_too_long(values, config.optimizer.shape)
    shorter = {}
    if _STEPS in given:
        shorter = _shorten(values, before['train']['num_steps'])
    fitted = {}
    left = []
    for path in too_long:
        if path in shorter and path not in given:
            fitted[path] = shorter[path]
        else:
            left.append(path)
    config.update_from_flattened_dict(fitted)

    if len(left) > 1:  # of one alone the checks of a config say what is allowed
        named = ', '.join(f'{path} = {values[path]}' for path in left)
        flags = ', '.join(f'--config.{path}' for path in left)
        raise ConfigError(
            f'{_STEPS} = {values[_STEPS]}: too short for {named}; give other {flags}'
        )
    return _describe(_STEPS, values[_STEPS], fitted)


def _find_too_long(values: Mapping[str, Any], shape: str) -> list[str]:
    """The fields that do not fit the length of training, or of the schedule."""
    num_steps = values[_STEPS]
    schedule = values[_SCHEDULE] or num_steps
    warmup = 0 if shape == 'constant' else values[_WARMUP]
    ends = [window[-1] for window in values[_WINDOWS] if window]
    is_too_long = {
        _SNAPSHOTS: max(values[_SNAPSHOTS], default=0) > num_steps,
        _WARMUP: warmup > schedule,
        _SCHEDULE: schedule < num_steps,
        _WINDOWS: max(ends, default=0) > num_steps,
    }
    return [path for path, is_long in is_too_long.items() if is_long]


def _shorten(values: Mapping[str, Any], num_steps_before: int) -> dict[str, Any]:
    """Snapshots of fewer steps, and a warm-up of the same share of training."""
    num_steps = values[_STEPS]
    snapshots = tuple(step for step in values[_SNAPSHOTS] if step <= num_steps)
    warmup = values[_WARMUP] * num_steps // num_steps_before
    return {_SNAPSHOTS: snapshots, _WARMUP: min(warmup, num_steps)}


def _fit_width(
    config: ml_collections.ConfigDict, before: dict, given: Collection[str]
) -> list[str]:
    """Keeps the sizes' ratios to the width; those left at 0 follow it anyway."""
    if _WIDTH not in given:
        return []
    width, width_before = config.model.width, before['model']['width']
    fitted = {}
    for size in _SIZES:
        path = f'model.{size}'
        value = before['model'].get(size, 0)
        if value == 0 or path in given or type(width) is not int:
            continue
        fitted[path] = max(1, value * width // width_before)
    config.update_from_flattened_dict(fitted)
    return _describe(_WIDTH, width, fitted)


def _check(config: ml_collections.ConfigDict, path: str) -> Any:
    """The value of a field, of its declared type; ConfigError if it is not."""
    group, _, name = path.partition('.')
    hint = declared_fields(_GROUPS[group])[name]
    fields: Any = config[group]
    return check_value(fields[name], hint, path)


def _describe(path: str, value: Any, fitted: Mapping[str, Any]) -> list[str]:
    """A line such as "model.width=16: the config's settings follow: ..."."""
    if not fitted:
        return []
    parts = ', '.join(f'{name}={short}' for name, short in fitted.items())
    return [f"{path}={value}: the config's settings follow: {parts}"]
