"""A member's embedding in time: measured, by every flow, and the error of batches."""

import functools

import numpy as np

from analysis.members.member import make_untrained, member_of
from analysis.members.point import Point
from analysis.theory import trajectories
from analysis.theory.label_law import count_laws, read_examples
from analysis.theory.trajectories import Moments, Weights
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks import TaskConfig

FLOWS = {
    'frozen': trajectories.frozen_flow,
    'coupled': trajectories.coupled_flow,
    'feedback': trajectories.feedback_flow,
}
_BATCHES = 20  # to see how much they differ


def predict_paths(
    run: Run, step_S: np.ndarray, point: Point, largest_step: float
) -> list[list[Weights]]:
    """The weights along every flow at every snapshot."""
    experiment = run.experiment_of(**point)
    if experiment.model.name != 'emb_mlp':
        raise UserError(f"model {experiment.model.name!r}: the flow is of 'emb_mlp'")
    times = []
    for step in step_S:
        rate = point['learning_rate']
        times.append(trajectories.flow_time(experiment, int(step), rate))
    untrained = make_untrained(member_of(run, int(step_S[-1]), **point))
    start = Weights(*[untrained.matrix(name) for name in Weights._fields])
    moments = _measure_data(experiment.task, point['seed'])
    paths = []
    for make_flow in FLOWS.values():
        flow = make_flow(moments)
        paths.append(trajectories.integrate(flow, start, times, largest_step))
    return paths


@functools.lru_cache(maxsize=8)
def _measure_data(config: TaskConfig, seed: int) -> Moments:
    examples = read_examples(config, seed)
    return trajectories.measure_moments(examples, config.vocab)


def expect_sampling(
    run: Run, step_S: np.ndarray, point: Point, rows_of: dict[str, np.ndarray]
) -> np.ndarray:
    """The error that batches alone would give at every snapshot, [rows_of, S].

    Of the frozen flow: the mean of so many batches has 1 / sqrt(step) of the deviation
    of one. What is measured moves by drift and deviation together, so that the error is
    n / sqrt(1 + n^2) of a deviation of n times the drift.

    Args:
      rows_of: tokens whose embeddings count, by name.
    """
    experiment = run.experiment_of(**point)
    start = make_untrained(member_of(run, int(step_S[-1]), **point))
    W_12 = start.matrix('W_1') @ start.matrix('W_2')
    examples = read_examples(experiment.task, point['seed'])
    vocab = experiment.task.vocab
    expected_VD = count_laws(*examples, vocab).residual_VV @ W_12.T
    rng = np.random.default_rng(0)
    deviations = []
    for _ in range(_BATCHES):
        number = rng.integers(len(examples.label_B), size=experiment.train.batch_size)
        batch = (examples.tokens_BT[number], examples.label_B[number])
        drawn_VD = count_laws(*batch, vocab).residual_VV @ W_12.T
        deviations.append(drawn_VD - expected_VD)
    shares = []
    for rows in rows_of.values():
        deviation = np.sqrt((np.array(deviations)[:, rows] ** 2).sum((1, 2)).mean())
        shares.append(deviation / np.linalg.norm(expected_VD[rows]))
    ratio = np.array(shares)[:, None] / np.sqrt(step_S)
    return ratio / np.sqrt(1 + ratio**2)


def read_path(
    run: Run, step_S: np.ndarray, point: Point
) -> tuple[np.ndarray, np.ndarray]:
    """(W_embed at the start [V, D], at the snapshots [S, V, D])."""
    last = member_of(run, int(step_S[-1]), **point)
    start = make_untrained(last).matrix('W_embed')
    path = [run.parameter('W_embed', int(step), **point) for step in step_S]
    return start.astype(np.float64), np.array(path, np.float64)
