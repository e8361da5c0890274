"""Sweeps of text tasks that are not trained, with planted curves."""

import numpy as np
import pytest

from anchorjax import config
from anchorjax.storage.reader import open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.training.devices import make_mesh
from tests.support import text_tasks


@pytest.fixture
def open_planted(tmp_path):
    """A function: a run of a tiny config whose curves are random, and trained."""

    def plant(task, **fields):
        experiment = config.resolve(text_tasks.make_config(task, **fields))
        environment = describe_environment(experiment, make_mesh(1))
        folder = tmp_path / experiment.name / str(len(list(tmp_path.iterdir())))
        create_folder(folder, experiment, environment)
        run = open_run(folder)
        curves = run.curves.copy(deep=True)
        random = np.random.default_rng(0)
        for name in ('train_loss', 'probe_loss', 'agreement', 'agreement_by_group'):
            curves[name][:] = random.uniform(size=curves[name].shape)
        curves['trained'][:] = True
        vars(run)['curves'] = curves  # where functools.cached_property keeps it
        return run

    return plant
