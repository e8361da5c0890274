"""What no single group of a config can see: its static axes, its size, its parts together."""

import dataclasses
import math
import re
import typing

from anchorjax import tasks
from anchorjax.config import schema
from anchorjax.config.groups import MOST_STEPS
from anchorjax.errors import ConfigError, nearest, require

# Fields of train that are no axis: all cohorts share one layout and one cube of results.
_SHARED = (
    *('num_steps', 'eval_every', 'snapshot_steps', 'resume_every'),
    *('precision', 'lanes', 'batch_devices'),
)
# A name is a folder, runs/<name>, so it must not lead elsewhere.
_NAME = r'\w[\w.,=+-]{0,99}'
_NAMED = 'at most 100 of A-Z a-z 0-9 _ . , = + -, and none of . , = + - the first'
_FOLDER = 200  # bytes of a cohort's name, a folder; file systems end at 255
_MEMBERS, _COHORTS = 10**5, 10**3
_CELLS = 10**7  # members times rows: results are read whole, 80 numbers each


def name(value: str) -> None:
    """Raises ConfigError unless a folder can have this name."""
    require(re.fullmatch(_NAME, value, re.ASCII), 'name', value, _NAMED)


def loop(given, parts: dict[str, type]) -> tuple:
    """The static axes, of known fields and their types; raises ConfigError."""
    require(isinstance(given, tuple), 'loop', given, 'a tuple of (path, values)')
    for i, entry in enumerate(given):
        shaped = (
            isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        )
        require(
            shaped, f'loop[{i}]', entry, "(path, values), e.g. ('model.depth', (2, 3))"
        )
        _axis(i, *entry, parts)
    return tuple((path, tuple(values)) for path, values in given)


def _axis(i: int, path: str, values: tuple, parts: dict[str, type]) -> None:
    group, _, name = path.partition('.')
    static = {g: typing.get_type_hints(c) for g, c in parts.items() if g != 'grid'}
    known = [f'{g}.{n}' for g, names in static.items() for n in names]
    own = not (group == 'train' and name in _SHARED)
    require(own, f'loop[{i}]', path, 'another field: all cohorts share this one')
    if path not in known:
        raise ConfigError(
            f'loop[{i}]: no static field {path!r}, {nearest(path, known)}'
        )
    several = isinstance(values, tuple) and len(values) > 0
    require(several, f'loop[{i}] ({path})', values, 'a tuple of at least one value')
    checked = [schema.check_value(value, static[group][name], path) for value in values]
    require(len(set(checked)) == len(values), f'loop[{i}] ({path})', values, 'distinct')


def folder(name: str) -> None:
    """Raises ConfigError when the name of a cohort is too long for a folder."""
    short = len(name.encode()) <= _FOLDER
    require(
        short,
        'loop',
        name,
        f'of values whose names are at most {_FOLDER} bytes long together',
    )


def size(e) -> None:
    """Raises ConfigError when there are too many members or rows to hold."""
    cohorts = math.prod(len(values) for _, values in e.loop)
    require(
        cohorts <= _COHORTS,
        'loop',
        cohorts,
        f'at most {_COHORTS:,} combinations of values',
    )
    traced = math.prod(len(values) for values in dataclasses.asdict(e.grid).values())
    members, rows = traced * cohorts, len(e.record_steps)
    require(members <= _MEMBERS, 'grid', members, f'at most {_MEMBERS:,} members')
    allowed = f'few enough for {_CELLS:,} rows of curves in all, not {members:,} times {rows:,}'
    require(members * rows <= _CELLS, 'grid', members, allowed)


def together(e) -> None:
    """Raises ConfigError when the groups of an experiment contradict each other."""
    length, steps = e.optimizer.schedule_steps, e.train.num_steps
    warmup = e.optimizer.warmup_steps if e.optimizer.shape != 'constant' else 0
    require(
        warmup <= length,
        'optimizer.warmup_steps',
        warmup,
        f'at most the schedule, {length}',
    )
    require(
        steps <= length,
        'train.num_steps',
        steps,
        f'at most optimizer.schedule_steps, {length}',
    )
    floor, lowest = e.optimizer.floor, min(e.grid.learning_rate)
    require(
        floor <= lowest,
        'optimizer.floor',
        floor,
        f'at most every grid.learning_rate, {lowest}',
    )
    longest = e.model.max_len
    require(
        e.task.seq_len <= longest,
        'task.seq_len',
        e.task.seq_len,
        f'at most model.max_len, {longest}',
    )
    require(
        length <= MOST_STEPS,
        'optimizer.schedule_steps',
        length,
        f'at most {MOST_STEPS:,}',
    )
    examples = tasks.make(e.task).num_train
    allowed = f'at most the {examples} training examples'
    require(
        e.train.batch_size <= examples, 'train.batch_size', e.train.batch_size, allowed
    )
