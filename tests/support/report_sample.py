"""A made-up but realistic payload of the report: 20 members, curves, attention, an embedding."""

import base64
import itertools
import math
import pathlib
import random

AXES = {
    'depth': [1, 2],
    'gamma': [0.3, 0.6, 0.9, 1.2, 1.5],
    'learning_rate': [0.004],
    'weight_decay': [0.3],
    'seed': [0, 1],
}
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
HOSTILE = '</script><img src=x onerror=alert(1)>"\'&{{data}}'
GALLERY = pathlib.Path(__file__).parents[2] / 'analysis' / 'gallery'


def payload(axes=None, name: str = 'phase') -> dict:
    """Every member of `axes`; the third has diverged, the last but two was not trained."""
    axes = axes or AXES
    points = [
        dict(zip(axes, values, strict=True))
        for values in itertools.product(*axes.values())
    ]
    members = [member(point) for point in points]
    members[2] |= stopped('diverged at step 1250', after=5, of=members[2])
    members[-3] |= {
        'status': 'not trained',
        'solution': None,
        'numbers': {'train loss': None},
    }
    members[-3] |= {'agreement': blank(), 'probe_loss': [[None] * len(STEPS)] * 3}
    members[-3] |= {
        'train_loss': [None] * len(STEPS),
        'attention': None,
        'embedding': None,
    }
    return {
        'title': name,
        'created': '2026-11-21',
        'summary': '20 members, 18 trained, 1 diverged; depth 1, 2 × γ 0.3 to 1.5 × seed 0, 1',
        'unseen': {
            'pair': '(4, 3)',
            'inferential': 'x − 10',
            'symmetric': 'x − 6',
            'because': 'the reversed pair (3, 4) was trained so',
        },
        'axes': axes,
        'row_axis': 'depth',
        'column_axis': 'gamma',
        'probes': ['seen_train', 'seen_heldout', 'unseen'],
        'mappings': ['inferential', 'symmetric', 'assigned'],
        'record_steps': STEPS,
        'members': members,
        'figures': figures(),
        'claims': CLAIMS,
        'provenance': PROVENANCE,
    }


def hostile() -> dict:
    """Every text somebody else may have written, as an attack."""
    made = payload(name=HOSTILE)
    made['axes'] = {**AXES, 'seed': [HOSTILE, 1]}
    made['unseen'] = dict.fromkeys(made['unseen'], HOSTILE)
    made['summary'] = made['created'] = HOSTILE
    for m in made['members']:
        m['point']['seed'] = HOSTILE if m['point']['seed'] == 0 else 1
        m['status'], m['solution'] = HOSTILE, HOSTILE
        m['numbers'] = {HOSTILE: math.nan}
        if m['attention']:
            m['attention'] |= {'roles': [HOSTILE] * 9, 'prediction': HOSTILE}
            m['attention']['expected'] = {HOSTILE: HOSTILE}
    made['figures'] = [
        {**f, 'title': HOSTILE, 'caption': HOSTILE} for f in made['figures']
    ]
    made['figures'][-1]['missing'] = HOSTILE
    made['claims'] = [dict.fromkeys(CLAIMS[0], HOSTILE)]
    made['provenance'] = {
        'command': HOSTILE,
        HOSTILE: HOSTILE,
        'experiment': {HOSTILE: HOSTILE},
    }
    return made


def blank() -> list:
    return [[[None] * len(STEPS)] * 3] * 3


def member(point: dict) -> dict:
    rng = random.Random(str(sorted(point.items())))
    known = SCORES.get(
        (point['depth'], point['gamma']), (rng.random(), rng.random(), 0.1)
    )
    held_out, inferential, symmetric = (
        min(1, max(0, v + rng.uniform(-0.06, 0.06) * (v > 0.01))) for v in known
    )
    rows = [  # probes × mappings; 14 of the 15 seen pairs are inferential
        [0.93, 0.93, 1.0],
        [held_out * 0.93, held_out * 0.93, held_out],
        [inferential, symmetric, inferential],
    ]
    solved = max((inferential, 'inferential'), (symmetric, 'symmetric'))
    losses = [rise(3 - 3 * v, 5.2, rng) for v in (0.999, held_out, -1.2)]
    return {
        'point': point,
        'status': 'trained',
        'solution': solved[1] if solved[0] >= 0.9 else 'other',
        'numbers': {
            'train loss': 0.0031 * rng.uniform(0.7, 1.4),
            'seen, trained keys': 1.0,
            'held-out': held_out,
            'inferential on unseen': inferential,
            'symmetric on unseen': symmetric,
            'loss on unseen': rng.uniform(0.2, 7),
            'gradient norm': 4.2e-5,
            'condensed neurons of W_Q': None,
        },
        'agreement': [[rise(v, 0.01, rng) for v in row] for row in rows],
        'probe_loss': losses,
        'train_loss': rise(0.003, 5.3, rng),
        'attention': attention(point['depth'], symmetric > inferential, rng),
        'embedding': embedding(point['gamma'], rng),
    }


