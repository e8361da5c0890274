"""Checks that no group of a config can make alone: axes, size, contradictions."""

import dataclasses
import math
import re
from typing import Any

from anchorjax.config.experiment import Experiment
from anchorjax.config.grid import TRACED_AXES, WINDOWS, name_axes, short_name
from anchorjax.errors import ConfigError, nearest, require
from anchorjax.limits import check_value, declared_fields
from anchorjax.models.gpt2_config import GPT2Config

# Fields that cannot be axes: all cohorts share one task, one layout, one cube.
_SHARED_FIELDS = (
    'task.name',
    'model.name',
    'train.num_steps',
    'train.eval_every',
    'train.snapshot_steps',
    'train.resume_every',
    'train.precision',
    'train.converged_loss',
    'train.lanes',
    'train.batch_devices',
    'train.shard_params',
)
# A name is a folder, runs/<name>, so it must not lead elsewhere.
_NAME_PATTERN = r'\w[\w.,=+-]{0,99}'
_NAME_RULE = 'at most 100 of A-Z a-z 0-9 _ . , = + -, the first a letter, digit or _'
_LONGEST_COHORT = 200  # bytes of a cohort's folder name; file systems end at 255
_MOST_MEMBERS = 10**5
_MOST_COHORTS = 10**3
_MOST_CELLS = 10**7  # members times rows of curves; all are read, 80 numbers each


def check_name(name: str) -> None:
    """Raises ConfigError unless the name can be that of a folder."""
    is_plain = re.fullmatch(_NAME_PATTERN, name, re.ASCII) is not None
    require(is_plain, 'name', name, _NAME_RULE)


def check_loop(loop: Any, classes: dict[str, type]) -> None:
    """Raises ConfigError unless `loop` holds known static fields with allowed values.

    Args:
      classes: the dataclass of each group.
    """
    require(isinstance(loop, tuple), 'loop', loop, 'a tuple of (path, values)')
    static_fields = {}
    for group, cls in classes.items():
        for name, hint in declared_fields(cls).items():
            if group != 'grid':
                static_fields[f'{group}.{name}'] = hint
    for i, entry in enumerate(loop):
        is_pair = isinstance(entry, tuple) and len(entry) == 2
        allowed = "(path, values), e.g. ('model.depth', (2, 3))"
        require(is_pair and isinstance(entry[0], str), f'loop[{i}]', entry, allowed)
        path, values = entry
        _check_axis(f'loop[{i}]', path, values, static_fields)


def _check_axis(
    field: str, path: str, values: Any, static_fields: dict[str, Any]
) -> None:
    is_shared = path in _SHARED_FIELDS
    require(not is_shared, field, path, 'another field: all cohorts share this one')
    if path not in static_fields:
        hint = nearest(path, static_fields)
        raise ConfigError(f'{field}: no static field {path!r}, {hint}')
    field = f'{field} ({path})'
    is_filled = isinstance(values, tuple) and len(values) > 0
    require(is_filled, field, values, 'a tuple of at least one value')
    checked = {check_value(value, static_fields[path], path) for value in values}
    require(len(checked) == len(values), field, values, 'distinct')


def check_experiment(experiment: Experiment) -> None:
    """Raises ConfigError if the sweep or one of its cohorts cannot be trained."""
    check_name(experiment.name)
    check_axis_names(experiment)
    check_groups(experiment)
    check_size(experiment)
    for cohort in experiment.cohorts():
        require(
            len(cohort.folder_name.encode()) <= _LONGEST_COHORT,
            'loop',
            cohort.folder_name,
            f'of values whose names have at most {_LONGEST_COHORT} bytes together '
            '(/ and % have 3)',
        )
        check_groups(experiment.for_cohort(cohort))


def check_axis_names(experiment: Experiment) -> None:
    """Raises ConfigError if two axes have the same short name."""
    names = [short_name(path) for path, _ in experiment.loop]
    names += (*TRACED_AXES, WINDOWS)
    for name in names:
        if names.count(name) > 1:
            line = f'loop: two axes are called {name!r}; every axis needs its own name'
            raise ConfigError(line)


def check_size(experiment: Experiment) -> None:
    """Raises ConfigError if there are too many cohorts, members or rows of curves."""
    num_cohorts = math.prod(len(values) for _, values in experiment.loop)
    allowed = f'at most {_MOST_COHORTS:,} combinations of values'
    require(num_cohorts <= _MOST_COHORTS, 'loop', num_cohorts, allowed)
    traced = name_axes(dataclasses.asdict(experiment.grid), ())
    num_members = num_cohorts * math.prod(len(values) for values in traced.values())
    allowed = f'at most {_MOST_MEMBERS:,} members'
    require(num_members <= _MOST_MEMBERS, 'grid', num_members, allowed)
    rows = len(experiment.record_steps)
    require(
        num_members * rows <= _MOST_CELLS,
        'grid',
        num_members,
        f'few enough for {_MOST_CELLS:,} rows of curves in all, '
        f'not {num_members:,} times {rows:,}',
    )


def check_groups(experiment: Experiment) -> None:
    """Raises ConfigError if the groups of an experiment contradict each other."""
    optimizer, train = experiment.optimizer, experiment.train
    length = optimizer.schedule_steps
    warmup = optimizer.warmup_steps if optimizer.shape != 'constant' else 0
    # Left at 0, the schedule is as long as training, so only a given one is too short.
    require(
        train.num_steps <= length,
        'optimizer.schedule_steps',
        length,
        f'at least train.num_steps, {train.num_steps}, or 0 to be as long',
    )
    require(
        warmup <= length,
        'optimizer.warmup_steps',
        warmup,
        f'at most the schedule, {length}',
    )
    lowest_rate = min(experiment.grid.learning_rate)
    require(
        optimizer.floor <= lowest_rate,
        'optimizer.floor',
        optimizer.floor,
        f'at most every grid.learning_rate, {lowest_rate}',
    )
    for window in experiment.grid.decay_window:
        require(
            not window or window[-1] <= train.num_steps,
            'grid.decay_window',
            window,
            f'within train.num_steps, {train.num_steps}',
        )
    model = experiment.model
    if isinstance(model, GPT2Config) and model.start:
        gammas = experiment.grid.gamma
        allowed = 'a single value: members that start from model.start have no gamma'
        require(len(gammas) == 1, 'grid.gamma', gammas, allowed)
    task = experiment.task.make()
    experiment.model.require_fit(task.seq_len, task.vocab)
    require(
        train.batch_size <= task.num_train,
        'train.batch_size',
        train.batch_size,
        f'at most the {task.num_train} training examples',
    )
