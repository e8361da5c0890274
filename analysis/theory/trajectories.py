"""Gradient flow of the Emb-MLP in time, from the data set alone (P2; PAPERS 2.4).

With an activation of value 0 and derivative 1 at 0, the logits of a small Emb-MLP are
n(X) W_embed W_1 W_2, where n(X) counts the tokens of a sequence. So the data set enters
through two matrices (`Moments`), however large it is. Time is that of gradient flow: a
step of gradient descent with rate h takes h.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analysis.theory.label_law import Examples, count_laws
from anchorjax.errors import require
from anchorjax.experiment import Experiment


class Weights(NamedTuple):
    """The parameters of an Emb-MLP, or how fast each changes."""

    W_embed: np.ndarray  # [V, D]
    W_1: np.ndarray  # [D, F]
    W_2: np.ndarray  # [F, V]


class Moments(NamedTuple):
    """Means over the sequences of a data set."""

    residual_VV: np.ndarray  # [token, label]: of n(X) (label - 1/V), r_s (P_s - 1/V)
    counts_VV: np.ndarray  # [token, token]: of n(X)^T n(X)


# What a flow needs: the velocity at a point.
Velocity = Callable[[Weights], Weights]


def measure_moments(examples: Examples, vocab: int) -> Moments:
    """The moments of a data set."""
    tokens_BT, label_B = examples
    laws = count_laws(tokens_BT, label_B, vocab)
    counts_VV = np.zeros((vocab, vocab))
    columns = tokens_BT.T
    for tokens_B in columns:
        for others_B in columns:
            np.add.at(counts_VV, (tokens_B, others_B), 1)
    return Moments(laws.residual_VV, counts_VV / len(tokens_BT))


def frozen_flow(moments: Moments) -> Velocity:
    """The linear equation of P2: W_1 and W_2 stay, and labels are 1/V likely.

    dW_embed/dt = R W_2^T W_1^T, with R = r_s (P_s - 1/V).
    """

    def velocity(weights: Weights) -> Weights:
        moving = _descend(weights, moments.residual_VV)
        still_1 = np.zeros_like(weights.W_1)
        still_2 = np.zeros_like(weights.W_2)
        return Weights(moving.W_embed, still_1, still_2)

    return velocity


def coupled_flow(moments: Moments) -> Velocity:
    """All three matrices move; labels are 1/V likely.

    It is infinite after a finite time; then `integrate` gives inf or NaN.
    """

    def velocity(weights: Weights) -> Weights:
        return _descend(weights, moments.residual_VV)

    return velocity


def feedback_flow(moments: Moments) -> Velocity:
    """As `coupled_flow`, with the probability of a label to first order in the logits.

    p = 1/V + (z - mean z) / V, so that what is learned is learned no more.
    """
    vocab = len(moments.residual_VV)

    def velocity(weights: Weights) -> Weights:
        logits_VV = weights.W_embed @ weights.W_1 @ weights.W_2  # of one token alone
        centered_VV = logits_VV - logits_VV.mean(1, keepdims=True)
        learned_VV = moments.counts_VV @ centered_VV / vocab
        return _descend(weights, moments.residual_VV - learned_VV)

    return velocity


def integrate(
    velocity: Velocity, start: Weights, times: np.ndarray, largest_step: float
) -> list[Weights]:
    """The weights at each of some increasing times, by explicit steps from time 0.

    Raises:
      ConfigError: times decrease or are negative, or the step is not positive.
    """
    times = np.asarray(times, np.float64)
    is_increasing = (np.diff(times, prepend=0.0) >= 0).all()
    require(is_increasing, 'times', times.tolist(), 'increasing, from 0 on')
    require(largest_step > 0, 'largest_step', largest_step, 'above 0')
    weights = Weights(*[np.array(leaf, np.float64) for leaf in start])
    path, now = [], 0.0
    for time in times:
        num_steps = int(np.ceil((time - now) / largest_step))
        for _ in range(num_steps):
            step = (time - now) / num_steps
            with np.errstate(over='ignore', invalid='ignore'):
                weights = _advance(weights, velocity(weights), step)
        path.append(weights)
        now = time
    return path


def displacement_error(
    predicted: np.ndarray,
    measured: np.ndarray,
    start: np.ndarray,
    tokens: np.ndarray | None = None,
) -> float:
    """How far a prediction of W_embed is off: 0 exact, 1 as bad as no movement.

    The distance of predicted and measured embeddings [V, D] by the distance that they
    went from the start; NaN if they did not move.

    Args:
      tokens: rows that count; None: all.
    """
    if tokens is None:
        tokens = np.arange(len(start))
    moved = np.linalg.norm(measured[tokens] - start[tokens])
    missed = np.linalg.norm(predicted[tokens] - measured[tokens])
    return float(missed / moved) if moved > 0 else np.nan


def flow_time(experiment: Experiment, step: int, learning_rate: float) -> float:
    """The time of gradient flow after so many steps of a sweep.

    AdamW without moments and with a huge eps is gradient descent with the rate
    learning_rate / eps, as in configs/memory_reasoning.py:flow.

    Raises:
      ConfigError: the sweep was trained in another way.
    """
    optimizer = experiment.optimizer
    is_plain = optimizer.b1 == 0 and optimizer.b2 == 0
    allowed = '0, as optimizer.b2: else training is no gradient descent'
    require(is_plain, 'optimizer.b1', optimizer.b1, allowed)
    for field in ('eps', 'clip_norm'):
        value = getattr(optimizer, field)
        allowed = 'at least 100, far above any gradient, for gradient descent'
        require(value >= 100, f'optimizer.{field}', value, allowed)
    allowed = "'constant', for gradient descent"
    require(optimizer.shape == 'constant', 'optimizer.shape', optimizer.shape, allowed)
    decay = experiment.grid.weight_decay
    require(decay == (0.0,), 'grid.weight_decay', decay, '(0.0,), for gradient flow')
    return step * learning_rate / optimizer.eps


def _descend(weights: Weights, residual_VV: np.ndarray) -> Weights:
    """Minus the gradient of the loss, if logits differ from labels by the residual."""
    W_embed, W_1, W_2 = weights
    return Weights(
        W_embed=residual_VV @ (W_1 @ W_2).T,
        W_1=W_embed.T @ residual_VV @ W_2.T,
        W_2=(W_embed @ W_1).T @ residual_VV,
    )


def _advance(weights: Weights, velocity: Weights, step: float) -> Weights:
    moved = []
    for leaf, change in zip(weights, velocity, strict=True):
        moved.append(leaf + step * change)
    return Weights(*moved)
