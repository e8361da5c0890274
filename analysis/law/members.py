"""The members of the law: their factors, what they answer, and the table of both.

A cell is all members that differ in nothing but the seed; a setting is all cells that
differ in γ or in the number of steps alone.
"""

import pathlib
import typing
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from flax.traverse_util import flatten_dict

from analysis import frame
from analysis.members.columns import equivalent_gamma
from analysis.members.lookup import LEVELS, score_members
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.limits import check_value
from anchorjax.models import ModelConfig
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.solution import classify_members

TRAINED, BOTH_UNSEEN, NONE = 'trained', 'both unseen', 'none'  # kinds of exception
TITLES_OF_EXCEPTIONS = {
    TRAINED: 'exception trained',
    BOTH_UNSEEN: BOTH_UNSEEN,
    NONE: 'no exception',
}


class Factor(NamedTuple):
    """One thing that is varied."""

    title: str
    hint: Any  # the type of its values

    @property
    def levels(self) -> tuple[str, ...]:
        """The values of a factor with names, in their order; () of numbers."""
        return typing.get_args(self.hint)


FACTORS = {
    'seq_len': Factor('length', int),
    'split': Factor('split', Literal['code', 'paper', 'random', 'random_position']),
    'exception': Factor('exception', Literal[TRAINED, BOTH_UNSEEN, NONE]),
    'last_token': Factor('last token', Literal['noise', 'any', 'pair']),
    'anchors': Factor('anchors', int),
    'batch_size': Factor('batch', int),
    'learning_rate': Factor('rate', float),
    'weight_decay': Factor('decay', float),
    'width': Factor('width', int),
    'depth': Factor('depth', int),
    'num_steps': Factor('steps', int),
    'gamma': Factor('γ', float),
    # 0 unless `model.gamma_overrides` gives W_Q and W_K a γ of their own.
    'qk_offset': Factor('γ of W_Q, W_K less γ', float),
}
NAMES = list(FACTORS)
SETTING = [name for name in NAMES if name not in ('gamma', 'num_steps')]
KEYS = [*NAMES, 'seed']  # together they name a member
# What a table of the training data by unordered pair, which knows most, would score.
LOOKUP = ['lookup_heldout', 'lookup_composed', 'lookup_symmetric']
COLUMNS = [
    *KEYS,
    'train_loss',
    'converged',
    'diverged',
    'solution',
    'seen_heldout_assigned',
    'unseen_composed',
    'unseen_symmetric',
    'unseen_within_1',
    'unseen_within_2',
    'answer',  # the most frequent one to the unseen pair
    'answer_share',
    *LOOKUP,
    'run',
    'hardware',
]
# Fields of a config that are factors, change no number of a member, or follow from a
# factor in configs/law.py. A run that sets shifts, head_dim, mlp_dim or a schedule of
# its own is not told from one that does not.
_EXPECTED = {
    'name',
    'task.seq_len',
    'task.split',
    'task.noninferential',
    'task.unseen',
    'task.exception',
    'task.last_token',
    'task.anchors',
    'task.shifts',
    'task.num_anchors',
    'task.eval_examples',
    'model.width',
    'model.head_dim',
    'model.mlp_dim',
    'model.depth',
    'model.max_len',
    'optimizer.warmup_steps',
    'optimizer.schedule_steps',
    'train.batch_size',
    'train.num_steps',
    'train.eval_every',
    'train.snapshot_steps',
    'train.resume_every',
    'train.lanes',
    'train.batch_devices',
}


def tabulate(run: Run) -> pd.DataFrame:
    """The networks of a sweep of the anchor task: COLUMNS without `run`.

    Raises:
      UserError: another task, or a model without a width and a depth.
    """
    members = frame.find_usable(run.members)
    rows = []
    for point in frame.find_points(run, members):
        rows.append(describe_factors(run.experiment_of(**point), point['gamma']))
    factors = pd.DataFrame(rows, members.index)
    # A factor may have the name of a static axis.
    table = members.drop(columns=factors.columns, errors='ignore').join(factors)
    # All networks count, converged or not, by what they answer.
    table['solution'] = classify_members(members)
    of_tables = score_members(run, members).xs(LEVELS[-1], axis=1, level=1)
    table[LOOKUP] = of_tables.to_numpy()
    table['hardware'] = [_name_hardware(run, place) for place in table.environment]
    renamed = {'unseen_answer': 'answer', 'unseen_answer_share': 'answer_share'}
    columns = [name for name in COLUMNS if name != 'run']
    return table.rename(columns=renamed).reindex(columns=columns)


