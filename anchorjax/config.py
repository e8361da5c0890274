"""One frozen `Experiment` from a config: every field typed, checked and named in its error.

A config file builds a locked ConfigDict from `default()` and edits it; `resolve` turns it into
an Experiment or raises a ConfigError before anything is compiled or written.
"""

import dataclasses
import math
import re
import typing

import ml_collections

from anchorjax import fields, grid, models, tasks
from anchorjax.errors import ConfigError, brief, nearest, require
from anchorjax.optimizers import OptimizerConfig

AUTO = -1
# Fields of train that are no axis: all cohorts share one layout and one cube of results.
_SHARED = (
    *('num_steps', 'eval_every', 'snapshot_steps', 'resume_every'),
    *('precision', 'lanes', 'batch_devices'),
)
_GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')
PRECISIONS = ('float32', 'tensorfloat32', 'bfloat16')
# A name is a folder, runs/<name>, so it must not lead elsewhere.
_NAME = r'\w[\w.,=+-]{0,99}'
_NAMED = 'at most 100 of A-Z a-z 0-9 _ . , = + -, and none of . , = + - the first'
# Far beyond any use: a slip of the finger is a line, not a hang or a killed process.
_STEPS, _ROWS, _LANES, _MEMBERS, _COHORTS = 10**9, 10**5, 2**12, 10**5, 10**3
_CELLS = 10**7  # members times rows: results are read whole, 80 numbers each
_RATE = (1e-30, 1e6)
_FOLDER = 200  # bytes of a cohort's name, a folder; file systems end at 255


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Length and layout of training. Defaults are P1's: 210 epochs of 370 steps (PAPERS 1.3)."""

    batch_size: int = 2048
    num_steps: int = 77_700
    eval_every: int = 370  # steps between two rows of the curves
    snapshot_steps: tuple[int, ...] = ()  # keep the parameters here too; the last step always
    resume_every: float = 60.0  # seconds between two saves of the resume state
    precision: str = 'float32'  # of matrix products
    lanes: int = AUTO  # members side by side on a device (their bits hang on it); -1: auto
    batch_devices: int = 1  # devices that share the batch of a member: for few and large ones

    def __post_init__(self):
        for field in ('batch_size', 'num_steps', 'eval_every', 'batch_devices'):
            value = getattr(self, field)
            require(value >= 1, f'train.{field}', value, 'at least 1')
        require(self.num_steps <= _STEPS, 'train.num_steps', self.num_steps, f'at most {_STEPS:,}')
        rows = self.num_steps // self.eval_every + len(self.snapshot_steps)
        few = f'large enough that the curves have at most {_ROWS:,} rows, not {rows:,}'
        require(rows <= _ROWS, 'train.eval_every', self.eval_every, few)
        inside = all(0 <= s <= self.num_steps for s in self.snapshot_steps)
        steps = f'steps from 0 to {self.num_steps}'
        require(inside, 'train.snapshot_steps', self.snapshot_steps, steps)
        split = self.batch_size % self.batch_devices == 0
        divisor = f'a divisor of train.batch_size, {self.batch_size}'
        require(split, 'train.batch_devices', self.batch_devices, divisor)
        require(self.resume_every >= 0, 'train.resume_every', self.resume_every, 'at least 0')
        require(self.precision in PRECISIONS, 'train.precision', self.precision, f'in {PRECISIONS}')
        lanes = 1 <= self.lanes <= _LANES or self.lanes == AUTO
        allowed = f'at least 1, or {AUTO} for auto, and at most {_LANES:,}'
        require(lanes, 'train.lanes', self.lanes, allowed)


