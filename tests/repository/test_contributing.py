"""The examples of CONTRIBUTING.md run as they stand there."""

import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest

from analysis import claims, figure
from analysis.first_look import save_figures
from anchorjax import api, config, models, tasks
from anchorjax.config import ConfigDict
from anchorjax.sweeps.signals import Preempted
from anchorjax.training.devices import make_mesh
from anchorjax.training.optimizers import learning_rate
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


@pytest.fixture
def modular(monkeypatch):
    add_file('anchorjax/tasks/modular.py', monkeypatch)
    add_row('anchorjax/tasks/__init__.py', 'TASKS', monkeypatch)


@pytest.fixture
def bag(monkeypatch):
    add_file('anchorjax/models/bag.py', monkeypatch)
    add_row('anchorjax/models/__init__.py', 'MODELS', monkeypatch)


@pytest.mark.slow
def test_the_task_of_the_example_trains(modular, tmp_path):
    path = tmp_path / 'modular.py'
    path.write_text(FILES['configs/modular.py'])
    c = config.load(str(path))
    c.train.num_steps, c.train.eval_every, c.optimizer.warmup_steps = 20, 10, 2
    run = api.train(
        config.resolve(c), tmp_path / 'run', mesh=make_mesh(1), draw=save_figures
    )
    assert (tmp_path / 'run' / 'figures' / 'phase.png').exists()
    assert np.isfinite(run.results.train_loss).all()
    assert run.results.eval_set.values.tolist() == ['seen_train', 'seen_heldout']
    assert 'modular' in tasks.TASKS and run.results.trained.all()


@pytest.mark.slow
def test_the_model_of_the_example_trains(bag, tmp_path):
    c = config.default(task='anchors', model='bag')
    c.train.update(batch_size=16, num_steps=20, eval_every=10)
    c.optimizer.warmup_steps = 2
    c.grid.update(gamma=(0.5, 1.0), learning_rate=(1e-2,))
    run = api.train(config.resolve(c), tmp_path, mesh=make_mesh(1))
    assert np.isfinite(run.results.train_loss).all()
    W_embed = run.params(step='last', gamma=0.5)['W_embed']
    assert W_embed.shape == (201, 32) and 'bag' in models.MODELS


def load_small(name: str, folder: pathlib.Path) -> ConfigDict:
    """The config of an example that has the presets of phase.py, two steps long."""
    shutil.copy(ROOT / 'configs' / 'phase.py', folder)
    path = folder / f'{name}.py'
    path.write_text(FILES[f'configs/{name}.py'])
    c = config.load(f'{path}:two_layers')
    c.task.update(num_examples=640, eval_examples=16)
    c.model.depth = 1
    c.train.update(batch_size=16, num_steps=2, eval_every=1, snapshot_steps=(0,))
    c.train.resume_every = 0.0
    c.optimizer.warmup_steps = 1
    c.grid.update(gamma=(0.5,), seed=(0,))
    return c


@pytest.mark.slow
def test_the_initializer_of_the_example_trains(monkeypatch, tmp_path):
    monkeypatch.setitem(models.MODELS, 'uniform', None)  # forgotten afterwards
    experiment = config.resolve(load_small('uniform', tmp_path))
    run = api.train(experiment, tmp_path / 'run', mesh=make_mesh(1))
    W_in = run.params(step=0)['block_0']['W_in']
    np.testing.assert_allclose(np.std(W_in), 64**-0.5, rtol=0.02)
    assert np.abs(W_in).max() < 3**0.5 * 64**-0.5


def turn(x_BTHK: np.ndarray) -> np.ndarray:
    """Rotary positions of four tokens as products of complex numbers."""
    half = x_BTHK.shape[-1] // 2
    turned = x_BTHK[..., :half] + 1j * x_BTHK[..., half:]
    turned *= np.exp(1j * np.outer(range(4), 1e4 ** -(np.arange(half) / half)))[:, None]
    return np.concatenate([turned.real, turned.imag], -1)


