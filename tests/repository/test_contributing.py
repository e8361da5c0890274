"""The examples of CONTRIBUTING.md run as they stand there, and are short."""

import importlib
import re
import sys
import types

import matplotlib
import numpy as np
import pytest

from analysis.p1 import phase
from analysis.report import checks, claims, figures
from analysis.report.evidence import Evidence
from anchorjax import api, config, models, tasks
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import ROOT

TEXT = (ROOT / 'CONTRIBUTING.md').read_text()
BLOCKS = re.findall(r'^```python\n# (row: )?(\S+)\n(.*?)^```$', TEXT, re.M | re.S)
FILES = {path: code for is_row, path, code in BLOCKS if not is_row}
ROWS = {path: code for is_row, path, code in BLOCKS if is_row}


def dotted(path: str) -> str:
    """'anchorjax.tasks' of anchorjax/tasks/__init__.py."""
    return path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')


def add_file(path: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Executes the example as if it were a file of the package."""
    name = dotted(path)
    package, _, short_name = name.rpartition('.')
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(FILES[path], path, 'exec'), module.__dict__)
    monkeypatch.setattr(sys.modules[package], short_name, module, raising=False)
    return module


def add_row(path: str, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executes the example of a row at the end of the file that has the table."""
    module = importlib.import_module(dotted(path))
    content = getattr(module, table)
    monkeypatch.setattr(module, table, type(content)(content))
    namespace = dict(vars(module))
    exec(compile(ROWS[path], path, 'exec'), namespace)
    if isinstance(content, dict):  # who imported it sees the row, too
        for name, value in namespace[table].items():
            monkeypatch.setitem(content, name, value)
        monkeypatch.setattr(module, table, content)
    else:
        monkeypatch.setattr(module, table, namespace[table])


def small(task: str = 'anchors', model: str = 'transformer'):
    """A grid of two members that trains in a second."""
    c = config.default(task=task, model=model)
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 16, 20, 10
    c.optimizer.warmup_steps = 2
    c.grid.gamma, c.grid.learning_rate = (0.5, 1.0), (1e-2,)
    return c


@pytest.fixture
def modular(monkeypatch):
    add_file('anchorjax/tasks/modular.py', monkeypatch)
    add_row('anchorjax/tasks/__init__.py', 'TASKS', monkeypatch)


@pytest.fixture
def bag(monkeypatch):
    add_file('anchorjax/models/bag.py', monkeypatch)
    add_row('anchorjax/models/__init__.py', 'MODELS', monkeypatch)


@pytest.mark.parametrize('path', [*FILES, *ROWS])
def test_an_example_is_short(path):
    code = (FILES | ROWS)[path].strip().splitlines()
    lines = [line for line in code if line.strip()]
    assert len(lines) <= 30, f'{path}: {len(lines)} lines'
    assert max(len(line) for line in code) <= 88


@pytest.mark.slow
def test_the_task_of_the_example_trains(modular, tmp_path):
    path = tmp_path / 'modular.py'
    path.write_text(FILES['configs/modular.py'])
    c = config.load(str(path))
    c.train.num_steps, c.train.eval_every, c.optimizer.warmup_steps = 20, 10, 2
    run = api.train(
        config.resolve(c), tmp_path / 'run', mesh=make_mesh(1), draw=phase.save
    )
    assert (tmp_path / 'run' / 'figures' / 'phase.png').exists()
    assert np.isfinite(run.results.train_loss).all()
    assert run.results.probe.values.tolist() == ['seen_train', 'seen_heldout']
    assert 'modular' in tasks.TASKS and run.results.trained.all()


@pytest.mark.slow
def test_the_model_of_the_example_trains(bag, tmp_path):
    c = small(model='bag')
    run = api.train(config.resolve(c), tmp_path, mesh=make_mesh(1))
    assert np.isfinite(run.results.train_loss).all()
    W_embed = run.params(step='last', gamma=0.5)['W_embed']
    assert W_embed.shape == (201, 32) and 'bag' in models.MODELS


@pytest.mark.slow
def test_the_figure_of_the_example_is_drawn(monkeypatch, finished):
    module = add_file('analysis/norms.py', monkeypatch)
    result = module.compute(finished)
    assert len(result.gamma) == len(result.norm) == 8
    assert (result.norm > 0).all()
    matplotlib.use('Agg')
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, 1, squeeze=False)
    module.draw(result, axes)
    offsets = axes[0, 0].collections[0].get_offsets()
    np.testing.assert_allclose(offsets[:, 1], result.norm)


def test_the_claim_of_the_example_is_checked(monkeypatch, finished):
    norms = add_file('analysis/norms.py', monkeypatch)
    add_row('analysis/report/figures.py', 'SWEEP', monkeypatch)
    add_row('analysis/report/claims.py', 'CLAIMS', monkeypatch)
    monkeypatch.setattr(checks, 'CLAIMS', claims.CLAIMS)
    row = figures.SWEEP[-1]
    assert row.module is norms
    results = {('norms', None): row.compute(norms, finished, {})}
    claim = checks.check_claims(Evidence(results, {}, ''))[-1]
    assert claim['source'] == 'P1 Sec 5'
    assert claim['verdict'] in ('holds', 'does not hold', 'opposite')


@pytest.mark.parametrize(
    ('norm', 'verdict'),
    [
        ((9, 9, 9, 1, 1, 1), 'holds'),
        ((1, 1, 1, 9, 9, 9), 'opposite'),
        ((1, 9, 5, 9, 1, 5), 'does not hold'),
        ((9, 1), 'undecided'),
    ],
)
def test_the_claim_of_the_example_can_come_out_either_way(monkeypatch, norm, verdict):
    add_row('analysis/report/claims.py', 'CLAIMS', monkeypatch)
    gamma = np.repeat([0.3, 0.8], len(norm) // 2)
    result = types.SimpleNamespace(gamma=gamma, norm=np.array(norm, float))
    reading = claims.CLAIMS[-1].read(result)
    assert reading.verdict.words == verdict