@dataclasses.dataclass(frozen=True)
class GridConfig:
    """The traced axes: always tuples, even of one. The sweep is their product."""

    gamma: tuple[float, ...] = (0.3, 0.5, 0.8)
    learning_rate: tuple[float, ...] = (2.5e-4,)
    weight_decay: tuple[float, ...] = (0.01,)
    seed: tuple[int, ...] = (0,)

    def __post_init__(self):
        for axis, values in dataclasses.asdict(self).items():
            distinct = len(values) > 0 and len(set(values)) == len(values)
            require(distinct, f'grid.{axis}', values, 'at least one value, all distinct')
        sizes = max(map(abs, self.gamma))
        require(sizes <= 100, 'grid.gamma', self.gamma, 'from -100 to 100')
        rates, (low, high) = self.learning_rate, _RATE
        inside = low <= min(rates) and max(rates) <= high
        require(inside, 'grid.learning_rate', rates, f'positive, from {low:g} to {high:g}')
        decays = self.weight_decay
        inside = min(decays) >= 0 and max(decays) <= high
        require(inside, 'grid.weight_decay', decays, f'at least 0, at most {high:g}')
        seeds = all(0 <= s < 2**31 for s in self.seed)
        require(seeds, 'grid.seed', self.seed, 'in [0, 2^31)')


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Everything a sweep is: hashable, valid. `at` gives the experiment of one cohort."""

    name: str
    task: tasks.AnchorsConfig
    model: models.TransformerConfig
    optimizer: OptimizerConfig
    train: TrainConfig
    grid: GridConfig
    loop: tuple[tuple[str, tuple], ...] = ()

    def __post_init__(self):
        train, optimizer = self.train, self.optimizer
        length = optimizer.schedule_steps or train.num_steps
        object.__setattr__(self, 'optimizer', dataclasses.replace(optimizer, schedule_steps=length))
        require(re.fullmatch(_NAME, self.name, re.ASCII), 'name', self.name, _NAMED)
        _check_together(self)
        _check_size(self)
        _ = self.axes  # their names are distinct
        for cohort in self.cohorts() if self.loop else ():
            _check_folder(cohort.name)
            self._check_cohort(self.at(cohort.static))

    @property
    def axes(self) -> dict[str, tuple]:
        """Values of every axis by its short name; the dims of the results."""
        return grid.axes(dataclasses.asdict(self.grid), self.loop)

    @property
    def record_steps(self) -> tuple[int, ...]:
        """Steps at which a row of the curves is kept: evaluations, snapshots and the end."""
        t = self.train
        ends = {*range(t.eval_every, t.num_steps, t.eval_every), *t.snapshot_steps, t.num_steps}
        return tuple(sorted(ends - {0}))

    def _check_cohort(self, cohort: 'Experiment') -> None:
        """The results of all cohorts share one cube, so their probes have the same names."""
        names, ours = (tasks.make(e.task).probe_names for e in (cohort, self))
        require(names == ours, 'loop', self.loop, f'of cohorts with the same probes, {ours}')

    def cohorts(self) -> tuple[grid.Cohort, ...]:
        return grid.cohorts(dataclasses.asdict(self.grid), self.loop)

    def at(self, static: tuple[tuple[str, object], ...]) -> 'Experiment':
        """This experiment with a cohort's static overrides in place and no loop."""
        values = to_dict(self) | {'loop': ()}
        for path, value in static:
            group, name = path.split('.')
            values[group] = values[group] | {name: value}
        return from_dict(values)


def default(task: str = 'anchors', model: str = 'transformer') -> ml_collections.ConfigDict:
    """A locked ConfigDict of the paper's values, to be edited by a config file.

    Raises:
      ConfigError: no such task or model.
    """
    parts = _classes({'task': {'name': task}, 'model': {'name': model}})
    values = {group: dataclasses.asdict(cls()) for group, cls in parts.items()}
    config = ml_collections.ConfigDict({'name': 'sweep', **values, 'loop': ()})
    return config.lock()


def resolve(config: ml_collections.ConfigDict) -> Experiment:
    """The Experiment a config describes.

    Raises:
      ConfigError: in one line, the field, its value and what is allowed.
    """
    return from_dict(config.to_dict())


def from_json(values: dict) -> Experiment:
    """The Experiment of `to_dict` after JSON, which turns tuples into lists."""
    return from_dict(fields.tuples(values))


def from_dict(values: dict) -> Experiment:
    """The Experiment of a nested dict of plain values; see `resolve`."""
    try:
        return _built(values)
    except ConfigError as e:  # the names and values in it are anyone's
        raise ConfigError(brief(str(e))) from None


def _built(values: dict) -> Experiment:
    known = [f.name for f in dataclasses.fields(Experiment)]
    for name in values:
        if name not in known:
            raise ConfigError(f'{name}: no such field, {nearest(str(name), known)}')
    for name in known:
        require(name in values, name, None, 'given')
    for group in _GROUPS:
        require(isinstance(values[group], dict), group, values[group], 'a group of fields')
    parts = _classes(values)
    built = {group: fields.build(cls, values[group], group) for group, cls in parts.items()}
    name = fields.check(values['name'], str, 'name')
    return Experiment(name=name, **built, loop=_check_loop(values['loop'], parts))


def to_dict(experiment: Experiment) -> dict:
    """Nested dict of plain values; `from_dict` gives the experiment back."""
    return fields.to_dict(experiment)


