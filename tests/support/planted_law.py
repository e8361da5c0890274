"""Planted tables of members of a designed experiment, whose law is known."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.law import members as law_members

# A cell of the design; every factor of a planted table may replace its value.
CELL = {
    'seq_len': 9,
    'split': 'code',
    'exception': 'trained',
    'last_token': 'any',
    'anchors': 4,
    'batch_size': 512,
    'learning_rate': 1e-3,
    'weight_decay': 0.1,
    'width': 64,
    'depth': 2,
    'num_steps': 4000,
    'gamma': 1.0,
    'qk_offset': 0.0,
}
# Agreement (held-out, composed, symmetric) of a member with each solution.
_AGREEMENT = {
    'composed': (1.0, 0.97, 0.02),
    'symmetric': (1.0, 0.01, 0.98),
    'memorizing': (0.1, 0.2, 0.3),
    'neither': (0.95, 0.5, 0.1),
}


def plant_members(
    decide: Callable[[dict[str, Any]], str], seeds: int = 3, **levels: tuple
) -> pd.DataFrame:
    """The full factorial of these levels, the other factors as in CELL.

    Args:
      decide: from a member's factors and seed to its solution.
    """
    rows = []
    for values in itertools.product(*levels.values(), range(seeds)):
        point = dict(zip((*levels, 'seed'), values, strict=True))
        rows.append(plant_member(decide, CELL | point))
    return law_members.join([pd.DataFrame(rows)])


def let_batch_decide(point: dict[str, Any]) -> str:
    """Small gammas memorize; of the others, the large batch is composed."""
    if point['gamma'] < 0.5:
        return 'memorizing'
    return 'composed' if point['batch_size'] == 2048 else 'symmetric'


def plant_member(
    decide: Callable[[dict[str, Any]], str], point: dict[str, Any]
) -> dict[str, Any]:
    """One row of the table."""
    solution = decide(point)
    heldout, composed, symmetric = _AGREEMENT[solution]
    return {
        **point,
        'train_loss': 0.004,
        'converged': True,
        'diverged': -1,
        'solution': solution,
        'seen_heldout_assigned': heldout,
        'unseen_composed': composed,
        'unseen_symmetric': symmetric,
        'unseen_within_1': composed,
        'unseen_within_2': composed,
        'answer': solution,
        'answer_share': np.float32(max(composed, symmetric)),
        'lookup_heldout': 0.0,
        'lookup_composed': 0.0,
        'lookup_symmetric': 0.9,
        'run': 'law_planted',
        'hardware': 'cpu planted',
    }
