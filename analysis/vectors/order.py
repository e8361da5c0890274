"""Is the order of things in their vectors? Rows of a matrix, against the order they come in."""

import numpy as np
from scipy import stats
from sklearn import manifold

from analysis.spectra import measures
from anchorjax.errors import UserError

COMPONENTS = 5
FURTHEST = 20  # steps
STEPS = (3, 4)  # P1 Fig 5 (c, d): arithmetic sequences of these


def pca(rows) -> tuple[np.ndarray, np.ndarray]:
    """(scores [item, component], share of the variance [component]) of the leading components."""
    U, sigma, _ = np.linalg.svd(_centred(rows), full_matrices=False)
    scores = (U * sigma)[:, :COMPONENTS]
    signs = np.where(_rho(scores) < 0, -1, 1)
    return scores * signs, (sigma**2 / (sigma**2).sum())[:COMPONENTS]


def tsne(rows, perplexity: float) -> np.ndarray:
    """[item, 2]; the same again where the number of threads is."""
    if not 0 < perplexity < len(rows):
        raise UserError(
            f'perplexity = {perplexity:g}: must be below the {len(rows)} items'
        )
    model = manifold.TSNE(
        perplexity=perplexity, init='pca', random_state=0, method='exact'
    )
    return model.fit_transform(rows)


def numbers(rows) -> dict[str, float]:
    """What of the order of the rows [item, D] is in them.

    rho 1, 2, ..: |Spearman's| of value and component. line: R^2 of the value on components 1 and 2.
    curve: R^2 of components 1 and 2 on a cubic of the value. strongest: its share of the power.
    similarity and power at steps and periods 3 and 4: of centred rows.
    """
    scores, _ = pca(rows)
    value, share, similar = (
        np.linspace(-1, 1, len(rows))[:, None],
        power(rows),
        similarity(rows),
    )
    rho = np.abs(_rho(scores))
    found = {f'rho {i + 1}': r for i, r in enumerate(rho)} | {
        'rho': rho.max(),
        'line': _fit(scores[:, :2], value),
        'curve': _fit(value ** np.arange(1, 4), scores[:, :2]),
        'strongest': share.max(),
        'strongest period': len(rows) / (1 + share.argmax()),
    }
    distance = np.abs(
        np.arange(1, len(share) + 1)[:, None] - len(rows) / np.array(STEPS)
    )
    for i, step in enumerate(STEPS):  # a period between two frequencies is both of them
        found |= {f'period {step}': share[distance[:, i] < 1].sum()}
        found |= {f'similarity {step}': similar[step - 1]}
    return {name: float(number) for name, number in found.items()}


def power(rows) -> np.ndarray:
    """[frequency 1 ..] share of the centred rows' Fourier power along the items; sums to one."""
    found = (np.abs(np.fft.rfft(_centred(rows), axis=0)) ** 2).sum(1)[1:]
    return found / found.sum()


def similarity(rows) -> np.ndarray:
    """[step] mean cosine of centred rows 1, 2, .. items apart."""
    cosine = measures.cosines(_centred(rows))
    furthest = min(FURTHEST, len(rows) - 2)
    return np.array(
        [np.diagonal(cosine, step).mean() for step in range(1, furthest + 1)]
    )


def _centred(rows) -> np.ndarray:
    rows = np.asarray(rows, np.float64)
    return rows - rows.mean(0)


def _rho(scores) -> np.ndarray:
    """Spearman's correlation of every column with the order of the rows."""
    ranks = _centred(stats.rankdata(scores, axis=0))
    return measures.cosines(ranks.T, _centred(np.arange(len(scores))[:, None]).T)[:, 0]


def _fit(inputs, targets) -> float:
    """R^2 of a linear regression, of all the targets' variance."""
    basis, targets = np.linalg.qr(_centred(inputs))[0], _centred(targets)
    return float(((basis.T @ targets) ** 2).sum() / (targets**2).sum())
