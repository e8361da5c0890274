"""Made-up but realistic members of a report: curves, attention, an embedding."""

import math
import random
from typing import Any

STEPS = list(range(0, 4001, 250))
SCORES = {  # (depth, gamma): held-out, inferential, symmetric
    (1, 0.3): (0.71, 0.04, 0.92),
    (1, 0.6): (0.95, 0.03, 0.97),
    (1, 0.9): (0.79, 0.02, 0.92),
    (1, 1.2): (0.73, 0.24, 0.73),
    (1, 1.5): (0.84, 0.23, 0.76),
    (2, 0.3): (0.75, 0.59, 0.14),
    (2, 0.6): (0.89, 0.00, 0.97),
    (2, 0.9): (0.93, 0.00, 0.98),
    (2, 1.2): (0.94, 0.56, 0.06),
    (2, 1.5): (0.98, 0.93, 0.00),
}
TOKENS = [35, 63, 99, 4, 3, 38, 42, 36, 62]
ROLES = ['noise', 'noise', 'key', 'anchor_1', 'anchor_2', 'noise', 'noise', 'noise']
ROLES += ['last']
POSITIONS = list(range(7))
KEY, ANCHORS, LAST = 2, (3, 4), 8  # positions
# For each layer, the positions that a position reads: the mechanisms of P1 Fig 3.
SYMMETRIC_READS = ({LAST: ANCHORS}, {LAST: (KEY,)})
INFERENTIAL_READS = ({3: (KEY,), 4: (KEY,)}, {LAST: ANCHORS})


def make_member(point: dict[str, Any]) -> dict[str, Any]:
    """A trained member, always the same for the same point."""
    rng = random.Random(str(list(point.values())))
    scores = SCORES[point['depth'], point['gamma']]
    held_out, inferential, symmetric = [vary_score(score, rng) for score in scores]
    agreement = [  # [probe, mapping]; 14 of the 15 seen pairs are inferential
        [0.93, 0.93, 1.0],
        [held_out * 0.93, held_out * 0.93, held_out],
        [inferential, symmetric, inferential],
    ]
    solution = 'memorizing' if held_out < 0.9 else 'other'
    if inferential >= 0.9:
        solution = 'inferential'
    elif symmetric >= 0.9 and held_out >= 0.9:
        solution = 'symmetric'
    losses = [3 - 3 * score for score in (0.999, held_out, -1.2)]
    return {
        'point': point,
        'status': 'trained',
        'solution': solution,
        'answer': make_answer(inferential, symmetric),
        'by_position': make_positions(inferential, symmetric, rng),
        'numbers': {
            'training loss': 0.0031 * rng.uniform(0.7, 1.4),
            'agreement on seen pairs, trained keys': 1.0,
            'held-out agreement': held_out,
            'inferential on the unseen pair': inferential,
            'symmetric on the unseen pair': symmetric,
            'loss on the unseen pair': rng.uniform(0.2, 7),
            'gradient norm': 4.2e-5,
            'condensed neurons of W_Q': None,
        },
        'agreement': [[make_curve(v, 0.01, rng) for v in row] for row in agreement],
        'probe_loss': [make_curve(loss, 5.2, rng) for loss in losses],
        'train_loss': make_curve(0.003, 5.3, rng),
        'attention': make_attention(point['depth'], symmetric > inferential, rng),
        'embedding': make_embedding(point['gamma'], rng),
    }


def make_unconverged(member: dict[str, Any]) -> dict[str, Any]:
    numbers = member['numbers'] | {'training loss': 0.31}
    return member | {'status': 'not converged (train loss 0.31)', 'numbers': numbers}


