"""An embedding that is the label law is found, and one in a random order is not."""

import numpy as np
import pytest

from analysis import label_law
from analysis.bias.readings import embeddings
from analysis.bias.tokens import KINDS
from analysis.members.member import member_of
from analysis.members.untrained import make_untrained
from analysis.theory import gradient_flow, predictions
from analysis.theory.predictions import PREDICTIONS
from tests.support.drawing import draw_pixels
from tests.support.p2_tasks import loss_and_gradient
from tests.support.p2_theory import expected_laws

LAW = PREDICTIONS.index('label law')
MATRICES = PREDICTIONS.index('matrices')
CLOSED = PREDICTIONS.index('closed form')


@pytest.mark.parametrize('name', ['flow', 'transformer'])
def test_the_law_itself_is_predicted_perfectly(open_sweep, plant, name):
    """Of a single seed's data: only its own members correlate perfectly."""
    run = open_sweep(name)
    laws, _ = predictions.count_member_laws(run.experiment.task, 1)
    plant(laws.deviation_VV)
    result = label_law.compute(run, permutations=20)
    is_own = result.members['seed'] == 1
    np.testing.assert_allclose(result.correlation[is_own, :, LAW, 1:], 1, atol=1e-5)
    others = result.correlation[~is_own, :, LAW, 1:]
    assert (others[:, KINDS.index('memory')] < 0.999).all()
    # Before training the embedding is random, and so is a step 0 that is kept.
    np.testing.assert_allclose(
        result.correlation[:, :, LAW, 0], result.untrained[:, :, LAW], atol=1e-5
    )
    assert (np.abs(result.untrained[:, KINDS.index('keys'), LAW]) < 0.6).all()
    keys = KINDS.index('keys')
    assert (result.bound[:, keys, LAW] < 0.5).all()


def test_a_shuffled_law_is_not_predicted(open_sweep, plant):
    run = open_sweep('transformer')
    laws = expected_laws(run.experiment.task)
    rng = np.random.default_rng(1)
    W_embed = laws.deviation_VV.copy()
    W_embed[21:33] = rng.permutation(W_embed[21:33])
    plant(W_embed)
    result = label_law.compute(run, permutations=50)
    keys = KINDS.index('keys')
    found = result.correlation[:, keys, LAW, 1:]
    assert (found < np.maximum(result.bound[:, keys, LAW, 1:], 0.5)).all()


def test_the_closed_form_is_of_reasoning_anchors_and_keys_alone(open_sweep, plant):
    run = open_sweep('transformer')
    rows = np.zeros((64, 64))
    rows[21:33] = gradient_flow.profile(np.arange(21, 33), False, 64)
    rows[11:15] = gradient_flow.profile(np.arange(11, 15), True, 64)
    plant(rows)
    result = label_law.compute(run, permutations=5)
    for kind in ('keys', 'reasoning'):
        found = result.correlation[:, KINDS.index(kind), CLOSED, 1:]
        np.testing.assert_allclose(found, 1, atol=1e-6)
    for kind in ('memory', 'both'):
        assert np.isnan(result.correlation[:, KINDS.index(kind), CLOSED]).all()
    # P2 has no equation of the matrices of two layers.
    assert np.isnan(result.correlation[:, :, MATRICES]).all()


def test_the_velocity_is_minus_the_gradient_of_the_sweep_at_its_start(open_sweep):
    run = open_sweep('flow')
    start = make_untrained(member_of(run, gamma=0.8, seed=2))
    examples = predictions.read_examples(start.experiment.task, 2)
    _, gradient = loss_and_gradient(start.experiment, start.params, examples)
    velocity = predictions.predict_velocity(start)
    error = np.linalg.norm(gradient['W_embed'] + velocity) / np.linalg.norm(velocity)
    assert error < 0.2  # width 6: no large start, but no small one either
    tokens = np.arange(11, 15)
    predicted = predictions.predict_all(start, tokens, 'reasoning')['matrices']
    np.testing.assert_allclose(
        predicted, gradient_flow.predict_cosines(velocity, tokens)
    )


def test_the_pairs_of_the_scatter_plots_are_the_matrices(open_sweep):
    result = label_law.compute(open_sweep('flow'), early=10, permutations=5)
    s = result.step_S.tolist().index(10)
    for k, kind in enumerate(KINDS):
        measured, *predicted = result.pairs[kind][4]
        for p, cosines in enumerate(predicted):
            expected = np.corrcoef(measured, cosines)[0, 1]
            np.testing.assert_allclose(result.correlation[4, k, p, s], expected)
    assert np.ptp(draw_pixels(result, label_law)) > 0


def make_result(correlation, untrained=0.0, bound=0.3):
    """Three seeds at one gamma; the correlation at steps 0 and 50."""
    shape = (3, len(KINDS), len(PREDICTIONS))
    members = {
        'gamma': np.full(3, 0.8),
        'seed': np.arange(3),
        'setting': np.full(3, ''),
        'train_loss': np.full(3, 1.0),
        'converged': np.full(3, False),
    }
    values = np.zeros((*shape, 2))
    values[..., 1] = correlation + np.array([-0.01, 0, 0.01])[:, None, None]
    return label_law.Result(
        members=members,
        step_S=np.array([0, 50]),
        early=50,
        correlation=values,
        bound=np.full((*shape, 2), bound),
        untrained=np.full(shape, untrained),
        pairs={},
    )


@pytest.mark.parametrize(
    ('result', 'words'),
    [
        (make_result(0.95), 'holds'),
        (make_result(0.7), 'undecided'),
        (make_result(0.5), 'does not hold'),  # above chance, but not strong
        (make_result(0.95, untrained=0.95), 'does not hold'),
        (make_result(0.8, bound=0.9), 'does not hold'),
        (make_result(-0.8), 'opposite'),
        (make_result(np.nan), 'undecided'),
    ],
)
def test_a_correlation_decides_each_way(result, words):
    reading = embeddings.read_prediction(result, '', 'reasoning', 'label law')
    assert reading.verdict.words == words


def test_the_span_of_a_strong_correlation_is_named():
    reading = embeddings.read_prediction(make_result(0.95), '', 'both', 'matrices')
    assert 'r above 0.7 from step 50 to 50' in reading.note
    weak = embeddings.read_prediction(make_result(0.1), '', 'both', 'matrices')
    assert 'r above 0.7 at no snapshot' in weak.note
