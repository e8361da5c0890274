"""A network learns what this repository is about: P1's sentence, on one core."""

import subprocess

import pytest

from anchorjax.storage.reader import open_run
from tests.support.sweeps import command

# The four-token task of configs/phase.py with the authors' split.
SETTINGS = {
    'task.split': 'code',
    'model.width': 32,
    'model.head_dim': 32,
    'model.mlp_dim': 96,
    'train.num_steps': 1_500,
    'train.snapshot_steps': '()',
    'grid.gamma': 0.84,
    'grid.learning_rate': 8e-3,
    'grid.weight_decay': 0.15,
    'grid.seed': 0,
}


@pytest.mark.slow
def test_a_large_initialization_learns_and_answers_as_for_the_reversed_pair(tmp_path):
    """Compiled as a user's sweep: without XLA's optimizations it takes much longer.

    A second device would train a copy of the only member.
    """
    words = [f'--config.{field}={value}' for field, value in SETTINGS.items()]
    arguments = command(
        *('--workdir', tmp_path, *words),
        config_file='configs/phase.py:two_layers',
        env={'XLA_FLAGS': '--xla_force_host_platform_device_count=1'},
    )
    done = subprocess.run(**arguments, timeout=1_000, check=False)
    assert done.returncode == 0, done.stderr
    (network,) = open_run(tmp_path).members.to_dict('records')
    assert network['converged']
    assert network['seen_heldout_assigned'] >= 0.9
    assert network['unseen_symmetric'] >= 0.9
