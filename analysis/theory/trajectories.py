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


# The velocity at a point, of a data set.
Flow = Callable[[Weights, Moments], Weights]


def measure_moments(examples: Examples, vocab: int) -> Moments:
    """The moments of a data set."""
    laws = count_laws(*examples, vocab)
    counts_VV = np.zeros((vocab, vocab))
    columns = examples.tokens_BT.T
    for tokens_B in columns:
        for others_B in columns:
            np.add.at(counts_VV, (tokens_B, others_B), 1)
    return Moments(laws.residual_VV, counts_VV / len(examples.label_B))


def frozen_flow(weights: Weights, moments: Moments) -> Weights:
    """The linear equation of P2: W_1 and W_2 stay, and labels are 1/V likely.

    dW_embed/dt = R W_2^T W_1^T, with R = r_s (P_s - 1/V).
    """
    moving = _descend(weights, moments.residual_VV)
    still_1 = np.zeros_like(weights.W_1)
    still_2 = np.zeros_like(weights.W_2)
    return Weights(moving.W_embed, still_1, still_2)


def coupled_flow(weights: Weights, moments: Moments) -> Weights:
    """All three matrices move; labels are 1/V likely.

    It is infinite after a finite time; then `integrate` gives inf or NaN.
    """
    return _descend(weights, moments.residual_VV)


def feedback_flow(weights: Weights, moments: Moments) -> Weights:
    """As `coupled_flow`, with the probability of a label to first order in the logits.

    p = 1/V + (z - mean z) / V, so that what is learned is learned no more.
    """
    logits_VV = weights.W_embed @ weights.W_1 @ weights.W_2  # of one token alone
    centered_VV = logits_VV - logits_VV.mean(1, keepdims=True)
    learned_VV = moments.counts_VV @ centered_VV / len(logits_VV)
    return _descend(weights, moments.residual_VV - learned_VV)


FLOWS = {'frozen': frozen_flow, 'coupled': coupled_flow, 'feedback': feedback_flow}


def integrate(
    flow: Flow,
    moments: Moments,
    start: Weights,
    times: np.ndarray,
    largest_step: float = 0.5,
) -> list[Weights]:
    """The weights at each of some increasing times, by explicit steps from time 0."""
    weights = Weights(*[np.array(leaf, np.float64) for leaf in start])
    path, now = [], 0.0
    for time in times:
        num_steps = int(np.ceil((time - now) / largest_step))
        for _ in range(num_steps):
            step = (time - now) / num_steps
            with np.errstate(over='ignore', invalid='ignore'):
                weights = _advance(weights, flow(weights, moments), step)
        path.append(weights)
        now = time
    return path


def displacement_error(
    predicted_FSVD: np.ndarray, measured_SVD: np.ndarray, start_VD: np.ndarray
) -> np.ndarray:
    """How far predicted embeddings are off, [F, S]: 0 exact, 1 as bad as no movement.

    The distance of predicted and measured embeddings by the distance that they went
    from the start; inf where the prediction is infinite.
    """
    moved_S = np.linalg.norm(measured_SVD - start_VD, axis=(-2, -1))
    with np.errstate(over='ignore', invalid='ignore'):
        missed_FS = np.linalg.norm(predicted_FSVD - measured_SVD, axis=(-2, -1))
    return np.where(np.isfinite(missed_FS), missed_FS, np.inf) / moved_S


def flow_time(
    experiment: Experiment, step: np.ndarray, learning_rate: float
) -> np.ndarray:
    """The time of gradient flow at a step of a sweep, or at several.

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