def describe_factors(experiment: Experiment, gamma: float) -> dict[str, Any]:
    """The factors of a network, without the rate, the decay and γ.

    Raises:
      UserError: it is not the anchor task, or the model has no width or depth.
    """
    task, model = experiment.task, experiment.model
    if not isinstance(task, AnchorsConfig):
        line = f'{experiment.name}: task = {task.name!r}'
        raise UserError(f'{line}: the law is about the task anchors')
    width, depth = (getattr(model, name, None) for name in ('width', 'depth'))
    if width is None or depth is None:
        line = f'{experiment.name}: model = {model.name!r}'
        raise UserError(f'{line}: the law is about models with a width and a depth')
    return {
        'seq_len': task.seq_len,
        'split': task.split,
        'exception': _name_exception(task.unseen_pairs, task.noninferential),
        'last_token': task.last_token,
        'anchors': len(task.shift_of),
        'batch_size': experiment.train.batch_size,
        'width': width,
        'depth': depth,
        'num_steps': experiment.train.num_steps,
        'qk_offset': measure_qk_offset(model, gamma),
    }


def measure_qk_offset(model: ModelConfig, gamma: float) -> float:
    """By how much the γ of W_Q and W_K is above that of all other parts."""
    gamma_overrides = dict(getattr(model, 'gamma_overrides', ()))
    if 'qk' not in gamma_overrides:
        return 0.0
    return float(np.round(gamma_overrides['qk'] - gamma, 6))  # 0.6 - 0.4 is not 0.2


def find_other_differences(runs: Iterable[Run]) -> list[str]:
    """A line for every field that differs between cohorts and is no factor."""
    values = {}
    for run in runs:
        for cohort in run.experiment.cohorts():
            experiment = run.experiment.for_cohort(cohort)
            fields: dict[str, Any]
            fields = flatten_dict(config.to_dict(experiment), sep='.')
            gamma_overrides = dict(fields.get('model.gamma_overrides', ()))
            gamma_overrides.pop('qk', None)  # that of W_Q and W_K is a factor
            fields['model.gamma_overrides'] = gamma_overrides
            for path, value in fields.items():
                values.setdefault(path, set()).add(str(value))
    lines = []
    for path, distinct in values.items():
        is_expected = path in _EXPECTED or path.startswith(('grid.', 'static_axes'))
        if len(distinct) > 1 and not is_expected:
            listed = ' and '.join(sorted(distinct))
            lines.append(f'{path} differs between the runs, but is no factor: {listed}')
    return lines


def read_csv(path: pathlib.Path) -> pd.DataFrame:
    """The members of a members.csv that a command here has written.

    Raises:
      UserError: it is no such table.
    """
    members = frame.read_csv(path)
    missing = [name for name in COLUMNS if name not in members]
    if missing:
        raise UserError(f'{path}: no column {", ".join(missing)}')
    for name, factor in FACTORS.items():
        for value in members[name].unique():
            check_value(value, factor.hint, f'{path}: {name}')
    return members[COLUMNS]


def join(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The members of several tables, sorted; of a repeated one the first row."""
    members = pd.concat(tables, ignore_index=True)[COLUMNS]
    return members.drop_duplicates(KEYS).sort_values(KEYS, ignore_index=True)


def keep_longest(members: pd.DataFrame) -> pd.DataFrame:
    """Of members that differ in the number of steps alone, the one trained longest."""
    ordered = members.sort_values('num_steps', kind='stable')
    return ordered.drop_duplicates([*SETTING, 'gamma', 'seed'], keep='last')


def list_blocks(members: pd.DataFrame) -> list[str]:
    """The kinds of exception that occur, in their order."""
    found = set(members.exception)
    return [level for level in FACTORS['exception'].levels if level in found]


def name_gamma(gamma: float, widths: Iterable[int]) -> str:
    """'0.6 (0.42)', or '0.6 (0.42, 0.49)' of two widths: γ, and as γ at width 400."""
    equivalents = []
    for width in sorted(set(widths)):
        equivalents.append(f'{equivalent_gamma(gamma, width):.2f}')
    return f'{gamma:g} ({", ".join(equivalents)})'


def _name_exception(unseen: tuple, noninferential: tuple) -> str:
    """Which of a pair and its reverse are trained, and on what."""
    for first, second in unseen:
        if first != second and (second, first) in unseen:
            return BOTH_UNSEEN
    return TRAINED if noninferential else NONE


def _name_hardware(run: Run, environment: int) -> str:
    """'cpu 93ee0ce1' of the last environment a member was trained in."""
    if environment < 0:
        return ''
    recorded = run.folder.environments[environment]
    hardware = recorded.hardware
    which = hardware.get('cpu', hardware.get('device', ''))
    return f'{recorded.platform} {which}'.strip()
