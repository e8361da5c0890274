"""From plain values to one valid `Experiment`; every error names its field.

A config file builds a locked ConfigDict from `default()` and edits it; `resolve` turns
it into an Experiment, or raises a ConfigError before anything is compiled or written.
"""

import dataclasses
from typing import Any

import ml_collections

from anchorjax import models, tasks
from anchorjax.config import consistency, schema
from anchorjax.config.experiment import Experiment, with_schedule
from anchorjax.config.groups import GridConfig, OptimizerConfig, TrainConfig
from anchorjax.errors import ConfigError, brief, nearest, require
from anchorjax.limits import check_value

_GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')


def default(
    task: str = 'anchors', model: str = 'transformer', size: str = ''
) -> ml_collections.ConfigDict:
    """A locked ConfigDict of the defaults (the paper's), for a config file to edit.

    Args:
      size: of the model, a name in its row of MODELS: 'tiny', for model 'gpt2'.

    Raises:
      ConfigError: there is no such task, model or size.
    """
    classes = _find_classes({'task': {'name': task}, 'model': {'name': model}})
    values = {group: dataclasses.asdict(cls()) for group, cls in classes.items()}
    if size:
        sizes = models.MODELS[model].sizes
        allowed = f'one of {tuple(sizes)}, the sizes of {model!r}'
        require(size in sizes, 'size', size, allowed)
        values['model'] = dataclasses.asdict(sizes[size])
    config = ml_collections.ConfigDict({'name': 'sweep', **values, 'loop': ()})
    return config.lock()


def resolve(config: ml_collections.ConfigDict) -> Experiment:
    """The Experiment that a config describes.

    Raises:
      ConfigError: the line names a field, its value and what is allowed.
    """
    return from_dict(config.to_dict())


def from_json(values: dict) -> Experiment:
    """As `from_dict`, for values read from JSON, which has lists for tuples."""
    return from_dict(schema.tuples_from_lists(values))


def from_dict(values: dict) -> Experiment:
    """As `resolve`, from a nested dict of plain values."""
    try:
        experiment = _build(values)
        consistency.check_experiment(experiment)
    except ConfigError as e:  # its names and values may come from any file
        raise ConfigError(brief(str(e))) from None
    return experiment


def to_dict(experiment: Experiment) -> dict:
    """The experiment as a nested dict of plain values; `from_dict` is the inverse."""
    return dataclasses.asdict(experiment)


def to_config(experiment: Experiment) -> ml_collections.ConfigDict:
    """The experiment as a locked ConfigDict, to edit; `resolve` is the inverse.

    A schedule as long as training is 0 there, as long as training will be: a manifest
    does not tell whether the length was given or filled in.
    """
    values = to_dict(experiment)
    if experiment.optimizer.schedule_steps == experiment.train.num_steps:
        values['optimizer']['schedule_steps'] = 0
    return ml_collections.ConfigDict(values).lock()


def override(config: ml_collections.ConfigDict, path: str, text: str) -> None:
    """Sets one field from the command line: override(c, 'grid.gamma', '0.3,0.5').

    Raises:
      ConfigError: there is no such field (the line has the nearest name), or the text
        cannot be read as a value of its type.
    """
    node = config
    for part in path.split('.'):
        known = list(node) if isinstance(node, ml_collections.ConfigDict) else []
        if part not in known:
            hint = nearest(part, known)
            raise ConfigError(brief(f'{path}: no such field, {hint}'))
        parent, node = node, node[part]
    is_field = not isinstance(node, ml_collections.ConfigDict)
    require(is_field, path, text, 'given field by field')
    if path in ('task.name', 'model.name'):
        group = path.removesuffix('.name')
        allowed = f'{node!r}, as another has other fields: config.default({group}=...)'
        require(text == node, path, text, f'{allowed} in a config file')
    try:
        value = schema.parse_word(text, node, path)
    except ConfigError as e:
        raise ConfigError(brief(str(e))) from None
    try:
        with parent.ignore_type():
            parent[part] = value
    except OverflowError:  # an integer that is no float
        raise ConfigError(brief(f'{path} = {text}: must be finite')) from None


def set_length(
    config: ml_collections.ConfigDict, num_steps: int, num_records: int
) -> None:
    """So many steps, of which the first tenth is the warm-up, and so many records."""
    config.train.num_steps = num_steps
    config.train.eval_every = num_steps // num_records
    config.optimizer.warmup_steps = num_steps // 10


def log_spaced(num_steps: int, count: int) -> tuple[int, ...]:
    """Up to `count` > 1 distinct steps from 1 to num_steps, even on a log scale."""
    steps = {round(num_steps ** (i / (count - 1))) for i in range(count)}
    return tuple(sorted(steps))


def _build(values: dict) -> Experiment:
    """The Experiment of a dict, in which each group is checked by itself."""
    known = [field.name for field in dataclasses.fields(Experiment)]
    for name in values:
        if name not in known:
            raise ConfigError(f'{name}: no such field, {nearest(str(name), known)}')
    for name in known:
        require(name in values, name, None, 'given')
    for group in _GROUPS:
        is_group = isinstance(values[group], dict)
        require(is_group, group, values[group], 'a group of fields')
    name = check_value(values['name'], str, 'name')
    classes = _find_classes(values)
    groups = {}
    for group, cls in classes.items():
        groups[group] = schema.build(cls, values[group], group)
    consistency.check_loop(values['loop'], classes)
    return with_schedule(Experiment(name=name, **groups, loop=values['loop']))


def _find_classes(values: dict[str, dict[str, Any]]) -> dict[str, type]:
    """The dataclass of each group; task and model are looked up by name."""
    classes = {'optimizer': OptimizerConfig, 'train': TrainConfig, 'grid': GridConfig}
    for group, table in (('task', tasks.TASKS), ('model', models.MODELS)):
        name = values[group].get('name')
        is_known = isinstance(name, str) and name in table
        require(is_known, f'{group}.name', name, f'one of {tuple(table)}')
        # A task's config is its own entry.
        classes[group] = table[name] if group == 'task' else table[name].config
    return classes
