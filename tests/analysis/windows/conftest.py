"""A tiny sweep with windows of weight decay, trained once a session."""

import pytest

from anchorjax import api
from anchorjax.storage.reader import open_run
from anchorjax.training.devices import make_mesh
from tests.support.planted_windows import make_experiment


@pytest.fixture(scope='session')
def windows_run(make_once):
    """Read it, never change it."""

    def train(folder):
        api.train(make_experiment(), folder, mesh=make_mesh(1))

    return open_run(make_once('windows', train))
