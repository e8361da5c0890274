"""A flow that was followed is found to hold; the error of batches is measured."""

import numpy as np
import pytest

from analysis import theory_path
from analysis.bias.readings import networks
from analysis.bias.tokens import TASK
from analysis.members.member import member_of
from analysis.members.untrained import make_untrained
from analysis.theory import trajectories
from analysis.theory.label_law import read_examples
from analysis.theory.trajectories import Weights
from anchorjax.errors import ConfigError, UserError
from anchorjax.storage.reader import Run
from tests.support.drawing import draw_pixels

FROZEN = 0


def test_the_last_step_is_before_the_first_failure():
    steps = np.array([1, 5, 10])
    holds = np.array([[True, True, True], [True, False, True], [False, True, True]])
    assert theory_path.find_last_step(steps, holds).tolist() == [10, 1, 0]


def test_the_plane_holds_a_planted_movement():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(8, 2)))[0].T
    moved = rng.normal(size=(4, 5, 2)) @ directions
    plane = theory_path.find_plane(moved)
    np.testing.assert_allclose(plane @ plane.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(moved @ plane.T @ plane, moved, atol=1e-12)


def follow_frozen_flow(run):
    """{(gamma, seed, step): W_embed} along the frozen flow, as if trained by it."""
    paths = {}
    for point in theory_path.list_points(run, TASK):
        member = make_untrained(member_of(run, 20, **point))
        start = Weights(*[member.matrix(name) for name in Weights._fields])
        examples = read_examples(member.experiment.task, point['seed'])
        moments = trajectories.measure_moments(examples, 64)
        velocity = trajectories.frozen_flow(moments)(start).W_embed
        for step in (0, 1, 5, 10, 20):
            moved = start.W_embed + step * 0.25 * velocity
            paths[point['gamma'], point['seed'], step] = moved
    return paths


def test_members_that_follow_the_frozen_flow_hold_to_the_end(open_sweep, monkeypatch):
    run = open_sweep('flow')
    paths = follow_frozen_flow(run)

    def parameter(self, path, step='last', **point):
        assert path == 'W_embed'
        return paths[point['gamma'], point['seed'], step]

    monkeypatch.setattr(Run, 'parameter', parameter)
    result = theory_path.compute(run)
    assert result.error[:, FROZEN].max() < 1e-5
    assert (result.holds_until[:, FROZEN] == 20).all()
    np.testing.assert_allclose(
        result.predicted[:, FROZEN], result.measured, rtol=1e-4, atol=1e-6
    )
    # Another flow is another path.
    assert result.error[:, 1].max() > 1e-3


def test_a_sweep_has_an_error_for_every_flow_and_kind(open_sweep):
    run = open_sweep('flow')
    result = theory_path.compute(run)
    assert result.error.shape == (6, 3, 4, 4)
    assert result.step_S.tolist() == [1, 5, 10, 20]
    member = member_of(run, 10, gamma=0.8, seed=0)
    start = make_untrained(member)
    weights = Weights(*[start.matrix(name) for name in Weights._fields])
    examples = read_examples(member.experiment.task, 0)
    moments = trajectories.measure_moments(examples, 64)
    # Ten steps of rate 250 / 1,000: time 2.5.
    flow = trajectories.feedback_flow(moments)
    (end,) = trajectories.integrate(flow, weights, np.array([2.5]), 0.5)
    rows = np.arange(21, 33)
    expected = trajectories.displacement_error(
        end.W_embed, member.matrix('W_embed'), start.matrix('W_embed'), rows
    )
    keys = theory_path.ROWS.index('keys')
    assert result.error[3, 2, keys, 2] == pytest.approx(expected, rel=1e-2)
    assert np.ptp(draw_pixels(result, theory_path)) > 0


def test_batches_of_eight_explain_the_error_at_a_small_start(open_sweep):
    """The deviation falls as 1 / sqrt(step); the error is about the one measured."""
    result = theory_path.compute(open_sweep('flow'))
    sampling = result.sampling[:, 0]
    deviation = sampling / np.sqrt(1 - sampling**2)
    np.testing.assert_allclose(deviation[:, 0] / deviation[:, 3], np.sqrt(20))
    is_small = result.members['gamma'] == 0.8
    measured = result.error[is_small, FROZEN, 0]
    np.testing.assert_allclose(measured[:, 3], sampling[is_small, 3], rtol=0.5)
    np.testing.assert_allclose(measured[:, 0], sampling[is_small, 0], rtol=0.1)


def test_a_flow_as_bad_as_no_movement_never_holds(open_sweep, monkeypatch):
    run = open_sweep('flow')
    paths = follow_frozen_flow(run)

    def parameter(self, path, step='last', **point):
        start = paths[point['gamma'], point['seed'], 0]
        moved = paths[point['gamma'], point['seed'], step]
        return start - (moved - start)  # the other way

    monkeypatch.setattr(Run, 'parameter', parameter)
    result = theory_path.compute(run)
    np.testing.assert_allclose(result.error[:, FROZEN], 2, rtol=1e-3)
    assert (result.holds_until[:, FROZEN] == 0).all()


@pytest.mark.slow
def test_other_training_or_models_are_one_clear_line(open_sweep):
    with pytest.raises(ConfigError, match=r'optimizer\.b1 = 0\.9: must be 0'):
        theory_path.compute(open_sweep('groups'))
    with pytest.raises(UserError, match="model 'transformer': the flow is of"):
        theory_path.compute(open_sweep('transformer'))
    with pytest.raises(UserError, match='limit = 0: must be above 0'):
        theory_path.compute(open_sweep('flow'), limit=0)


@pytest.mark.parametrize(
    ('until', 'words'),
    [
        ([10, 10, 20, 200, 300, 200], 'holds'),
        ([200, 300, 200, 10, 10, 20], 'opposite'),
        ([10, 300, 20, 300, 10, 20], 'undecided'),
    ],
)
def test_the_span_decides_each_way(open_sweep, until, words):
    result = theory_path.compute(open_sweep('flow'))
    holds_until = np.zeros((6, 3, 4))
    holds_until[:, FROZEN, 0] = until
    planted = result._replace(holds_until=holds_until)
    reading = networks.read_flow_lasts(planted, '', 'frozen')
    assert reading.verdict.words == words
    alone = {name: column[3:] for name, column in result.members.items()}
    one_gamma = planted._replace(members=alone)
    reading = networks.read_flow_lasts(one_gamma, '', 'frozen')
    assert reading.note == 'one gamma only'
