"""From plain values to one valid `Experiment`; every error names its field."""

import copyreg
import dataclasses
from types import NoneType
from typing import Any

import ml_collections
import numpy as np

from anchorjax.caching import forget_changed_files
from anchorjax.config import consistency, schema
from anchorjax.config.registry import TABLES, find_class
from anchorjax.errors import ConfigError, nearest, require
from anchorjax.experiment import (
    Experiment,
    GridConfig,
    OptimizerConfig,
    TrainConfig,
    mark_resolved,
    with_schedule,
)
from anchorjax.importing import dotted_name

# What a field of a task or a model may hold: the manifest is JSON.
_PLAIN = (bool, int, float, str, NoneType)


def default(
    task: str = 'anchors', model: str = 'transformer', size: str = ''
) -> ml_collections.ConfigDict:
    """A locked ConfigDict of the defaults (the paper's), for a config file to edit.

    Args:
      size: of the model, one of its `sizes`: 'tiny', for model 'gpt2'.

    Raises:
      ConfigError: there is no such task, model or size.
    """
    classes = _find_classes({'task': {'name': task}, 'model': {'name': model}})
    values = {}
    for group, cls in classes.items():
        values[group] = {f.name: f.default for f in dataclasses.fields(cls)}
    if size:
        sizes = classes['model'].sizes
        allowed = f'one of {tuple(sizes)}, the sizes of {model!r}'
        require(size in sizes, 'size', size, allowed)
        values['model'] |= sizes[size]
    config = ml_collections.ConfigDict({'name': 'sweep', **values, 'static_axes': ()})
    return config.lock()


def resolve(config: ml_collections.ConfigDict) -> Experiment:
    """The Experiment that a config describes.

    Raises:
      ConfigError: the line names a field, its value and what is allowed.
    """
    forget_changed_files()
    return from_dict(config.to_dict())


def from_json(values: dict) -> Experiment:
    """As `from_dict`, for values read from JSON, which has lists for tuples."""
    return from_dict(schema.tuples_from_lists(values))


def from_dict(values: dict) -> Experiment:
    """As `resolve`, from a nested dict of plain values."""
    known = [field.name for field in dataclasses.fields(Experiment)]
    for name in values:
        if name not in known:
            raise ConfigError(f'{name}: no such field, {nearest(str(name), known)}')
    for name in known:
        require(name in values, name, None, 'given')
    groups = {}
    for group, cls in _find_classes(values).items():
        is_group = isinstance(values[group], dict)
        require(is_group, group, values[group], 'a group of fields')
        groups[group] = schema.build(cls, values[group], group)
    static_axes = _as_plain(values['static_axes'])
    experiment = Experiment(name=values['name'], **groups, static_axes=static_axes)
    consistency.check_static_axes(experiment)
    _require_sizes(values)
    # Marked first: its cohorts, which the check makes, are kept with it.
    experiment = mark_resolved(with_schedule(experiment))
    consistency.check_experiment(experiment)
    return experiment


def to_dict(experiment: Experiment) -> dict:
    """The experiment as a nested dict of plain values; `from_dict` is the inverse."""
    return dataclasses.asdict(experiment)


def _reduce(experiment: Experiment) -> Any:
    """How it is pickled: by the dotted names of its task and model.

    Pickle by itself would import the module of a config file, whose name is a path.
    """
    if not experiment.is_resolved:
        return object.__reduce_ex__(experiment, 2)
    origins = {name: dotted_name(type(getattr(experiment, name))) for name in TABLES}
    return _rebuild, (to_dict(experiment), origins)


def _rebuild(values: dict, origins: dict[str, str]) -> Experiment:
    for group, origin in origins.items():
        if origin:
            TABLES[group].setdefault(values[group]['name'], origin)
    return from_dict(values)


copyreg.pickle(Experiment, _reduce)


