"""Every config and every preset resolves, and runs when it is shrunk."""

import importlib.util
import pathlib

import numpy as np
import pytest

from anchorjax import cli, config
from anchorjax.storage.reader import write_tables
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.run import describe_environment, run_sweep
from anchorjax.training.members import make_mesh
from tests.support.sweeps import ROOT


def presets(path: pathlib.Path) -> list[str]:
    """Names in a config module's PRESETS; '' is the default."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.PRESETS)


SPECS = [
    f'{p}:{name}'
    for p in sorted((ROOT / 'configs').glob('*.py'))
    for name in presets(p)
]


def shrunk(c):
    """Two members of one cohort, two segments, everything small that costs time."""
    c.task.num_examples, c.task.probe_examples = 640, 16
    c.model.depth, c.model.width, c.model.head_dim, c.model.mlp_dim = 2, 8, 4, 8
    c.model.heads = min(c.model.heads, 2)
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 16, 4, 2
    c.train.snapshot_steps, c.train.resume_every, c.train.lanes = (0, 2), 0.0, 2
    c.optimizer.warmup_steps, c.optimizer.schedule_steps = 2, 0
    c.loop = tuple((path, values[:1]) for path, values in c.loop)
    for axis in ('learning_rate', 'weight_decay', 'seed'):
        c.grid[axis] = c.grid[axis][:1]
    c.grid.gamma = c.grid.gamma[-2:]
    return c


@pytest.mark.parametrize('spec', SPECS, ids=lambda s: pathlib.Path(s).name)
def test_it_resolves_and_its_name_is_its_own(spec):
    e = config.resolve(cli.load(spec))
    names = [cli.load(other).name for other in SPECS]
    assert names.count(e.name) == 1
    assert all(e.at(cohort.static).loop == () for cohort in e.cohorts())


@pytest.mark.slow
@pytest.mark.parametrize('spec', SPECS, ids=lambda s: pathlib.Path(s).name)
def test_it_runs_shrunk(spec, tmp_path):
    e, mesh = config.resolve(shrunk(cli.load(spec))), make_mesh(1)
    there = create_folder(tmp_path, e, describe_environment(e, mesh))
    run_sweep(there, mesh, lambda: False, lambda progress: None)
    run = write_tables(there)
    assert int(run.results.trained.sum()) == 2
    assert (
        np.isfinite(run.curves.agreement).all()
        and np.isfinite(run.curves.train_loss).all()
    )
