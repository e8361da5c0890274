"""Every preset of every config resolves, is planned, and runs when it is shrunk."""

import importlib.util
import pathlib

import ml_collections
import numpy as np
import pytest

from anchorjax import api, config
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.plan import describe_memory, describe_plan
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import ROOT


def list_presets(path: pathlib.Path) -> list[str]:
    """Names in a config module's PRESETS; '' is the default."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.PRESETS)


SPECS = []
for path in sorted((ROOT / 'configs').glob('*.py')):
    SPECS += [f'{path}:{preset}' for preset in list_presets(path)]
NAMES = [pathlib.Path(spec).name for spec in SPECS]
of_every_preset = pytest.mark.parametrize('spec', SPECS, ids=NAMES)


def shrink(c: ml_collections.ConfigDict) -> ml_collections.ConfigDict:
    """Two members of one cohort, two segments, everything small that costs time."""
    c.task.update(num_examples=640, probe_examples=16)
    if 'path' in c.task:  # the files may not be on this machine
        c.task.path = ''
    sizes = {'depth': 2, 'width': 8, 'head_dim': 4, 'mlp_dim': 8, 'heads': 2}
    for field, size in sizes.items():
        if field in c.model:  # not every model has all of them
            c.model[field] = min(c.model[field], size)
    c.train.update(batch_size=16, num_steps=4, eval_every=2)
    c.train.update(snapshot_steps=(0, 2), resume_every=0.0, lanes=2)
    c.optimizer.update(warmup_steps=2, schedule_steps=0)
    c.loop = tuple((path, values[:1]) for path, values in c.loop)
    for axis in ('learning_rate', 'weight_decay'):
        c.grid[axis] = c.grid[axis][:1]
    c.grid.gamma = c.grid.gamma[-2:]
    c.grid.seed = c.grid.seed[: 3 - len(c.grid.gamma)]
    return c


@of_every_preset
def test_it_resolves_and_its_name_is_its_own(spec):
    resolved = config.resolve(config.load(spec))
    names = [config.load(other).name for other in SPECS]
    assert names.count(resolved.name) == 1
    for cohort in resolved.cohorts():
        assert resolved.for_cohort(cohort).loop == ()


@of_every_preset
def test_it_is_planned(spec, tmp_path):
    resolved = config.resolve(config.load(spec))
    environment = describe_environment(resolved, make_mesh(1), device_bytes=2**40)
    plan = describe_plan(resolved, environment, tmp_path, estimate=False)
    assert plan.startswith(f'{resolved.name}: ')
    for axis in resolved.axes:
        assert f'  {axis}' in plan
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@of_every_preset
def test_its_dry_run_and_its_training_run_shrunk(spec, tmp_path):
    shrunk = config.resolve(shrink(config.load(spec)))
    mesh = make_mesh(1)
    environment = describe_environment(shrunk, mesh)
    memory = describe_memory(shrunk, mesh, environment, available=2**40)
    for cohort in shrunk.cohorts():
        assert f'cohort {cohort.name}: ' in memory
    run = api.train(shrunk, tmp_path, mesh=mesh)
    assert int(run.results.trained.sum()) == 2
    assert np.isfinite(run.curves.agreement).all()
    assert np.isfinite(run.curves.train_loss).all()
