"""A made-up but realistic payload of the report, and one made of attacks."""

import base64
import itertools
import math
import pathlib
from typing import Any

from analysis.report import collect
from tests.support.pages.playground_sample import make_playground
from tests.support.pages.report_members import (
    POSITIONS,
    STEPS,
    make_diverged,
    make_member,
    make_unconverged,
    make_untrained,
)

AXES = {
    'depth': [1, 2],
    'gamma': [0.3, 0.6, 0.9, 1.2, 1.5],
    'learning_rate': [0.004],
    'weight_decay': [0.3],
    'seed': [0, 1],
}
PROBES = ['seen_train', 'seen_heldout', 'unseen']
NUMBERS = {
    'numbers': {
        'text': 'gamma\t0.3\t0.6\nbest[0]\t0.1\t',
        'left_out': ['x (9 × 9,999)'],
    }
}
HOSTILE = '</script><img src=x onerror=alert(1)>"\'&{{data}}{% raw %}'
GALLERY = pathlib.Path(__file__).parents[3] / 'analysis' / 'gallery'


def make_payload() -> dict[str, Any]:
    """20 members: one diverged, one is not trained, one has not converged."""
    members = []
    for values in itertools.product(*AXES.values()):
        members.append(make_member(dict(zip(AXES, values, strict=True))))
    members[2] = make_diverged(members[2], after=5)
    members[-3] = make_untrained(members[-3])
    members[-5] = make_unconverged(members[-5])
    unseen = {
        'pair': '(4, 3)',
        'inferential': 'x − 10',
        'symmetric': 'x − 6',
        'because': 'the reversed pair (3, 4) was trained with this answer',
    }
    return {
        'title': 'phase',
        'created': '2026-11-21',
        'summary': '20 networks, 17 converged, 1 not converged, 1 diverged, 1 not '
        'trained',
        'unseen': unseen,
        'general': None,
        'readings': collect.list_readings(unseen, PROBES),
        'first_reading': 'inferential',
        'losses': collect.LOSSES,
        'panels': collect.PANELS,
        'groups': [],
        'axes': AXES,
        'row_axis': 'depth',
        'column_axis': 'gamma',
        'probes': PROBES,
        'mappings': ['inferential', 'symmetric', 'assigned'],
        'positions': POSITIONS,
        'record_steps': STEPS,
        'members': members,
        'playground': make_playground(),
        'outcome': OUTCOME,
        'figures': make_figures(),
        'claims': CLAIMS,
        'provenance': PROVENANCE,
    }


def make_hostile_payload() -> dict[str, Any]:
    """Every text that somebody else may have written is an attack."""
    payload = make_payload()
    payload['title'] = payload['summary'] = payload['created'] = HOSTILE
    payload['axes'] = {**AXES, 'seed': [HOSTILE, 1]}
    payload['unseen'] = dict.fromkeys(payload['unseen'], HOSTILE)
    payload['readings'] = collect.list_readings(payload['unseen'], PROBES)
    payload['outcome'] = {
        'headings': [(HOSTILE, [HOSTILE])],
        'trained': HOSTILE,
        'converged': HOSTILE,
        'rows': [dict.fromkeys(OUTCOME['rows'][0], HOSTILE) | {'counts': [HOSTILE]}],
        'sure': [HOSTILE],
    }
    for member in payload['members']:
        if member['point']['seed'] == 0:
            member['point']['seed'] = HOSTILE
        member['status'] = HOSTILE
        member['solution'] = HOSTILE
        member['answer'] = HOSTILE
        member['numbers'] = {HOSTILE: math.nan}
        if member['attention']:
            attack = {'roles': [HOSTILE] * 9, 'prediction': HOSTILE}
            member['attention'] |= attack | {'expected': {HOSTILE: HOSTILE}}
    for figure in payload['figures']:
        figure['title'] = figure['caption'] = HOSTILE
        figure['numbers'] = {'text': HOSTILE, 'left_out': [HOSTILE]}
    payload['figures'][-1]['missing'] = HOSTILE
    payload['claims'] = [dict.fromkeys(CLAIMS[0], HOSTILE)]
    payload['provenance'] = {
        'command': HOSTILE,
        HOSTILE: HOSTILE,
        'experiment': {HOSTILE: HOSTILE},
        f'{HOSTILE}2': {HOSTILE: HOSTILE},
    }
    return payload


def make_figures() -> list[dict[str, Any]]:
    """Three drawn figures, and one that is not."""
    png = base64.b64encode((GALLERY / 'default.png').read_bytes()).decode()
    texts = (
        ('phase', 'Phase diagram', 'Agreement on the unseen pair, by depth and γ.'),
        ('solutions', 'Solutions', 'Hatched where held-out is below 0.9.'),
        ('position', 'Answers by position of the key', ''),
    )
    figures = []
    for name, title, caption in texts:
        figure = {'name': name, 'title': title, 'caption': caption}
        figure |= {'section': 'The whole sweep', 'width': 1600, 'height': 900}
        figures.append(figure | {'png_base64': png, 'missing': None, **NUMBERS})
    figures.append(
        {
            'name': 'lazy',
            'title': 'Distance from the initialization',
            'caption': '',
            'section': 'The whole sweep',
            'png_base64': None,
            'numbers': None,
            'missing': 'this run has no snapshot at step 0',
        }
    )
    return figures


OUTCOME = {
    'headings': [('γ', [0.3, 0.6, 0.9, 1.2, 1.5]), ('depth', [1, 2])],
    'trained': 18,
    'converged': 17,
    'rows': [
        {
            'solution': 'inferential',
            'style': 'inferential',
            'meaning': 'compose the two anchors',
            'total': 2,
            'counts': [0, 0, 0, 0, 2, 0, 2],
        },
        {
            'solution': 'symmetric',
            'style': 'symmetric',
            'meaning': 'answer as for the reversed pair',
            'total': 6,
            'counts': [1, 3, 2, 0, 0, 2, 4],
        },
    ],
    'sure': ['Each setting has 2 seeds.', 'Converged means a loss of at most 0.02.'],
}
CLAIMS = [
    {
        'source': 'P1 Sec 4, Fig 2',
        'sentence': 'A large initialization gives the symmetric solution.',
        'number': 'γ 0.6 and 0.9, two layers: 0.97 and 0.98 symmetric, both seeds',
        'null': 'the other half: 0.07',
        'verdict': 'holds',
        'note': '17 converged members, 2 seeds',
        'left_out': '1 of 19 members left out: 1 not converged',
    },
    {
        'source': 'P1 Sec 4, Fig 2',
        'sentence': 'The transition lies between γ = 0.5 and 0.8.',
        'number': 'between γ 0.9 and 1.5',
        'null': '0; p = 0.4',
        'verdict': 'does not hold',
        'left_out': '',
        'note': 'At width 64 and 4 tokens; the paper has width 400 and 9 tokens.',
    },
    {
        'source': 'P1 Sec 5, Fig 14',
        'sentence': 'A larger learning rate and weight decay bring the inferential '
        'solution.',
        'number': '–',
        'null': '',
        'verdict': 'not tested by this report',
        'note': '',
        'left_out': '',
    },
]
PROVENANCE = {
    'command': 'python launch/sweep.py --config configs/phase.py '
    '--config.grid.gamma=0.3,0.6,0.9',
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