def override(config: ml_collections.ConfigDict, path: str, text: str) -> None:
    """Sets one field from the command line: override(c, 'grid.gamma', '0.3,0.5').

    Raises:
      ConfigError: there is no such field (the line has the nearest name), or the text
        cannot be read as a value of its type.
    """
    node: Any = config
    for part in path.split('.'):
        known = list(node) if isinstance(node, ml_collections.ConfigDict) else []
        if part not in known:
            full = find_path(config, path.removeprefix('grid.'))
            hint = f'did you mean {full!r}?' if full else nearest(part, known)
            if path.startswith('grid.') and consistency.can_be_static(full):
                value = schema.literal_or_text(text)
                values = value if isinstance(value, tuple) else (value,)
                hint = f'as an axis: --config.static_axes="{((full, values),)}"'
            raise ConfigError(f'{path}: no such field, {hint}')
        parent, node = node, node[part]
    is_field = not isinstance(node, ml_collections.ConfigDict)
    require(is_field, path, text, 'given field by field')
    if path in ('task.name', 'model.name'):
        group = path.removesuffix('.name')
        allowed = f'{node!r}, as another has other fields: config.default({group}=...)'
        require(text == node, path, text, f'{allowed} in a config file')
    value = schema.parse_word(text, node, path)
    try:
        with parent.ignore_type():
            parent[part] = value
    except OverflowError:  # an integer that is no float
        raise ConfigError(f'{path} = {text}: must be finite') from None


def find_path(config: ml_collections.ConfigDict, field: str) -> str:
    """'grid.gamma' of the field 'gamma', 'name' of 'name'; '' if there is none."""
    groups = {}
    for group, fields in config.items():
        if isinstance(fields, ml_collections.ConfigDict):
            groups[group] = fields
    if field in config and field not in groups:
        return field
    return next((f'{group}.{field}' for group in groups if field in groups[group]), '')


def set_length(
    config: ml_collections.ConfigDict, num_steps: int, num_records: int
) -> None:
    """Sets num_steps, a warm-up of the first tenth, and the number of records."""
    config.train.num_steps = num_steps
    config.train.eval_every = num_steps // num_records
    config.optimizer.warmup_steps = num_steps // 10


def log_spaced(num_steps: int, count: int) -> tuple[int, ...]:
    """Up to `count` > 1 distinct steps from 1 to num_steps, even on a log scale."""
    steps = {round(num_steps ** (i / (count - 1))) for i in range(count)}
    return tuple(sorted(steps))


def _find_classes(values: dict[str, Any]) -> dict[str, type]:
    """The dataclass of each group; task and model are looked up by name."""
    classes = {'optimizer': OptimizerConfig, 'train': TrainConfig, 'grid': GridConfig}
    for group in ('task', 'model'):
        is_group = isinstance(values[group], dict)
        name = values[group].get('name') if is_group else None
        classes[group] = find_class(group, name)
        _require_plain_fields(classes[group], group)
    return classes


def _require_plain_fields(cls: Any, group: str) -> None:
    """Raises ConfigError unless a class of one's own can stand in a manifest."""
    name = cls.__qualname__
    settings = getattr(cls, '__dataclass_params__', None)
    is_frozen = settings is not None and settings.frozen
    require(is_frozen, f'{group}: the class', name, 'a frozen dataclass')
    for field in dataclasses.fields(cls):
        is_plain = _is_plain(field.default)
        allowed = 'a field with a default: a number, a bool, a text, a tuple or None'
        where = f'{group}.{field.name} of {name}'
        require(is_plain and field.init, where, field.type, allowed)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _as_plain(value: Any) -> Any:
    """Python's numbers for NumPy's, as in tuple(np.arange(2, 5)): for the manifest."""
    if isinstance(value, tuple):
        return tuple(_as_plain(inner) for inner in value)
    return value.item() if isinstance(value, np.generic) else value


def _require_sizes(values: dict) -> None:
    """Sizes at 0 follow the width once, so they cannot follow one in static_axes."""
    paths = [path for path, _ in values['static_axes']]
    for path, followers in (
        ('model.width', ('head_dim', 'mlp_dim')),
        ('model.heads', ('head_dim',)),
    ):
        for field in followers:
            follows = values['model'].get(field) == 0 and f'model.{field}' not in paths
            allowed = f'given, or in static_axes, as {path} is'
            require(not (path in paths and follows), f'model.{field}', 0, allowed)
