"""The table of members: from runs, from files, and joined."""

import types

import pytest

from analysis.law import members as law_members
from analysis.tables.text import format_csv
from anchorjax import config
from anchorjax.errors import UserError
from tests.support.planted_law import plant_members
from tests.support.sweeps import experiment


@pytest.fixture(scope='module')
def planted():
    return plant_members(lambda point: 'symmetric', batch_size=(512, 2048))


def test_a_run_becomes_members_with_their_factors(finished):
    members = law_members.tabulate(finished)
    columns = [name for name in law_members.COLUMNS if name != 'run']
    assert list(members.columns) == columns
    assert sorted(members.depth) == [1] * 4 + [2] * 4
    assert (members.seq_len == 4).all() and (members.split == 'random').all()
    assert (members.exception == 'trained').all() and (members.batch_size == 16).all()
    assert members.hardware.str.startswith('cpu ').all()
    assert set(members.gamma) == {0.3, 0.8} and set(members.seed) == {0, 1}
    assert members[law_members.LOOKUP].notna().all(axis=None)
    expected = finished.results.train_loss.sel(depth=2, gamma=0.8, seed=1).item()
    is_here = (members.depth == 2) & (members.gamma == 0.8) & (members.seed == 1)
    assert members[is_here].train_loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (lambda members: members.drop(columns='gamma'), 'no column gamma'),
        (lambda members: members.assign(split='odd'), "split = 'odd': must be one of"),
    ],
)
def test_a_wrong_table_is_refused(planted, tmp_path, change, line):
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(change(planted)))
    with pytest.raises(UserError, match=line):
        law_members.read_csv(path)


@pytest.mark.parametrize(
    ('unseen', 'noninferential', 'exception'),
    [
        (((4, 3),), ((3, 4, -6),), 'trained'),
        (((4, 3), (3, 4)), (), 'both unseen'),
        (((4, 3), (3, 4)), ((3, 4, -6),), 'both unseen'),  # it is not trained
        (((4, 3),), (), 'none'),
    ],
)
def test_the_exception_is_read_from_the_task(unseen, noninferential, exception):
    planned = experiment(task__unseen=unseen, task__noninferential=noninferential)
    described = law_members.describe_factors(planned, 0.5)
    assert described['exception'] == exception
    of_members = {'learning_rate', 'weight_decay', 'gamma'}
    assert set(described) | of_members == set(law_members.NAMES)


@pytest.mark.parametrize(
    ('gamma_overrides', 'offsets'),
    [
        ((), [0.0, 0.0]),
        ((('vo', 0.1),), [0.0, 0.0]),
        ((('mlp', 0.9), ('qk', 0.4)), [0.2, -0.2]),
    ],
)
def test_the_gamma_of_attention_counts_from_that_of_the_member(
    gamma_overrides, offsets
):
    planned = experiment(model__gamma_overrides=gamma_overrides)
    found = [law_members.measure_qk_offset(planned.model, g) for g in (0.2, 0.6)]
    assert found == offsets


def test_what_differs_and_is_no_factor_is_said():
    """A part with a γ of its own is no factor, unless it is W_Q and W_K."""
    planned = (
        experiment(),
        experiment(train__batch_size=32, grid__gamma=(0.5,), name='other'),
        experiment(model__gamma_overrides=(('qk', 0.2),)),
        experiment(optimizer__floor=0.0, model__gamma_overrides=(('vo', 0.2),)),
    )
    runs = []
    for one in planned:
        sweep = types.SimpleNamespace(
            cohorts=lambda: [None], for_cohort=lambda _, one=one: one
        )
        runs.append(types.SimpleNamespace(experiment=sweep))
    assert law_members.find_other_differences(runs[:3]) == []
    lines = law_members.find_other_differences(runs)
    fields = [line.split()[0] for line in lines]
    assert fields == ['model.gamma_overrides', 'optimizer.floor']


def test_a_model_without_a_depth_and_another_task_are_refused():
    planned = config.resolve(config.default(model='emb_mlp'))
    with pytest.raises(UserError, match="model = 'emb_mlp': the law is about models"):
        law_members.describe_factors(planned, 0.5)
    task = types.SimpleNamespace(name='copy')
    planned = types.SimpleNamespace(name='toy', task=task, model=None)
    with pytest.raises(UserError, match="toy: task = 'copy'"):
        law_members.describe_factors(planned, 0.5)
