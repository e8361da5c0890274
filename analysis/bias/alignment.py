"""Does W_V read the directions of some tokens' embeddings? (P2 Fig 6)"""

from typing import NamedTuple

import numpy as np

from analysis.spectra import measures

_DRAWS = 20_000
VECTORS = 3  # leading singular vectors


class ValueMatrix(NamedTuple):
    """The singular values of W_V, and what its leading vectors read."""

    sigma: np.ndarray  # [D or K]
    # |cosine| of the embeddings of each kind with the leading vectors of the input.
    alignment: np.ndarray  # [kind, VECTORS], mean over the tokens of the kind


def measure_values(
    W_V: np.ndarray, W_embed: np.ndarray, tokens: dict[str, np.ndarray]
) -> ValueMatrix:
    """W_V [D, K] is read from the left: its input directions are in the stream."""
    U, sigma, _ = np.linalg.svd(np.asarray(W_V, np.float64))
    directions = U[:, :VECTORS].T
    alignment = []
    for tokens_A in tokens.values():
        cosine_AI = measures.cosines(W_embed[tokens_A], directions)
        alignment.append(np.abs(cosine_AI).mean(0))
    return ValueMatrix(sigma, np.array(alignment))


def expect_random_alignment(width: int) -> tuple[float, float]:
    """(mean, 95 % quantile) of |cosine| of a vector with a random direction."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(_DRAWS, width))
    lengths = np.linalg.norm(directions, axis=1)
    cosines = np.abs(directions[:, 0]) / lengths
    return float(cosines.mean()), float(np.quantile(cosines, 0.95))