def override(config: ml_collections.ConfigDict, path: str, text: str) -> None:
    """Sets one field from the command line: override(c, 'grid.gamma', '0.3,0.5').

    Raises:
      ConfigError: no such field (with the nearest name), or a value that cannot be read.
    """
    *groups, name = path.split('.')
    node = config
    for part in [*groups, name]:
        if not isinstance(node, ml_collections.ConfigDict) or part not in node:
            known = list(node) if isinstance(node, ml_collections.ConfigDict) else []
            raise ConfigError(brief(f'{path}: no such field, {nearest(part, known)}'))
        parent, node = node, node[part]
    require(not isinstance(node, ml_collections.ConfigDict), path, text, 'given field by field')
    try:
        value = fields.parse(text, node, path)
    except ConfigError as e:
        raise ConfigError(brief(str(e))) from None
    with parent.ignore_type():
        parent[name] = value


def log_spaced(num_steps: int, count: int) -> tuple[int, ...]:
    """`count` or fewer distinct steps from 1 to num_steps, evenly spaced in their logarithm."""
    return tuple(sorted({round(num_steps ** (i / (count - 1))) for i in range(count)}))


def _classes(values: dict) -> dict[str, type]:
    parts = {'optimizer': OptimizerConfig, 'train': TrainConfig, 'grid': GridConfig}
    for group, table in (('task', tasks.TASKS), ('model', models.MODELS)):
        name = values[group].get('name')
        known = isinstance(name, str) and name in table
        require(known, f'{group}.name', name, f'one of {tuple(table)}')
        parts[group] = table[name][0]
    return parts


def _check_loop(loop, parts: dict[str, type]) -> tuple:
    require(isinstance(loop, tuple), 'loop', loop, 'a tuple of (path, values)')
    for i, entry in enumerate(loop):
        shaped = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        require(shaped, f'loop[{i}]', entry, "(path, values), e.g. ('model.depth', (2, 3))")
        _check_axis(i, *entry, parts)
    return tuple((path, tuple(values)) for path, values in loop)


def _check_axis(i: int, path: str, values: tuple, parts: dict[str, type]) -> None:
    group, _, name = path.partition('.')
    static = {g: typing.get_type_hints(c) for g, c in parts.items() if g != 'grid'}
    known = [f'{g}.{n}' for g, names in static.items() for n in names]
    own = not (group == 'train' and name in _SHARED)
    require(own, f'loop[{i}]', path, 'another field: all cohorts share this one')
    if path not in known:
        raise ConfigError(f'loop[{i}]: no static field {path!r}, {nearest(path, known)}')
    several = isinstance(values, tuple) and len(values) > 0
    require(several, f'loop[{i}] ({path})', values, 'a tuple of at least one value')
    checked = [fields.check(value, static[group][name], path) for value in values]
    require(len(set(checked)) == len(values), f'loop[{i}] ({path})', values, 'distinct')


def _check_folder(name: str) -> None:
    short = len(name.encode()) <= _FOLDER
    require(short, 'loop', name, f'of values whose names are at most {_FOLDER} bytes long together')


def _check_size(e: Experiment) -> None:
    cohorts = math.prod(len(values) for _, values in e.loop)
    require(cohorts <= _COHORTS, 'loop', cohorts, f'at most {_COHORTS:,} combinations of values')
    traced = math.prod(len(values) for values in dataclasses.asdict(e.grid).values())
    members, rows = traced * cohorts, len(e.record_steps)
    require(members <= _MEMBERS, 'grid', members, f'at most {_MEMBERS:,} members')
    allowed = f'few enough for {_CELLS:,} rows of curves in all, not {members:,} times {rows:,}'
    require(members * rows <= _CELLS, 'grid', members, allowed)


def _check_together(e: Experiment) -> None:
    """What no single group can see."""
    length, steps = e.optimizer.schedule_steps, e.train.num_steps
    warmup = e.optimizer.warmup_steps if e.optimizer.shape != 'constant' else 0
    require(warmup <= length, 'optimizer.warmup_steps', warmup, f'at most the schedule, {length}')
    require(
        steps <= length, 'train.num_steps', steps, f'at most optimizer.schedule_steps, {length}'
    )
    floor, lowest = e.optimizer.floor, min(e.grid.learning_rate)
    require(
        floor <= lowest, 'optimizer.floor', floor, f'at most every grid.learning_rate, {lowest}'
    )
    longest = e.model.max_len
    require(
        e.task.seq_len <= longest,
        'task.seq_len',
        e.task.seq_len,
        f'at most model.max_len, {longest}',
    )
    require(length <= _STEPS, 'optimizer.schedule_steps', length, f'at most {_STEPS:,}')
    examples = tasks.make(e.task).num_train
    allowed = f'at most the {examples} training examples'
    require(e.train.batch_size <= examples, 'train.batch_size', e.train.batch_size, allowed)
