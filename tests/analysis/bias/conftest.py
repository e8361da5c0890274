"""Tiny sweeps of P2's task, trained once a session, and embeddings planted in them."""

import pytest

from anchorjax.storage.reader import Run, open_run
from tests.support import p2_tasks


@pytest.fixture(scope='session')
def open_sweep(make_once):
    """A function: the sweep of a name in p2_tasks.SWEEPS; read it, never change it."""

    def open_one(name):
        def train(folder):
            p2_tasks.train_sweep(name, folder)

        return open_run(make_once(f'p2_{name}', train))

    return open_one


@pytest.fixture
def plant(monkeypatch):
    """A function that replaces the embedding of every snapshot from step 1 on."""

    def plant_embedding(W_embed):
        params_of, parameter_of = Run.params, Run.parameter

        def params(self, step='last', **point):
            tree = params_of(self, step, **point)
            return tree if step == 0 else tree | {'W_embed': W_embed}

        def parameter(self, path, step='last', **point):
            if path == 'W_embed' and step != 0:
                return W_embed
            return parameter_of(self, path, step, **point)

        monkeypatch.setattr(Run, 'params', params)
        monkeypatch.setattr(Run, 'parameter', parameter)

    return plant_embedding
