"""Checks that no group of a config can make alone: axes, names, contradictions."""

import re
from typing import Any

from anchorjax.errors import ConfigError, nearest, require
from anchorjax.experiment import Experiment
from anchorjax.grid import TRACED_AXES, WINDOWS, short_name
from anchorjax.limits import are_distinct, declared_fields
from anchorjax.models import edges
from anchorjax.tasks.columns import list_names

_STATIC_GROUPS = ('task', 'model', 'optimizer')
# A name is a folder, runs/<name>, so it must not lead elsewhere.
_NAME_PATTERN = r'\w[\w.,=+-]{0,99}'
_NAME_RULE = 'at most 100 of A-Z a-z 0-9 _ . , = + -, the first a letter, digit or _'


def check_name(name: Any) -> None:
    """Raises ConfigError unless the name can be that of a folder."""
    is_text = isinstance(name, str)
    is_plain = is_text and re.fullmatch(_NAME_PATTERN, name, re.ASCII) is not None
    require(is_plain, 'name', name, _NAME_RULE)


def check_static_axes(experiment: Experiment) -> None:
    """Raises ConfigError unless these are static fields, each with its values."""
    static_axes = experiment.static_axes
    require(
        isinstance(static_axes, tuple),
        'static_axes',
        static_axes,
        'a tuple of (path, values)',
    )
    fields = _list_static_fields(experiment)
    for i, entry in enumerate(static_axes):
        is_pair = isinstance(entry, tuple) and len(entry) == 2
        allowed = "(path, values), e.g. ('model.depth', (2, 3))"
        require(
            is_pair and isinstance(entry[0], str), f'static_axes[{i}]', entry, allowed
        )
        path, values = entry
        if path not in fields:
            hint = nearest(path, fields)
            raise ConfigError(f'static_axes[{i}]: {path!r} cannot be an axis, {hint}')
        is_filled = isinstance(values, tuple) and len(values) > 0
        allowed = 'a tuple of at least one value'
        require(is_filled, f'static_axes[{i}] ({path})', values, allowed)
    names = [short_name(path) for path, _ in static_axes]
    names += (*TRACED_AXES, WINDOWS)
    for name in names:
        allowed = 'the name of one axis; two are called so'
        require(names.count(name) == 1, 'static_axes', name, allowed)


def _list_static_fields(experiment: Experiment) -> list[str]:
    fields = []
    for group in ('train', *_STATIC_GROUPS):
        for name in declared_fields(type(getattr(experiment, group))):
            fields.append(f'{group}.{name}')
    return list(filter(can_be_static, fields))


def can_be_static(path: str) -> bool:
    """Whether a field can be an axis: all cohorts share one task, layout and cube."""
    group, _, name = path.partition('.')
    return path == 'train.batch_size' or (group in _STATIC_GROUPS and name != 'name')


def check_experiment(experiment: Experiment) -> None:
    """Raises ConfigError if the sweep or one of its cohorts cannot be trained."""
    check_name(experiment.name)
    for of_cohort in experiment.of_cohorts.values():
        _check_groups(of_cohort)
        names = list_names(of_cohort.task.make())
        for path, _ in experiment.static_axes:
            allowed = 'none that results.nc or members.csv has of its own'
            name = short_name(path)
            require(name not in names, 'static_axes: the name', name, allowed)
    for path, values in experiment.static_axes:
        require(
            are_distinct(values),
            f'static_axes ({path})',
            values,
            'distinct (in float32)',
        )
        allowed = 'without None, which tables take for a missing value'
        require(None not in values, f'static_axes ({path})', values, allowed)


def _check_groups(experiment: Experiment) -> None:
    """Raises ConfigError if the groups of an experiment contradict each other."""
    optimizer, train, grid = experiment.optimizer, experiment.train, experiment.grid
    length = optimizer.schedule_steps
    warmup = optimizer.warmup_steps if optimizer.shape != 'constant' else 0
    # Left at 0, the schedule is as long as training, so only a given one is too short.
    allowed = f'at least train.num_steps, {train.num_steps}, or 0 to be as long'
    require(train.num_steps <= length, 'optimizer.schedule_steps', length, allowed)
    allowed = f'at most the schedule, {length}'
    require(warmup <= length, 'optimizer.warmup_steps', warmup, allowed)
    lowest = min(grid.learning_rate)
    allowed = f'at most every grid.learning_rate, {lowest}'
    require(optimizer.floor <= lowest, 'optimizer.floor', optimizer.floor, allowed)
    for window in grid.decay_window:
        is_within = not window or window[-1] <= train.num_steps
        allowed = f'within train.num_steps, {train.num_steps}'
        require(is_within, 'grid.decay_window', window, allowed)
    model = experiment.model
    if not model.is_drawn:
        allowed = 'a single value: members that start from model.start have no gamma'
        require(len(grid.gamma) == 1, 'grid.gamma', grid.gamma, allowed)
    is_possible = train.precision != 'bfloat16' or model.has_mixed_precision
    allowed = f"'float32' or 'tensorfloat32', with model.name = {model.name!r}"
    require(is_possible, 'train.precision', train.precision, allowed)
    task = experiment.task.make()
    model.require_fit(task.seq_len, task.vocab)
    edges.require_edges(model, experiment.task.name, task.role_names)
    allowed = f'at most the {task.num_train} training examples'
    is_enough = train.batch_size <= task.num_train
    require(is_enough, 'train.batch_size', train.batch_size, allowed)
