"""One frozen `Experiment` from a config: every field typed, checked and named in its error.

A config file builds a locked ConfigDict from `default()` and edits it; `resolve` turns it into
an Experiment or raises a ConfigError before anything is compiled or written.
"""

import dataclasses

import ml_collections

from anchorjax import models, tasks
from anchorjax.config import consistency, schema
from anchorjax.config.grid import Cohort, expand_cohorts, name_axes
from anchorjax.config.groups import AUTO, PRECISIONS, GridConfig, TrainConfig
from anchorjax.errors import ConfigError, brief, nearest, require
from anchorjax.training.optimizers import OptimizerConfig

__all__ = [
    'AUTO',
    'PRECISIONS',
    'ConfigError',
    'Experiment',
    'GridConfig',
    'TrainConfig',
]

_GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')


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
        object.__setattr__(
            self, 'optimizer', dataclasses.replace(optimizer, schedule_steps=length)
        )
        consistency.name(self.name)
        consistency.together(self)
        consistency.size(self)
        _ = self.axes  # their names are distinct
        for cohort in self.cohorts() if self.loop else ():
            consistency.folder(cohort.name)
            self._check_cohort(self.at(cohort.static))

    @property
    def axes(self) -> dict[str, tuple]:
        """Values of every axis by its short name; the dims of the results."""
        return name_axes(dataclasses.asdict(self.grid), self.loop)

    @property
    def record_steps(self) -> tuple[int, ...]:
        """Steps at which a row of the curves is kept: evaluations, snapshots and the end."""
        t = self.train
        ends = {
            *range(t.eval_every, t.num_steps, t.eval_every),
            *t.snapshot_steps,
            t.num_steps,
        }
        return tuple(sorted(ends - {0}))

    def _check_cohort(self, cohort: 'Experiment') -> None:
        """The results of all cohorts share one cube, so their probes have the same names."""
        names, ours = (tasks.make(e.task).probe_names for e in (cohort, self))
        require(
            names == ours, 'loop', self.loop, f'of cohorts with the same probes, {ours}'
        )

    def cohorts(self) -> tuple[Cohort, ...]:
        return expand_cohorts(dataclasses.asdict(self.grid), self.loop)

    def at(self, static: tuple[tuple[str, object], ...]) -> 'Experiment':
        """This experiment with a cohort's static overrides in place and no loop."""
        values = to_dict(self) | {'loop': ()}
        for path, value in static:
            group, name = path.split('.')
            values[group] = values[group] | {name: value}
        return from_dict(values)


def default(
    task: str = 'anchors', model: str = 'transformer'
) -> ml_collections.ConfigDict:
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
    return from_dict(schema.tuples_from_lists(values))


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
        require(
            isinstance(values[group], dict), group, values[group], 'a group of fields'
        )
    parts = _classes(values)
    built = {
        group: schema.build(cls, values[group], group) for group, cls in parts.items()
    }
    name = schema.check_value(values['name'], str, 'name')
    return Experiment(name=name, **built, loop=consistency.loop(values['loop'], parts))


def to_dict(experiment: Experiment) -> dict:
    """Nested dict of plain values; `from_dict` gives the experiment back."""
    return schema.to_dict(experiment)


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
    require(
        not isinstance(node, ml_collections.ConfigDict),
        path,
        text,
        'given field by field',
    )
    try:
        value = schema.parse_word(text, node, path)
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
