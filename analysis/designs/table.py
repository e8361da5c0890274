"""The table of members as a file: its columns, its order, and how it is read."""

import pathlib

import pandas as pd

from analysis.designs import factors
from analysis.members.solution import SOLUTIONS
from anchorjax.errors import UserError

KEYS = (*factors.NAMES, 'seed')  # together they name a member
# Column of a run's members.csv: the column here.
SOURCES = {'unseen_answer': 'answer', 'unseen_answer_share': 'answer_share'}
_NUMBERS = (
    'seen_heldout_assigned',
    'unseen_inferential',
    'unseen_symmetric',
    'unseen_within_1',
    'unseen_within_2',
)
# What a table of the training data by unordered pair, which knows most, would score.
LOOKUP = ('lookup_heldout', 'lookup_inferential', 'lookup_symmetric')
COLUMNS = (
    *KEYS,
    'train_loss',
    'converged',
    'diverged',
    'solution',
    *_NUMBERS,
    'answer',
    'answer_share',
    *LOOKUP,
    'run',
    'hardware',
)
_REQUIRED = (*KEYS, 'train_loss', 'converged', 'solution', *_NUMBERS, *LOOKUP)


def read_csv(path: pathlib.Path) -> pd.DataFrame:
    """The members in a file that `tables.text.format_csv` wrote, sorted.

    Raises:
      UserError: there is no such file, or a column is missing or has a wrong value.
    """
    if not path.is_file():
        raise UserError(f'--members {path}: no such file')
    try:
        members = pd.read_csv(path, keep_default_na=False, na_values=[''])
    except (ValueError, UnicodeDecodeError) as e:  # of pandas' parser, too
        raise UserError(f'--members {path}: not a table: {e}') from None
    for name in _REQUIRED:
        if name not in members:
            raise UserError(f'--members {path}: the column {name} is missing')
    if members.empty:
        raise UserError(f'--members {path}: has no members')
    _check_values(members, path)
    members, _ = drop_repeated(members)
    return sort_members(members)


def drop_repeated(members: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """(the members with each combination of KEYS once, how many were dropped)."""
    is_repeated = members.duplicated(list(KEYS))
    return members[~is_repeated], int(is_repeated.sum())


def sort_members(members: pd.DataFrame) -> pd.DataFrame:
    """The members in the order of KEYS."""
    return members.sort_values(list(KEYS), ignore_index=True)


def _check_values(members: pd.DataFrame, path: pathlib.Path) -> None:
    for factor in factors.FACTORS:
        values = members[factor.name]
        if factor.kind is str:
            is_valid = values.isin(factor.names)
            allowed = f'one of {", ".join(factor.names)}'
        else:
            is_valid = pd.to_numeric(values, errors='coerce').notna()
            allowed = 'a number'
        _require(is_valid, factor.name, allowed, members, path)
    is_valid = members.converged.isin([True, False])
    _require(is_valid, 'converged', 'True or False', members, path)
    is_valid = members.solution.isin(SOLUTIONS)
    _require(is_valid, 'solution', f'one of {", ".join(SOLUTIONS)}', members, path)


def _require(
    is_valid: pd.Series,
    name: str,
    allowed: str,
    members: pd.DataFrame,
    path: pathlib.Path,
) -> None:
    """Raises UserError for the first row whose value is not valid."""
    if is_valid.all():
        return
    row = int((~is_valid).to_numpy().argmax())
    value = members[name].iloc[row]
    raise UserError(
        f'--members {path}: {name} = {value!r} in row {row + 2}: must be {allowed}'
    )
