"""What the plan is estimated from, and what a dry run refuses."""

import jax
import jax.numpy as jnp
import pytest

from anchorjax.sweeps import plan
from anchorjax.training import devices
from tests.support import in_process
from tests.support.sweeps import TINY_FILE, opened, tree_hash


@pytest.mark.parametrize('precision', ['float32', 'bfloat16'])
def test_bare_products_have_the_precision_of_training(monkeypatch, precision):
    """By default an accelerator multiplies less exactly than training does."""
    multiply = jnp.matmul
    seen = set()

    def note(a: jax.Array, b: jax.Array) -> jax.Array:
        seen.add(jax.config.jax_default_matmul_precision)
        return multiply(a, b)

    monkeypatch.setattr(jnp, 'matmul', note)
    monkeypatch.setattr(plan, '_MATMUL_SIZE', 8)
    assert plan.measure_matmul_rate(precision, repeats=1) > 0
    assert seen == {precision}


@pytest.fixture
def dry_run(monkeypatch, capsys):
    """Runs launch/sweep.py --dry_run for tests/support/tiny.py in a folder."""
    monkeypatch.setattr(devices, 'use_every_core', lambda: None)

    def run(workdir) -> in_process.Said:
        words = ['--config', TINY_FILE, f'--workdir={workdir}', '--dry_run']
        return in_process.run('sweep.py', words, monkeypatch, capsys)

    return run


def test_a_dry_run_refuses_the_folder_of_another_sweep(dry_run, tmp_path):
    opened(tmp_path / 'ours')
    opened(tmp_path / 'other', optimizer__b2=0.9)
    before = tree_hash(tmp_path)
    assert dry_run(tmp_path / 'ours').code == 0
    said = dry_run(tmp_path / 'other')
    assert said.code == 2
    (line,) = said.errors.splitlines()
    assert line.endswith(
        'holds a sweep with optimizer.b2 = 0.9, the config has 0.999; '
        'use another --workdir'
    )
    assert tree_hash(tmp_path) == before


def test_a_dry_run_refuses_what_cannot_be_a_folder(dry_run):
    said = dry_run('')
    assert said.code == 2
    assert "argument --workdir: '': must be the path of a folder" in said.errors
