"""Pages of planted runs, which nothing was trained for, and pages made of attacks."""

import base64
import functools
import pathlib
from typing import Any

import numpy as np

from analysis.claim_words import WORDS
from analysis.report import playground
from analysis.report.subject import read_subject
from analysis.report.write import collect
from anchorjax import config
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from tests.support import text_tasks
from tests.support.pages import network_page
from tests.support.planted_results import plant_curves
from tests.support.sweeps import experiment

HOSTILE = '</script><img src=x onerror=alert(1)>"\'&{{data}}{% raw %}'
# Two kinds of panels, two rows, three columns, two networks in a cell.
GAMMAS = (0.3, 0.6, 0.9)
AXES = {
    'grid__gamma': GAMMAS,
    'grid__seed': (0, 1),
    'static_axes': (('model.depth', (1, 2)), ('task.exception', ('trained', 'unseen'))),
}
NUMBERS = {'text': 'gamma\t0.3\t0.6\nbest[0]\t0.1\t', 'left_out': ['x (9 × 9,999)']}
# Texts that are code or our own words, by the key of the payload.
OURS = {
    'style',
    'source',
    'eval_set',
    'eval_sets',
    'mapping',
    'mappings',
    'first_reading',
}
OURS |= {'panels', 'row_axis', 'column_axis', 'shown_axes', 'playground', 'label'}
OURS |= {'svg_base64', 'readings'}
EMBEDDING = {
    'values': list(range(20, 100)),
    'xy': [[value / 10, (value / 50) ** 2] for value in range(20, 100)],
    'explained': [0.41, 0.17],
}
# Of the sample's networks by number: depth 1, γ 0.3, 0.6 and 0.9, then depth 2, γ 0.9.
ASKED = (0, 3, 4, 17)


def plant_scan(folder: pathlib.Path, **fields: Any) -> Run:
    """SCAN at two gammas, two decays and three seeds."""
    c = text_tasks.make_config('scan', grid__seed=(0, 1, 2), **fields)
    return plant_curves(folder, config.resolve(c))


def plant_anchors(folder: pathlib.Path) -> Run:
    """24 networks of anchors: one diverged, one is not trained, one not converged."""
    run = plant_curves(folder, experiment(**AXES))
    curves = run.curves
    diverged = {'depth': 0, 'exception': 0, 'gamma': 1, 'seed': 0}
    curves['diverged'][diverged] = 2
    curves['trained'][{'depth': 1, 'exception': 1, 'gamma': 2, 'seed': 1}] = False
    unconverged = {'depth': 1, 'exception': 0, 'gamma': 2, 'seed': 1}
    curves['converged'][unconverged] = False
    curves['fit_loss'][unconverged] = 0.31
    return run


@functools.lru_cache
def make_networks() -> tuple[Network, ...]:
    """Four networks of two layers, the third of two heads with GELU and biases."""
    networks = []
    for number in range(len(ASKED)):
        options = ('post', 'relu', 1, False)
        if number == 2:
            options = ('pre', 'gelu', 2, True)
        member = network_page.make_member(*options)
        shifted = {'W_U': np.roll(member.params['W_U'], number, axis=1)}
        networks.append(member._replace(params=member.params | shifted))
    return tuple(networks)


def make_playground() -> dict[str, Any]:
    """The networks of ASKED; all have the same task."""
    networks = []
    for number, member in zip(ASKED, make_networks(), strict=True):
        network = playground.describe_network(member)
        networks.append({'member': number, 'task': 0, **network})
    task = make_networks()[0].experiment.task
    tasks = [playground.describe_task(task)]
    return {'missing': '', 'networks': networks, 'tasks': tasks}


def make_payload(run: Run) -> dict[str, Any]:
    """The page of a planted run, with a figure, a claim, and networks to ask."""
    subject = read_subject(run)
    payload = collect(subject, ignore)
    networks = playground.NO_PLAYGROUND
    if subject.unseen is not None:
        networks = make_playground()
        for member in payload['data']['members']:
            if member['status'] == 'trained':
                member |= {'attention': make_attention(), 'embedding': EMBEDDING}
    payload['data']['playground'] = networks
    figures = [make_figure('phase'), make_figure('complexity')]
    section = {'title': 'Answers of all networks', 'about': '', 'figures': figures}
    missing = [('Order of the pair', 'no member has converged')]
    payload |= {'figures': [section], 'missing': missing}
    return payload | {'claims': make_claims()}


def make_attention() -> dict[str, Any]:
    """Every position reads all up to itself equally, in two layers."""
    rows = np.tril(np.ones((6, 6)))
    layer = (rows / rows.sum(1, keepdims=True)).tolist()
    return {
        'tokens': [35, 63, 99, 4, 3, 38],
        'roles': ['noise', 'noise', 'key', 'anchor_1', 'anchor_2', 'last'],
        'layers': [layer, layer],
        'prediction': 93,
        'expected': {'composed': 89, 'symmetric': 93, 'assigned': 89},
    }


def make_figure(name: str) -> dict[str, Any]:
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10">'
    svg = f'{head}<path stroke="#000000" fill="#ffffff" d="M0 0h9v9z"/></svg>'
    return {
        'file': f'{name}.csv',
        'title': name.capitalize(),
        'caption': 'Agreement on the unseen pair.',
        'paper': 'P1 Fig 2',
        'svg_base64': base64.b64encode(svg.encode()).decode(),
        'width': 2000,
        'height': 1000,
        'numbers': NUMBERS,
    }


def make_claims() -> dict[str, Any]:
    row = dict.fromkeys(WORDS, '0.4 [0.2, 0.6]') | {'verdict': 'holds', 'note': ''}
    row |= {'address': 'p1.fig02.composed', 'claim': 'More answers are composed.'}
    row['seeds_needed'] = 12
    return {
        'paper': 'P1',
        'introduction': 'Numbers are shares.',
        'rows': [row],
        'total': 3,
        'named': 2,
        'failure': 'no file',
        'command': 'python -m analysis claims p1 --runs runs/phase --out FOLDER',
        'kept': [row],
    }


def attack(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload with an attack in place of every text that the page shows."""
    attacked = _replace_texts(payload, '')
    attacked['title'] = HOSTILE
    attacked['provenance'] = [(HOSTILE, [(HOSTILE, HOSTILE)])]
    return attacked


def _replace_texts(value: Any, key: str) -> Any:
    if key in OURS:
        return value
    if isinstance(value, dict):
        return {name: _replace_texts(part, name) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_texts(part, key) for part in value]
    return HOSTILE if isinstance(value, str) else value


def ignore(line: str) -> None:
    """Takes the lines about progress."""
