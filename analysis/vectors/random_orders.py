"""What the measures of `vectors.order` give for the same rows in random order."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.vectors import order

_PERMUTED = 20  # draws with every column in a random order of its own


class RandomOrders(NamedTuple):
    """Chance levels of the order in rows."""

    explained: np.ndarray  # [component] mean, every column in a random order of its own
    similarity: np.ndarray  # [(5%, 95% quantile), step]
    power: np.ndarray  # [frequency] 95% quantile
    numbers: pd.DataFrame  # of `order.measure_order`, a row per permutation


def measure_random_orders(rows: np.ndarray, permutations: int) -> RandomOrders:
    """Chance levels from `permutations` random orders of the rows [item, D]."""
    rng = np.random.default_rng(0)
    numbers = []
    powers = []
    similarities = []
    for _ in range(permutations):
        shuffled = rng.permutation(rows)
        numbers.append(order.measure_order(shuffled))
        powers.append(order.power_spectrum(shuffled))
        similarities.append(order.similarity_by_step(shuffled))
    explained = []
    for _ in range(_PERMUTED):
        _, shares = order.pca(rng.permuted(rows, axis=0))
        explained.append(shares)
    return RandomOrders(
        explained=np.mean(explained, axis=0),
        similarity=np.quantile(similarities, (0.05, 0.95), axis=0),
        power=np.quantile(powers, 0.95, axis=0),
        numbers=pd.DataFrame(numbers),
    )


def bound_numbers(rows: np.ndarray, permutations: int) -> dict[str, float]:
    """95% quantile of every number of `order.measure_order` over random orders."""
    found = measure_random_orders(rows, permutations).numbers
    return found.quantile(0.95).to_dict()
