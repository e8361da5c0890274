"""Tiny trained sweeps for the figures of a paper."""

import pytest

from anchorjax import api, config
from anchorjax.storage.reader import open_run
from anchorjax.training.devices import make_mesh
from tests.support import p2_tasks, text_tasks
from tests.support.planted_results import mark_converged, plant_curves


def make_windows() -> config.Experiment:
    """Four windows of weight decay and two seeds, of four keys and three anchors."""
    c = config.default(task='anchor_permutations')
    c.name = 'critical_windows'
    c.task.update(num_keys=4, num_anchors=3)
    c.model.update(depth=2, width=8, heads=2, head_dim=4, mlp_dim=8, max_len=3)
    c.model.update(norm='pre', init='scale', decayed='all_but_embeddings')
    c.optimizer.update(shape='constant', floor=0.0, equal_budget=True)
    c.train.update(batch_size=8, num_steps=8, eval_every=2, lanes=2)
    c.train.snapshot_steps = (0, 2)
    c.grid.gamma = (0.8,)
    c.grid.learning_rate = (1e-2,)
    c.grid.weight_decay = (3.0,)
    c.grid.decay_window = ((), (0, 0), (2, 4), (2, 8))
    c.grid.seed = (0, 1)
    return config.resolve(c)


@pytest.fixture
def converged_run(finished):
    """The tiny sweep of anchors, all of whose members count as converged."""
    return mark_converged(finished)


@pytest.fixture(scope='session')
def windows_run(make_once):
    """A sweep of P4's task; read it, never change it."""

    def train(folder):
        api.train(make_windows(), folder, mesh=make_mesh(1))

    return open_run(make_once('windows', train))


@pytest.fixture(scope='session')
def open_sweep(make_once):
    """A function: the sweep of P2 of a name in p2_tasks; read it, never change it."""

    def open_one(name):
        def train(folder):
            p2_tasks.train_sweep(name, folder)

        return open_run(make_once(f'p2_{name}', train))

    return open_one


@pytest.fixture(scope='session')
def proofs_run(make_once):
    """Networks that have learned a few questions of PrOntoQA by heart; only to read."""

    def train(folder):
        fields = {'train__num_steps': 200, 'train__eval_every': 200}
        fields |= {'model__width': 32, 'model__head_dim': 32, 'model__mlp_dim': 64}
        fields |= {'task__loss_on': 'answer', 'grid__weight_decay': (0.01,)}
        text_tasks.train_sweep(folder, 'prontoqa', **fields)

    return open_run(make_once('proofs', train))


@pytest.fixture
def open_planted(tmp_path):
    """A function: a run of a tiny config whose members score at random."""

    def plant(task, **fields):
        experiment = config.resolve(text_tasks.make_config(task, **fields))
        folder = tmp_path / experiment.name / str(len(list(tmp_path.iterdir())))
        return plant_curves(folder, experiment)

    return plant