@pytest.mark.slow
def test_the_attention_of_the_example_trains_and_resumes(monkeypatch, tmp_path):
    """A forward pass of the last position gives what one of all positions gives."""
    monkeypatch.setitem(models.MODELS, 'rotary', None)  # forgotten afterwards
    experiment = config.resolve(load_small('rotary', tmp_path))
    stop = iter([False, True, True])
    with pytest.raises(Preempted):
        api.train(experiment, tmp_path / 'run', should_stop=lambda: next(stop))
    run = api.train(experiment, tmp_path / 'run', mesh=make_mesh())
    network = run.network()
    tokens = np.array([[99, 4, 3, 38], [20, 1, 2, 70]])
    cache = network.cache(tokens)
    Q, K = (turn(cache[f'block_0/{name}'].values) for name in 'QK')
    scores = np.einsum('bqhk,bthk->bhqt', Q, K) / Q.shape[-1] ** 0.5
    np.testing.assert_allclose(cache['block_0/scores'], scores, rtol=1e-4, atol=1e-5)
    module, variables = network.module
    whole = module.apply(variables, tokens, last_only=False).logits[:, -1:]
    last = module.apply(variables, tokens).logits
    np.testing.assert_allclose(last, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_the_optimizer_and_the_schedule_of_the_example_train_and_resume(tmp_path):
    c = load_small('muon', tmp_path)
    c.train.update(num_steps=20, snapshot_steps=(0, 6, 7))
    c.optimizer.update(warmup_steps=5, floor=0.0, schedule_steps=20)
    c.grid.update(learning_rate=(1e-3, 2e-3), weight_decay=(0.0,))
    experiment = config.resolve(c)
    stop = iter([False] * 9 + [True] * 99)
    with pytest.raises(Preempted):
        api.train(experiment, tmp_path / 'a', should_stop=lambda: next(stop))
    run = api.train(experiment, tmp_path / 'a', mesh=make_mesh())
    whole = api.train(experiment, tmp_path / 'b', mesh=make_mesh())
    assert run.curves.identical(whole.curves)

    def step_of(name: str, rate: float) -> np.ndarray:
        before, after = (run.params(step, learning_rate=rate) for step in (6, 7))
        return after[name] - before[name]

    # Adam's steps have the size of the rate, here a tenth of it.
    for rate in (1e-3, 2e-3):
        assert 0.3e-1 * rate < np.abs(step_of('W_U', rate)).mean() < 1.5e-1 * rate
    shares = warmup_shares(experiment, range(20))
    np.testing.assert_allclose(shares[[0, 3, 5, 10, 16, 18]], [0, 0.6, 1, 1, 1, 0.5])


def warmup_shares(experiment: config.Experiment, steps: range) -> np.ndarray:
    rates = []
    for step in steps:
        rates.append(learning_rate(experiment.optimizer, 1.0, step))
    return np.array(rates)


@pytest.mark.slow
def test_the_figure_of_the_example_is_drawn(monkeypatch, finished, tmp_path):
    module = add_file('analysis/p1/norms.py', monkeypatch)
    words = ['--run', str(finished.folder.workdir), '--out', str(tmp_path), '--order=1']
    figure.run_figure(module, words)
    norms = pd.read_csv(tmp_path / 'norms_order=1.csv')
    assert len(norms) == 8 and (norms.norm > 0).all()
    assert (tmp_path / 'norms_order=1.png').exists()


@pytest.mark.parametrize(
    ('gain', 'verdict'), [(0.4, claims.HOLDS), (-0.4, claims.OPPOSITE)]
)
def test_the_claim_of_the_example_can_come_out_either_way(monkeypatch, gain, verdict):
    add_row('analysis/p1/claims.py', 'CLAIMS', monkeypatch)
    rows = []
    for seed in range(claims.TODAY.seeds):
        change = gain + 0.05 * (-1) ** seed
        for gamma, held_out in ((2.04, 0.5 + change), (0.84, 0.5)):
            rows.append(('phase', gamma, seed, True, held_out))
    columns = ['run', 'gamma', 'seed', 'converged', 'seen_heldout_assigned']
    members = pd.DataFrame(rows, columns=columns)
    added = importlib.import_module('analysis.p1.claims').CLAIMS[-1]
    table = claims.tabulate([added], members)
    assert table.verdict.tolist() == [verdict]


COMMANDS = """
import sys
from analysis.__main__ import command
commands = sys.argv[1:]
for words in commands:
    sys.argv = ['analysis', *words.split()]
    command()
"""


@pytest.mark.slow
def test_the_paper_of_the_example_is_a_package_and_a_name(tmp_path):
    """Its page, without networks and with; the report's figures; the command line."""
    for folder in ('analysis', 'anchorjax'):
        ignored = shutil.ignore_patterns('*.png', '*.nc', '__pycache__')
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    tmp_path.joinpath('analysis', 'p5').mkdir()
    for path in ('p5/__init__.py', 'p5/claims.py', 'p1/norms.py'):
        name = pathlib.Path(path).name
        (tmp_path / 'analysis' / 'p5' / name).write_text(FILES[f'analysis/{path}'])
    names = tmp_path / 'analysis' / 'papers.py'
    names.write_text(names.read_text().replace("'law')", "'law', 'p5')", 1))

    def run(*commands: str) -> str:
        """What `python -m analysis` prints with these words, by one process."""
        words = [sys.executable, '-c', COMMANDS, *commands]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    gallery = tmp_path / 'analysis' / 'gallery'
    assert '\nnorms ' in run('--list', 'pages')
    page = (gallery / 'p5' / 'README.md').read_text()
    assert '## Table 2' in page and 'not trained' in page
    assert '[P5](p5/README.md)' in (gallery / 'README.md').read_text()
    rows = ['run,gamma,seed,converged,seen_heldout_assigned']
    for seed in range(12):
        rows += [f'modular,{g},{seed},True,{0.5 * g + seed / 100}' for g in (0.5, 1.0)]
    rows.append('other,1.0,0,True,0.5')
    (tmp_path / 'members.csv').write_text('\n'.join(rows))
    of_members = '--members members.csv --out'
    own = f'claims analysis/p5/claims.py {of_members} x'
    said = run(f'claims p5 {of_members} analysis/gallery/p5', 'pages', own)
    assert 'holds: 1' in said
    assert 'no claim is about a run whose folder is called other' in said
    assert '0.25 [0.25, 0.25] | 12 |' in (gallery / 'p5' / 'README.md').read_text()
