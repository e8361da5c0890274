"""Windows of decay, what networks answer, and what answers without composing."""

import numpy as np
import pandas as pd
import pytest

from analysis.p4 import nulls
from analysis.p4.claims import tabulate
from analysis.p4.members import (
    ALL,
    COLUMNS,
    NONE,
    list_pieces,
    name_window,
    read_at,
    tabulate_pieces,
)
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from anchorjax.tasks import Batch
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from tests.support.sweeps import opened


@pytest.mark.parametrize(
    ('bounds', 'pieces', 'name'),
    [
        ((), [(0, 1)], ALL),
        ((0, 200), [(0, 1)], ALL),
        ((0, 0), [], NONE),
        ((50, 100), [(0.25, 0.5)], '0.25–0.5'),
        ((1, 51), [(0.005, 0.255)], '0.005–0.255'),
        ((0, 20, 60, 80), [(0, 0.1), (0.3, 0.4)], '0–0.1, 0.3–0.4'),
    ],
)
def test_a_window_is_named_by_its_shares_of_training(bounds, pieces, name):
    assert list_pieces(bounds, 200) == pieces
    assert name_window(pieces) == name


def test_a_record_is_the_last_one_up_to_a_step():
    curves = pd.DataFrame([[0.1, 0.2, 0.3]] * 5, columns=[10, 20, 30])
    found = read_at(curves, np.array([5, 10, 19, 30, np.nan]))
    np.testing.assert_equal(found, [0.1, 0.1, 0.1, 0.3, np.nan])


def test_the_null_is_chance_where_an_answer_is_one_token():
    assert nulls.score_null(AnchorPermutationsConfig(num_keys=8), 0) == 1 / 8
    assert nulls.score_null(ModularAdditionConfig(modulus=5), 0) == 1 / 5


@pytest.mark.slow
def test_members_are_those_of_the_sweep(windows_run):
    members = tabulate(windows_run)
    assert list(members) == [*COLUMNS, 'early_complexity']
    names = [ALL, NONE, '0.25–0.5', '0.25–1']
    assert members.window.tolist() == np.repeat(names, 2).tolist()
    assert members.seed.tolist() == [0, 1] * 4
    ends = [[0, 1], [np.nan, np.nan], [0.25, 0.5], [0.25, 1]]
    np.testing.assert_equal(members[['start', 'end']].values[::2], ends)
    assert members.window_share.tolist()[::2] == [1, 0, 0.25, 0.75]
    for row, window in enumerate([(), (0, 0), (2, 4), (2, 8)]):
        point = windows_run.labels(decay_window=window, seed=1)
        curve = windows_run.curves.sel(point).squeeze()
        unseen = curve.agreement.sel(eval_set='unseen', mapping='assigned')
        member = members.iloc[2 * row + 1]
        assert member.unseen == unseen[-1] and member.train_loss == curve.train_loss[-1]
        if window == (2, 4):  # records after 2, 4 and 5 steps: the last is that of 4
            rise = float(unseen.sel(step=4) - unseen.sel(step=2))
            assert member.rise_inside == pytest.approx(rise)
            assert member.rise_after == 0
        else:
            assert np.isnan(member.rise_after)


def test_bigrams_are_counted_where_answers_are_scored():
    batch = Batch(
        tokens_BT=np.array([[0, 1, 2], [0, 1, 2], [0, 1, 3]]),
        targets_BQ=np.array([[1, 2, 3], [1, 4, 0], [1, 4, 4]]),
        weights_BQ=np.array([[0, 1, 1], [0, 1, 1], [0, 1, 0.5]]),
    )
    # After 1 came 2, 4, 4; after 2 came 3 and 0; after 3 came 4.
    expected = np.zeros((5, 5))
    expected[1, [2, 4]] = 1, 2
    expected[2, [3, 0]] = 1
    expected[3, 4] = 1
    np.testing.assert_array_equal(nulls.count_bigrams(batch, 5), expected)


def test_windows_of_one_name_are_refused(tmp_path):
    opened(tmp_path, grid__decay_window=((), (0, 40)), train__num_steps=40)
    with pytest.raises(UserError, match=f"are both called '{ALL}'"):
        tabulate_pieces(open_run(tmp_path))
