"""P1's own statistic, the highest share of a seed over its rates; the table's rows."""

import pathlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.claims import find_named
from analysis.estimates import Group, difference
from analysis.p1 import claims
from anchorjax import config

SMALL = Group('small', {'gamma': 0.8})
LARGE = Group('large', {'gamma': 0.5})


def test_one_network_among_several_rates_brings_about_the_best_of_its_seed():
    """Seed 1 has 0.9 and 0.2 at its best, seed 2 has 0.3 and 0.3."""
    columns = ['gamma', 'learning_rate', 'seed', 'share']
    rows = [
        (0.8, 1e-4, 1, 0.0),
        (0.8, 3e-4, 1, 0.9),
        (0.5, 1e-4, 1, 0.2),
        (0.5, 3e-4, 1, 0.1),
        (0.8, 3e-4, 2, 0.3),
        (0.5, 3e-4, 2, 0.3),
    ]
    members = pd.DataFrame(rows, columns=columns)
    found = difference('share', SMALL, LARGE, statistic='max')(members)
    assert found.values.to_dict() == pytest.approx({1: 0.7, 2: 0.0})


def open_own_model(workdir):
    """A run with one network of a model without a depth."""
    return SimpleNamespace(
        experiment=config.resolve(config.default(model='emb_mlp')),
        folder=SimpleNamespace(workdir=pathlib.Path(workdir)),
        members=pd.DataFrame({'trained': [True], 'diverged': -1, 'gamma': 0.5}),
    )


def test_a_model_without_a_depth_has_a_row():
    assert np.isnan(claims.tabulate(open_own_model('own')).depth.item())


def test_claims_know_a_run_by_the_name_of_a_link_to_it(tmp_path, monkeypatch):
    """As the command does, of runs that lie on another disk."""
    (tmp_path / 'elsewhere').mkdir()
    (tmp_path / 'levels').symlink_to('elsewhere')
    run = open_own_model(tmp_path / 'levels')
    assert {claim.runs for claim in find_named(claims, run)} == {('levels',)}
    monkeypatch.setattr(claims, 'add_levels', lambda run, table: table.assign(norm=7))
    assert claims.tabulate(run).norm.item() == 7
