"""The factors of the designed experiment, and the value that a member has of each."""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from anchorjax.errors import UserError, nearest
from anchorjax.experiment import Experiment

TRAINED, BOTH_UNSEEN, NONE = 'trained', 'both unseen', 'none'


class Factor(NamedTuple):
    """One thing that is varied."""

    name: str  # its column
    title: str
    kind: type  # of its values
    scale: str = 'log2'  # on which an effect is thought of: log2, linear or names
    names: tuple = ()  # of a factor with the scale 'names', in this order


# In the order of the columns of the table.
FACTORS = (
    Factor('seq_len', 'length', int),
    Factor(
        'split', 'split', str, 'names', ('code', 'paper', 'random', 'random_position')
    ),
    Factor('exception', 'exception', str, 'names', (TRAINED, BOTH_UNSEEN, NONE)),
    Factor('last_token', 'last token', str, 'names', ('noise', 'any', 'pair')),
    Factor('anchors', 'anchors', int),
    Factor('batch_size', 'batch', int),
    Factor('learning_rate', 'rate', float),
    Factor('weight_decay', 'decay', float),
    Factor('width', 'width', int),
    Factor('depth', 'depth', int, 'linear'),
    Factor('num_steps', 'steps', int),
    Factor('gamma', 'γ', float, 'linear'),
    # 0 unless `model.own_gammas` gives W_Q and W_K a gamma of their own.
    Factor('qk_offset', 'γ of W_Q, W_K less γ', float, 'linear'),
)
BY_NAME = {factor.name: factor for factor in FACTORS}
NAMES = tuple(BY_NAME)
# A setting is trained for as many steps as it takes to converge: no choice of a design.
# Cells are matched at equal steps; what is not matched takes the longest training.
NUISANCE = 'num_steps'
_LEAST_DECAY = 1e-3  # stands for 0 on a scale of doublings
_LARGEST_GAMMA = 100  # as in a config: width^-gamma is then a float
_MOST_DIGITS = 18  # of a whole number: one of so many fits in 64 bits


def describe_experiment(experiment: Experiment) -> dict[str, Any]:
    """The value of every factor that all members of one cohort share.

    Raises:
      UserError: it is not the anchor task, or the model has no width or depth.
    """
    task = experiment.task
    if task.name != 'anchors':
        found = f'{experiment.name}: task = {task.name!r}'
        raise UserError(f'{found}: the law is about the task anchors')
    model = experiment.model
    if not (hasattr(model, 'width') and hasattr(model, 'depth')):
        found = f'{experiment.name}: model = {model.name!r}'
        raise UserError(f'{found}: the law is about models with a width and a depth')
    return {
        'seq_len': task.seq_len,
        'split': task.split,
        'exception': _name_exception(task.unseen_pairs, task.noninferential),
        'last_token': task.last_token,
        'anchors': len(task.shift_of),
        'batch_size': experiment.train.batch_size,
        'width': model.width,
        'depth': model.depth,
        'num_steps': experiment.train.num_steps,
    }


def measure_qk_offset(experiment: Experiment, gamma: pd.Series) -> pd.Series:
    """By how much the gamma of W_Q and W_K is above the gamma of all other parts."""
    own_gammas = dict(list_own_gammas(experiment))
    if 'qk' not in own_gammas:
        return 0.0 * gamma
    return (own_gammas['qk'] - gamma).round(6)  # 0.6 - 0.4 is not 0.2


def list_own_gammas(experiment: Experiment) -> tuple:
    """`model.own_gammas`, which the transformer alone has."""
    return getattr(experiment.model, 'own_gammas', ())


def is_level(factor: Factor, word: str) -> bool:
    """Whether a word is a possible value of a factor."""
    if factor.scale == 'names':
        return word in factor.names
    # Python reads 1_6 and other scripts' digits as numbers, the reader of tables not.
    if not word.isascii() or '_' in word:
        return False
    if factor.kind is int and len(word) > _MOST_DIGITS:
        return False
    try:
        value = factor.kind(word)
    except ValueError:
        return False
    if factor.name == 'weight_decay':
        return 0 <= value < math.inf
    if factor.scale == 'log2' or factor.kind is int:
        return 0 < value < math.inf
    return abs(value) <= _LARGEST_GAMMA


def describe_levels(factor: Factor) -> str:
    """What `is_level` allows: 'a whole number above 0'."""
    if factor.scale == 'names':
        return f'one of {", ".join(factor.names)}'
    kind = 'a whole number' if factor.kind is int else 'a number'
    if factor.name == 'weight_decay':
        return f'{kind} of at least 0'
    if factor.scale == 'log2' or factor.kind is int:
        return f'{kind} above 0'
    return f'{kind} from {-_LARGEST_GAMMA} to {_LARGEST_GAMMA}'


def order_levels(factor: Factor, values: pd.Series) -> list:
    """The distinct values of a factor, lowest first."""

    def rank(level: Any) -> Any:
        return rank_level(factor, level)

    return sorted(values.unique(), key=rank)


def rank_level(factor: Factor, level: Any) -> Any:
    """What the levels of a factor are ordered by."""
    return factor.names.index(level) if factor.scale == 'names' else level


def format_level(factor: Factor, value: Any) -> str:
    """'9', '0.001', 'code'."""
    if factor.kind is float:
        return f'{value:g}'
    return str(value)


def to_scale(factor: Factor, values: Any) -> np.ndarray:
    """Values of a factor that is a number, on its scale."""
    numbers = np.asarray(values, float)
    if factor.name == 'weight_decay':
        numbers = np.maximum(numbers, _LEAST_DECAY)
    return np.log2(numbers) if factor.scale == 'log2' else numbers


def describe_setting(row: dict[str, Any], names: list[str]) -> str:
    """'length 9 · batch 2048' of the factors with these names.

    W_Q and W_K are mentioned only if they have a gamma of their own.
    """
    parts = []
    for name in names:
        factor = BY_NAME[name]
        if name == 'qk_offset' and row[name] == 0:
            continue
        level = format_level(factor, row[name])
        parts.append(f'{factor.title} {level}')
    return ' · '.join(parts)


def list_varying(members: pd.DataFrame) -> list[str]:
    """Names of the factors that have several values."""
    return [name for name in NAMES if members[name].nunique() > 1]


def parse_point(text: str) -> dict[str, Any]:
    """The values of factors in 'seq_len=9,split=code'.

    Raises:
      UserError: a factor is unknown or given twice, or its value cannot be read.
    """
    point = {}
    for part in text.split(','):
        name, equals, word = part.strip().partition('=')
        if name not in BY_NAME:
            raise UserError(
                f'--predict: unknown factor {name!r}, {nearest(name, NAMES)}'
            )
        if not equals or not word:
            raise UserError(f'--predict: {name}: give a value, {name}=VALUE')
        if name in point:
            raise UserError(f'--predict: {name} is given twice')
        point[name] = _parse_level(BY_NAME[name], word)
    return point


def _name_exception(unseen: tuple, noninferential: tuple) -> str:
    """Which of a pair and its reverse are trained, and on what."""
    for first, second in unseen:
        if first != second and (second, first) in unseen:
            return BOTH_UNSEEN
    return TRAINED if noninferential else NONE


def _parse_level(factor: Factor, word: str) -> Any:
    if not is_level(factor, word):
        allowed = describe_levels(factor)
        raise UserError(f'--predict: {factor.name} = {word!r}: must be {allowed}')
    return factor.kind(word)
