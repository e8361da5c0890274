"""Sweeps of other tasks than anchors with planted curves: nothing is trained."""

import pathlib
from typing import Any

import numpy as np

from analysis.report import pictures
from analysis.report.general.collect import collect_general
from analysis.report.general.subject import read_subject
from anchorjax import config
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.training.devices import make_mesh
from tests.support import text_tasks
from tests.support.pages.report_sample import HOSTILE

RECORDED = ('probe_loss', 'agreement', 'token_agreement', 'agreement_by_group')


def plant_scan(folder: pathlib.Path, **fields: Any) -> Run:
    """SCAN at two gammas, two decays and three seeds, random and converged."""
    c = text_tasks.make_config('scan', grid__seed=(0, 1, 2), **fields)
    return plant_curves(folder, config.resolve(c))


def plant_curves(folder: pathlib.Path, experiment: config.Experiment) -> Run:
    """A run whose members are trained, with random shares and a train loss of 0.001."""
    environment = describe_environment(experiment, make_mesh(1))
    create_folder(folder, experiment, environment)
    run = open_run(folder)
    curves = run.curves.copy(deep=True)
    random = np.random.default_rng(0)
    for name in RECORDED:
        curves[name][:] = random.uniform(size=curves[name].shape)
    curves['train_loss'][:] = 0.001
    curves['trained'][:] = True
    curves['converged'][:] = True
    curves['diverged'][:] = -1
    vars(run)['curves'] = curves  # where functools.cached_property keeps it
    return run


def make_payload(folder: pathlib.Path) -> dict[str, Any]:
    """The page of `plant_scan`, without figures."""
    payload = collect_general(read_subject(plant_scan(folder)), print)
    return payload | {'figures': pictures.describe_figures([])}


def make_hostile_payload(folder: pathlib.Path) -> dict[str, Any]:
    """The same with attacks for every text that somebody else may have written."""
    payload = make_payload(folder)
    payload['title'] = payload['summary'] = HOSTILE
    payload['axes'] = {**payload['axes'], 'weight_decay': [HOSTILE, 0.5]}
    payload['groups'] = [HOSTILE] * len(payload['groups'])
    for key in ('question', 'left_out', 'claims', 'baselines'):
        payload['general'][key] = HOSTILE
    settings = payload['general']['settings']
    settings['axes'] = [HOSTILE] * len(settings['axes'])
    settings['measures'] = [HOSTILE] * len(settings['measures'])
    for row in settings['rows']:
        row['labels'] = [HOSTILE] * len(row['labels'])
    for reading in payload['readings']:
        reading['label'] = reading['says'] = reading['line'] = HOSTILE
    for row in payload['outcome']['rows']:
        row['label'] = row['says'] = HOSTILE
    payload['outcome']['headings'] = [(HOSTILE, [HOSTILE])]
    for member in payload['members']:
        if member['point']['weight_decay'] == 0.01:
            member['point']['weight_decay'] = HOSTILE
        member['status'] = HOSTILE
        member['numbers'] = {HOSTILE: 1.0}
    return payload
