"""What tables of claims share: which runs are read, and figures computed once."""

import types
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr

from analysis.old_claims.claim_table import (
    NO_READING,
    TITLES,
    Results,
    add_diverged,
    make_row,
    select_trained,
)
from anchorjax.errors import UserError


def make_run(task: str, is_trained: bool = True, diverged: int = -1):
    experiment = types.SimpleNamespace(task=types.SimpleNamespace(name=task))
    results = xr.Dataset({'trained': is_trained, 'diverged': diverged})
    return types.SimpleNamespace(experiment=experiment, results=results)


class Claim(NamedTuple):
    source: str
    sentence: str
    figure: types.ModuleType


def test_runs_without_a_member_to_analyze_are_left_out():
    runs = {
        'one': make_run('a'),
        'begun': make_run('a', is_trained=False),
        'diverged': make_run('b', diverged=7),
        'other': make_run('b'),
    }
    assert list(select_trained(runs, ('a', 'b'), 'a or b').runs) == ['one', 'other']
    with pytest.raises(UserError, match="other: task 'b': must be 'a'"):
        select_trained({'one': runs['one'], 'other': runs['other']}, ('a',), "'a'")


def test_a_figure_of_a_run_is_computed_once_and_so_is_its_error():
    calls = []

    def compute(run, limit):
        calls.append(run)
        if run == 'bad':
            raise UserError('no such member')
        return run, limit

    figure = types.SimpleNamespace(__name__='analysis.figure', compute=compute)
    results = Results({'x': 'good', 'y': 'bad'}, {})
    for _ in range(2):
        assert results.compute('x', figure, limit=3) == ('good', 3)
        error = results.compute('y', figure, limit=3)
        assert isinstance(error, UserError) and str(error) == 'no such member'
    assert calls == ['good', 'bad']


def test_a_row_has_every_column_and_says_who_diverged():
    claim = Claim('P1', 'It is so.', np.linalg)
    row = make_row(claim, 'run', add_diverged(NO_READING, 2))
    assert list(row) == list(TITLES)
    assert row['figure'] == 'linalg' and row['verdict'] == 'undecided'
    assert row['note'] == 'no trained run is about this; 2 members diverged'
    assert add_diverged(NO_READING, 0) == NO_READING
