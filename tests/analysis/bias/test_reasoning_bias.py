"""Delta L, moments and cosines by hand, and claims that can come out either way."""

import numpy as np
import pytest

from analysis import reasoning_bias
from analysis.bias.readings import sources
from analysis.bias.source_claims import CLAIMS
from analysis.drawing import style
from analysis.old_claims.by_setting import tabulate_claims
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, UNDECIDED
from analysis.reasoning_bias_claims import tabulate_members
from anchorjax import api, config
from anchorjax.errors import UserError
from anchorjax.training.devices import make_mesh


def plant(ratio, delta, cosine, seeds=3, noise=0.01):
    """A Result of gammas .3 and .8, whose numbers are given at the small start."""
    rng = np.random.default_rng(0)
    gamma = np.repeat([0.3, 0.8], seeds)
    members = {
        'gamma': gamma,
        'seed': np.tile(np.arange(seeds), 2),
        'setting': np.full(2 * seeds, ''),
        'train_loss': np.full(2 * seeds, 2.0),
        'converged': np.full(2 * seeds, False),
    }
    is_small = gamma == 0.8

    def vary(value):
        return value * (1 + noise * rng.normal(size=2 * seeds))

    return reasoning_bias.Result(
        members=members,
        step_S=np.array([10, 20]),
        loss_MSP=np.ones((2 * seeds, 2, 2)),
        heldout_MSP=np.ones((2 * seeds, 2, 2)),
        delta_MS=np.stack([vary(np.where(is_small, delta, 0.5))] * 2, axis=1),
        labels_P=np.array([77, 1_476]),
        entropy_P=np.array([3.0, 4.5]),
        delta_of_counting=0.5,
        moment_MP=np.stack([vary(np.full(2 * seeds, 5.0)), vary(5.0 * ratio)], axis=1),
        step_C=np.array([0, 5, 20]),
        cosine_MCP=np.stack(
            [np.full((2 * seeds, 3), 0.1), np.stack([vary(cosine)] * 3, axis=1)], -1
        ),
        early=5,
    )


@pytest.mark.parametrize(
    ('ratio', 'delta', 'cosine', 'verdicts'),
    [
        (3.0, 0.9, 0.5, (HOLDS, HOLDS, HOLDS, HOLDS)),
        (0.5, 0.2, -0.3, (OPPOSITE, OPPOSITE, DOES_NOT_HOLD, OPPOSITE)),
        (1.2, 0.5, 0.1, (DOES_NOT_HOLD, UNDECIDED, UNDECIDED, UNDECIDED)),
    ],
)
def test_readings_can_come_out_either_way(ratio, delta, cosine, verdicts):
    result = plant(ratio, delta, cosine)
    found = (
        sources.read_reasoning_first(result, ''),
        sources.read_delta_grows(result, ''),
        sources.read_more_than_counting(result, ''),
        sources.read_cosines(result, '', step='early'),
    )
    assert tuple(reading.verdict for reading in found) == verdicts
    for reading in found:
        assert reading.number and reading.null
    assert found[1].null == 'difference 0; 0.50 by counting tokens'
    assert '77 and 1,476 labels of 3.00 and 4.50 nats' in found[0].note


def test_two_seeds_decide_nothing():
    result = plant(3.0, 0.9, 0.5, seeds=2)
    reading = sources.read_reasoning_first(result, '')
    assert reading.verdict is UNDECIDED and 'at least 3 needed' in reading.note


def test_stories_that_are_never_learned_give_a_bound():
    result = plant(3.0, 0.9, 0.5)
    moments = result.moment_MP.copy()
    moments[-1, 1] = np.nan
    reading = sources.read_reasoning_first(result._replace(moment_MP=moments), '')
    assert '≥' in reading.number and reading.verdict is HOLDS
    moments[-1, 0] = np.nan
    reading = sources.read_reasoning_first(result._replace(moment_MP=moments), '')
    assert reading.verdict is UNDECIDED


