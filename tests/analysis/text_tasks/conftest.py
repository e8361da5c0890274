"""Sweeps of text tasks that are not trained, with planted curves."""

import pytest

from anchorjax import config
from tests.support import text_tasks
from tests.support.planted_results import plant_curves


@pytest.fixture
def open_planted(tmp_path):
    """A function: a run of a tiny config whose members score at random."""

    def plant(task, **fields):
        experiment = config.resolve(text_tasks.make_config(task, **fields))
        folder = tmp_path / experiment.name / str(len(list(tmp_path.iterdir())))
        return plant_curves(folder, experiment)

    return plant
