"""The table of members as a file: its columns, its order, and how it is read."""

import io
import pathlib
from collections.abc import Sequence

import numpy as np
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
_REQUIRED = (
    *KEYS,
    'train_loss',
    'converged',
    'solution',
    *_NUMBERS,
    'answer',
    *LOOKUP,
    'run',
)


def read_csv(path: pathlib.Path) -> pd.DataFrame:
    """The members in a file that `tables.text.format_csv` wrote, sorted.

    Raises:
      UserError: there is no such file, it is cut off, or a column is missing or has a
        wrong value.
    """
    if not path.is_file():
        raise UserError(f'--members {path}: no such file')
    try:
        text = path.read_text('utf-8')
        members = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[''])
        words = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as e:  # of pandas' parser, too
        raise UserError(f'--members {path}: not a table: {e}') from None
    for name in _REQUIRED:
        if name not in members:
            raise UserError(f'--members {path}: the column {name} is missing')
    if members.empty:
        raise UserError(f'--members {path}: has no members')
    if not text.endswith('\n'):
        raise UserError(f'--members {path}: cut off, its last row has no end of line')
    _check_words(words, path)
    members, _ = drop_repeated(members)
    return sort_members(members)


def drop_repeated(members: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """(the members with each combination of KEYS once, how many were dropped)."""
    is_repeated = members.duplicated(list(KEYS))
    return members[~is_repeated], int(is_repeated.sum())


def add_members(base: pd.DataFrame, added: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """(both together, sorted; how many of the added ones were in the base already).

    Of a member that is in both the base's row is kept, but for one of a run that went
    on, whose name is in both: there it is the added one.
    """
    goes_on = added.run.isin(set(base.run))
    members = pd.concat([added[goes_on], base, added[~goes_on]], ignore_index=True)
    members, _ = drop_repeated(members)
    repeated = len(base) + len(added) - len(members)
    return sort_members(members), repeated


def sort_members(members: pd.DataFrame) -> pd.DataFrame:
    """The members in the order of KEYS."""
    return members.sort_values(list(KEYS), ignore_index=True)


def _check_words(words: pd.DataFrame, path: pathlib.Path) -> None:
    """Raises UserError for the first wrong value of a required column."""
    for factor in factors.FACTORS:
        is_valid = [factors.is_level(factor, word) for word in words[factor.name]]
        allowed = factors.describe_levels(factor)
        _require(is_valid, factor.name, allowed, words, path)
    is_seed = words.seed.str.fullmatch('[0-9]+')
    _require(is_seed, 'seed', 'a whole number', words, path)
    for name, names in (('converged', ('True', 'False')), ('solution', SOLUTIONS)):
        is_name = words[name].isin(names)
        _require(is_name, name, f'one of {", ".join(names)}', words, path)
    has_converged = words.converged == 'True'
    for name in ('train_loss', *_NUMBERS, *LOOKUP):
        # A member that has diverged may have no number.
        number = pd.to_numeric(words[name], errors='coerce')
        is_empty = (words[name] == '') & ~has_converged
        if name == 'train_loss':
            is_valid = is_empty | (number.ge(0) & np.isfinite(number))
            _require(is_valid, name, 'a finite number of at least 0', words, path)
        else:
            is_valid = is_empty | number.between(0, 1)
            _require(is_valid, name, 'a number from 0 to 1', words, path)


def _require(
    is_valid: Sequence[bool],
    name: str,
    allowed: str,
    words: pd.DataFrame,
    path: pathlib.Path,
) -> None:
    """Raises UserError for the first row whose value is not valid."""
    for row, is_row_valid in enumerate(is_valid):
        if not is_row_valid:
            word = words[name].iloc[row]
            where = f'{name} = {word!r} in row {row + 2}'
            raise UserError(f'--members {path}: {where}: must be {allowed}')