def stopped(status: str, after: int, of: dict) -> dict:
    """The member `of`, with nothing recorded after the record number `after`."""

    def cut(values):
        if isinstance(values[0], list):
            return [cut(v) for v in values]
        return [*values[:after], *([math.nan] * (len(values) - after))]

    kept = {name: cut(of[name]) for name in ('agreement', 'probe_loss', 'train_loss')}
    nothing = {'solution': None, 'attention': None, 'embedding': None}
    return {**kept, **nothing, 'status': status, 'numbers': {'train loss': math.nan}}


def rise(end: float, start: float, rng) -> list[float]:
    """From start to end along a noisy sigmoid (geometrically where both are losses)."""
    shares = [1 / (1 + math.exp(-(i - 5) * 0.9)) for i in range(len(STEPS))]
    noisy = [max(0.0, s + rng.uniform(-0.04, 0.04) * s * (1 - s) * 4) for s in shares]
    if start > 1:
        return [start * (max(end, 1e-3) / start) ** s for s in noisy]
    return [min(1.0, max(0.0, start + (end - start) * s)) for s in noisy]


TOKENS = [35, 63, 99, 4, 3, 38, 42, 36, 62]
PAPER_ROLES = [
    'noise',
    'noise',
    'key',
    'anchor_1',
    'anchor_2',
    'noise',
    'noise',
    'noise',
    'last',
]


def attention(depth: int, symmetric: bool, rng) -> dict:
    """The two mechanisms of P1 Fig 3, with a little noise."""
    last, key, anchors = 8, 2, (3, 4)
    paths = (
        [{last: anchors}, {last: (key,)}]
        if symmetric
        else [dict.fromkeys(anchors, (key,))]
    )
    paths = [*paths, {last: anchors}][:depth] if not symmetric else paths[:depth]
    layers = [[attention_row(j, path.get(j), rng) for j in range(9)] for path in paths]
    return {
        'tokens': TOKENS,
        'roles': PAPER_ROLES,
        'layers': layers,
        'prediction': 93 if symmetric else 89,
        'expected': {'inferential': 89, 'symmetric': 93, 'assigned': 89},
    }


def attention_row(j: int, sources, rng) -> list[float]:
    raw = [rng.random() * 0.4 if k <= j else 0.0 for k in range(9)]
    for k in sources or ():
        raw[k] += 6.0 / len(sources)
    return [v / sum(raw) for v in raw]


def embedding(gamma: float, rng) -> dict:
    """Small weights: values along a curve; large ones: a cloud."""
    order = min(1.0, gamma / 1.4)
    spread = 1.1 - order
    xy = []
    for value in range(20, 100):
        t = (value - 20) / 79
        curve = (2 * t - 1, 1.6 * (2 * t - 1) ** 2 - 0.7)
        xy.append([order * c + spread * rng.gauss(0, 0.6) for c in curve])
    return {'values': list(range(20, 100)), 'xy': xy, 'explained': [0.41, 0.17]}


def figures() -> list[dict]:
    png = base64.b64encode((GALLERY / 'phase.png').read_bytes()).decode()
    drawn = [
        ('phase', 'The phase diagram', 'Agreement on the unseen pair, by depth and γ.'),
        (
            'solutions',
            'Every member by solution',
            'Hatched where held-out is below 0.9.',
        ),
        ('position', 'Answers by position of the key', ''),
    ]
    missing = {
        'name': 'lazy',
        'title': 'Lazy and rich',
        'caption': '',
        'png_base64': None,
    }
    missing['missing'] = 'this run has no snapshot at step 0'
    names = ('name', 'title', 'caption')
    shown = [
        dict(zip(names, d, strict=True)) | {'png_base64': png, 'missing': None}
        for d in drawn
    ]
    return [*shown, missing]


CLAIMS = [
    {
        'source': 'P1 Sec 4, Fig 2',
        'sentence': 'Large initialization gives the symmetric solution.',
        'number': 'γ 0.6 and 0.9, two layers: 0.97 and 0.98 symmetric, both seeds',
        'verdict': 'holds',
        'note': '',
    },
    {
        'source': 'P1 Sec 4, Fig 2',
        'sentence': 'The transition lies between γ = 0.5 and 0.8.',
        'number': 'between γ 0.9 and 1.5',
        'verdict': 'does not hold',
        'note': 'At width 64 and 4 tokens; the paper has width 400 and 9 tokens.',
    },
    {
        'source': 'P1 Sec 5, Fig 14',
        'sentence': 'A larger learning rate and weight decay bring the inferential solution.',
        'number': '–',
        'verdict': 'cannot be tested here',
        'note': 'This run has one learning rate and one weight decay.',
    },
]
PROVENANCE = {
    'command': 'python launch/sweep.py --config configs/phase.py --config.grid.gamma=0.3,0.6,0.9',
    'git_commit': 'ccc6f7c-dirty',
    'experiment': {
        'name': 'phase',
        'task': {'name': 'anchors', 'seq_len': 4, 'keys': [20, 100], 'split': 'random'},
        'model': {'depth': 2, 'width': 64, 'norm': 'post', 'biases': False},
        'grid': {'gamma': [0.3, 0.6, 0.9, 1.2, 1.5], 'seed': [0, 1]},
    },
    'versions': {'jax': '0.10.2', 'numpy': '2.4.6'},
    'hardware': {'device': 'cpu', 'machine': 'x86_64'},
    'layout': {'lanes': 1, 'devices': 2, 'platform': 'cpu'},
}