def make_diverged(member: dict[str, Any], after: int) -> dict[str, Any]:
    """The member without records after the record number `after`."""

    def cut(values: list) -> list:
        if isinstance(values[0], list):
            return [cut(inner) for inner in values]
        return values[:after] + [math.nan] * (len(values) - after)

    return {
        'point': member['point'],
        'status': f'diverged at step {STEPS[after]}',
        'solution': None,
        'answer': None,
        'by_position': None,
        'numbers': {'training loss': math.nan},
        'agreement': cut(member['agreement']),
        'probe_loss': cut(member['probe_loss']),
        'train_loss': cut(member['train_loss']),
        'attention': None,
        'embedding': None,
    }


def make_untrained(member: dict[str, Any]) -> dict[str, Any]:
    blank = [None] * len(STEPS)
    return {
        'point': member['point'],
        'status': 'not trained',
        'solution': None,
        'answer': None,
        'by_position': None,
        'numbers': {'training loss': None},
        'agreement': [[blank] * 3] * 3,
        'probe_loss': [blank] * 3,
        'train_loss': blank,
        'attention': None,
        'embedding': None,
    }


def vary_score(score: float, rng: random.Random) -> float:
    """A score in [0, 1] near the given one; a score of zero stays."""
    noise = rng.uniform(-0.06, 0.06)
    if score <= 0.01:
        return score
    return min(1.0, max(0.0, score + noise))


def make_answer(inferential: float, symmetric: float) -> str:
    name = 'inferential' if inferential > symmetric else 'symmetric'
    return f'{name} (share {max(inferential, symmetric):.2f})'


def make_positions(
    inferential: float, symmetric: float, rng: random.Random
) -> dict[str, list[float]]:
    """Agreement with the key at each of POSITIONS."""
    scores = {'inferential': inferential, 'symmetric': symmetric}
    by_position = {}
    for mapping, score in scores.items():
        by_position[mapping] = [vary_score(score, rng) for _ in POSITIONS]
    return by_position


def make_curve(end: float, start: float, rng: random.Random) -> list[float]:
    """From start to end along a noisy sigmoid; geometrically where both are losses."""
    curve = []
    for i in range(len(STEPS)):
        share = 1 / (1 + math.exp(-(i - 5) * 0.9))
        noise = rng.uniform(-0.04, 0.04) * share * (1 - share) * 4
        share = max(0.0, share + noise)
        if start > 1:
            curve.append(start * (max(end, 1e-3) / start) ** share)
        else:
            curve.append(min(1.0, max(0.0, start + (end - start) * share)))
    return curve


def make_attention(depth: int, symmetric: bool, rng: random.Random) -> dict[str, Any]:
    """The mechanisms of P1 Fig 3, with a little noise."""
    layers = []
    for reads in (SYMMETRIC_READS if symmetric else INFERENTIAL_READS)[:depth]:
        positions = range(len(TOKENS))
        layers.append([make_attention_row(j, reads.get(j, ()), rng) for j in positions])
    return {
        'tokens': TOKENS,
        'roles': ROLES,
        'layers': layers,
        'prediction': 93 if symmetric else 89,
        'expected': {'inferential': 89, 'symmetric': 93, 'assigned': 89},
    }


def make_attention_row(
    position: int, sources: tuple[int, ...], rng: random.Random
) -> list[float]:
    """Attention of one position, mostly to its sources."""
    row = []
    for k in range(len(TOKENS)):
        row.append(rng.random() * 0.4 if k <= position else 0.0)
    for k in sources:
        row[k] += 6.0 / len(sources)
    return [weight / sum(row) for weight in row]


def make_embedding(gamma: float, rng: random.Random) -> dict[str, Any]:
    """Small weights: values along a curve; large ones: a cloud."""
    order = min(1.0, gamma / 1.4)
    spread = 1.1 - order
    xy = []
    for value in range(20, 100):
        t = 2 * (value - 20) / 79 - 1
        curve = (t, 1.6 * t**2 - 0.7)
        xy.append([order * c + spread * rng.gauss(0, 0.6) for c in curve])
    return {'values': list(range(20, 100)), 'xy': xy, 'explained': [0.41, 0.17]}