def test_a_bound_below_the_border_refutes_nothing():
    result = plant(3.0, 0.9, 0.5)
    moments = np.full_like(result.moment_MP, 18.0)
    moments[:, 1] = np.nan  # later than step 20, so the ratio is at least 1.11
    reading = sources.read_reasoning_first(result._replace(moment_MP=moments), '')
    assert reading.verdict is UNDECIDED and '≥ 1.11' in reading.number


def test_what_counting_passes_on_its_way_is_not_more_than_counting():
    result = plant(3.0, 0.9, 0.5)
    delta = result.delta_MS.copy()
    delta[:, -1] = 0.3 + 0.01 * np.arange(len(delta))
    reading = sources.read_more_than_counting(result._replace(delta_MS=delta), '')
    assert reading.verdict is DOES_NOT_HOLD


def test_delta_l_and_cosines_by_hand():
    losses = np.array([[2.0, 3.0], [4.0, 2.0]])
    assert reasoning_bias.compare_losses(losses).tolist() == [0.5, -0.5]
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    half = 0.5**0.5
    assert reasoning_bias.average_cosine(rows) == pytest.approx(2 * half / 3)
    assert reasoning_bias.average_cosine(np.ones((5, 4))) == pytest.approx(1)


@pytest.fixture(scope='module')
def run(make_once):
    """Two members of a tiny mixture."""

    def train(folder):
        c = config.default(task='mixture')
        c.task.update(hops=1, num_sequences=6, num_heldout=2, seq_len=140, vocab=320)
        c.task.probe_examples = 2
        c.model.update(width=8, head_dim=4, mlp_dim=8, depth=1, max_len=140)
        c.train.update(batch_size=4, num_steps=4, eval_every=2, lanes=2)
        c.train.snapshot_steps = (2,)
        c.optimizer.warmup_steps = 0
        c.grid.gamma = (0.3, 0.8)
        api.train(config.resolve(c), folder, mesh=make_mesh(1))

    return api.open(make_once('mixture', train))


@pytest.mark.slow
def test_the_figure_of_a_run(run, tmp_path):
    result = reasoning_bias.compute(run)
    assert result.loss_MSP.shape == (2, 2, 2) and result.cosine_MCP.shape == (2, 3, 2)
    loss = run.curves.probe_loss.sel(gamma=0.8, probe='stories').values.ravel()
    np.testing.assert_array_equal(result.loss_MSP[1, :, 1], loss)
    assert np.abs(result.cosine_MCP[:, 0]).max() < 0.1  # Gaussian before training
    assert reasoning_bias.compute(run, early=4).early == 4
    for bad in ({'early': 3}, {'share': 1.0}):
        with pytest.raises(UserError, match='must be'):
            reasoning_bias.compute(run, **bad)
    paths = style.write_figure(
        result, reasoning_bias.draw, reasoning_bias.layout, tmp_path / 'figure'
    )
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.slow
def test_the_table_of_members(run):
    result = reasoning_bias.compute(run)
    table = tabulate_members({'a': run, 'b': run})
    assert table.run.tolist() == ['a', 'a', 'b', 'b']
    assert table.gamma.tolist() == [0.3, 0.8, 0.3, 0.8]
    np.testing.assert_allclose(table.loss_stories[:2], result.loss_MSP[:, -1, 1], 1e-4)
    of_losses = (table.loss_stories - table.loss_prontoqa) / table.loss_prontoqa
    np.testing.assert_allclose(table.last_delta, of_losses, atol=2e-4)
    early = result.step_C.tolist().index(result.early)
    cosine = result.cosine_MCP[1, early, 0]
    assert table.early_cosine_prontoqa[1] == pytest.approx(cosine, abs=1e-4)


@pytest.mark.slow
def test_the_table_of_claims(run, finished):
    table = tabulate_claims({'a': run}, CLAIMS, 'mixture')
    assert len(table) == len(CLAIMS)
    matched = table[table.source.str.endswith('control')]
    assert (matched.note == 'no trained run is about this').all()
    assert (table.verdict == 'undecided').all()  # one seed
    with pytest.raises(UserError, match="task 'anchors': must be 'mixture'"):
        tabulate_claims({'b': finished}, CLAIMS, 'mixture')
