"""Is the order of items in their vectors? Rows of a matrix against their own order."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import manifold

from analysis import spectra
from anchorjax.errors import require

COMPONENTS = 5
FURTHEST = 20  # steps
STEPS = (3, 4)  # of the arithmetic sequences of P1 Fig 5 (c, d)
QUANTILE = 0.95  # of random orders
_PERMUTED = 20  # draws with every column in a random order of its own


class RandomOrders(NamedTuple):
    """What the measures give for the same rows in random order."""

    explained: np.ndarray  # [component] mean, every column in a random order of its own
    similarity: np.ndarray  # [(5%, 95% quantile), step]
    power: np.ndarray  # [frequency] 95% quantile
    numbers: dict[str, float]  # of `measure_order`, 95% quantiles


def pca(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores [item, component] and share of the variance [component].

    Only the leading COMPONENTS are kept. The sign of a component is chosen so that it
    does not fall with the value of the items.
    """
    centred = _widen(_centre(rows))
    U, sigma, _ = np.linalg.svd(centred, full_matrices=False)
    scores = U * sigma
    scores = scores[:, :COMPONENTS]
    rho = _rank_correlations(scores)
    signs = np.where(rho < 0, -1, 1)
    variances = sigma**2
    shares = variances / variances.sum()
    return scores * signs, shares[:COMPONENTS]


def tsne(rows: np.ndarray, perplexity: float) -> np.ndarray:
    """t-SNE map [item, 2]; the same bits again with the same number of threads.

    Raises:
      UserError: a perplexity that is not between 0 and the number of items.
    """
    count = len(rows)
    allowed = f'above 0 and below {count}, the number of items'
    require(0 < perplexity < count, 'perplexity', perplexity, allowed)
    model = manifold.TSNE(
        perplexity=perplexity,
        init='pca',
        random_state=0,
        method='exact',
    )
    return model.fit_transform(_widen(rows))


def measure_order(rows: np.ndarray) -> dict[str, float]:
    """How much of the order of the rows [item, D] is in them, by name.

    rho 1, 2, ..: |Spearman's correlation| of the value and a component.
    rho: the largest of them.
    line: R^2 of the value, regressed on components 1 and 2.
    curve: R^2 of components 1 and 2, regressed on a cubic of the value.
    strongest, strongest period: share of the power in the strongest period [items].
    """
    count = len(rows)
    scores, shares = pca(rows)
    plane = scores[:, :2][:, shares[:2] > 0]
    value = np.linspace(-1, 1, count).reshape(-1, 1)
    cubic = value ** np.arange(1, 4)
    rho = np.abs(_rank_correlations(scores))
    power = power_spectrum(rows)

    numbers = {}
    for component, correlation in enumerate(rho, start=1):
        numbers[f'rho {component}'] = correlation
    numbers['rho'] = rho.max()
    numbers['line'] = _fit_r2(plane, value)
    numbers['curve'] = _fit_r2(cubic, plane)
    numbers['strongest'] = power.max()
    numbers['strongest period'] = count / (1 + power.argmax())
    return {name: float(number) for name, number in numbers.items()}


def power_spectrum(rows: np.ndarray) -> np.ndarray:
    """Share of the variance along the items in every frequency [1 ..]; sums to 1."""
    coefficients = np.fft.rfft(_centre(rows), axis=0)
    power = (np.abs(coefficients) ** 2).sum(1)
    power = power[1:]  # frequency 0 is the mean, which is removed
    if len(rows) % 2 == 0:
        power[-1] /= 2  # all others stand for their negative frequency, too
    return power / power.sum()


def similarity_by_step(rows: np.ndarray) -> np.ndarray:
    """Mean cosine of centred rows 1, 2, .. items apart [step], up to FURTHEST."""
    cosine = spectra.cosines(_centre(rows))
    furthest = min(FURTHEST, len(rows) - 2)
    similarity = []
    for step in range(1, furthest + 1):
        pairs = np.diagonal(cosine, step)
        similarity.append(pairs.mean())
    return np.array(similarity)


def measure_random_orders(rows: np.ndarray, permutations: int) -> RandomOrders:
    """Chance levels from `permutations` random orders of the rows [item, D]."""
    rng = np.random.default_rng(0)
    numbers = []
    powers = []
    similarities = []
    for _ in range(permutations):
        shuffled = rng.permutation(rows)
        numbers.append(measure_order(shuffled))
        powers.append(power_spectrum(shuffled))
        similarities.append(similarity_by_step(shuffled))
    explained = []
    for _ in range(_PERMUTED):
        _, shares = pca(rng.permuted(rows, axis=0))
        explained.append(shares)
    return RandomOrders(
        explained=np.mean(explained, axis=0),
        similarity=np.quantile(similarities, (0.05, QUANTILE), axis=0),
        power=np.quantile(powers, QUANTILE, axis=0),
        numbers={**pd.DataFrame(numbers).quantile(QUANTILE)},
    )


def _centre(rows: np.ndarray) -> np.ndarray:
    rows = np.asarray(rows, np.float64)
    return rows - rows.mean(0)


def _widen(rows: np.ndarray) -> np.ndarray:
    """The rows [item, D] with a column of zeros if D is 1: a plane has two axes."""
    missing = max(0, 2 - rows.shape[1])
    return np.pad(rows, ((0, 0), (0, missing)))


def _rank_correlations(scores: np.ndarray) -> np.ndarray:
    """Spearman's correlation of every column with the order of the rows."""
    ranks = _centre(stats.rankdata(scores, axis=0))
    positions = _centre(np.arange(len(scores)))
    cosine = spectra.cosines(ranks.T, positions[None])
    return cosine[:, 0]


def _fit_r2(inputs: np.ndarray, targets: np.ndarray) -> float:
    """R^2 of a linear regression, relative to the variance of all targets."""
    basis, _ = np.linalg.qr(_centre(inputs))
    targets = _centre(targets)
    projections = basis.T @ targets
    explained = (projections**2).sum()
    total = (targets**2).sum()
    return float(explained / total)
