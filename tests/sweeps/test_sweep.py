"""A member's bits hang on itself and on lanes alone: not on who else is there, nor on how many."""

import os
import pathlib
import subprocess
import sys

import chex
import jax
import numpy as np
import pytest

from anchorjax import config
from anchorjax.storage.reader import Run, open_run
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import Trainer
from anchorjax.training import step
from anchorjax.training.members import make_mesh, place_members
from anchorjax.training.step import init_member, train_segment
from tests.support.sweeps import ROOT, experiment, trained

POINT = {'gamma': 0.8, 'learning_rate': 1e-2, 'seed': 1}

ON_DEVICES = """
import conftest, sys
for n in (1, 2, 8):
    there, mesh = conftest.opened(conftest.pathlib.Path(sys.argv[1], str(n)), n)
    conftest.sweep.run(there, mesh, lambda: False, lambda progress: None)
"""


def member(run: Run, **point) -> list[np.ndarray]:
    """Parameters and curves of one member."""
    at = {name: v for name, v in point.items() if name in run.curves.dims}
    curves = run.curves.sel(at).squeeze()
    arrays = [curves[name].values for name in ('train_loss', 'grad_norm', 'agreement')]
    return [*jax.tree.leaves(run.params(**point)), *arrays]


def same(these, those) -> bool:
    return all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(these, those, strict=True)
    )


@pytest.fixture(scope='module')
def two_lanes(tmp_path_factory) -> Run:
    return trained(tmp_path_factory.mktemp('two'), train__lanes=2)


def test_the_members_differ(two_lanes):
    assert not same(
        member(two_lanes, **POINT), member(two_lanes, **POINT | {'seed': 0})
    )
    assert not same(
        member(two_lanes, **POINT), member(two_lanes, **POINT | {'gamma': 0.3})
    )


@pytest.mark.parametrize(
    'changes',
    [
        {'grid__gamma': (0.8,), 'grid__seed': (1,)},  # alone, padded
        {'grid__gamma': (0.8,), 'grid__seed': (1, 5)},  # first of its chunk
        {
            'grid__gamma': (0.1, 0.3, 0.8),
            'grid__seed': (7, 0, 1),
        },  # more members, last one
    ],
)
def test_a_member_does_not_depend_on_the_others(two_lanes, tmp_path, changes):
    other = trained(tmp_path, train__lanes=2, **changes)
    assert same(member(two_lanes, **POINT), member(other, **POINT))


def test_a_diverging_member_is_recorded_and_its_neighbour_keeps_its_bits(tmp_path):
    alone = trained(tmp_path / 'a', train__lanes=2, grid__gamma=(0.8,), grid__seed=(1,))
    rates = {
        'grid__learning_rate': (1e-2, 1e30),
        'grid__gamma': (0.8,),
        'grid__seed': (1,),
    }
    both = trained(tmp_path / 'b', train__lanes=2, **rates)
    assert same(member(alone, **POINT), member(both, **POINT))
    steps = both.results.diverged.squeeze().sel(learning_rate=[1e-2, 1e30]).values
    assert steps[0] == -1 and 1 <= steps[1] < 10
    assert np.isnan(both.results.train_loss.squeeze().values[1])


def test_log_spaced_snapshots_hold_the_parameters_of_their_steps(finished):
    chunk = finished.sweep_dir.chunks[0].chunk
    assert chunk.snapshot_steps() == [0, 1, 4, 15, 40]
    assert config.log_spaced(40, 5) == (1, 3, 6, 16, 40)
    at = finished.experiment.at((('model.depth', 1),))
    hparams = chunk_hparams(at.cohorts()[0], 0, 1)
    start = init_member(at, jax.tree.map(lambda x: x[0], hparams)).params
    saved = finished.params(0, depth=1, gamma=0.3, seed=0)
    for a, b in zip(jax.tree.leaves(start), jax.tree.leaves(saved), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    later = finished.params(1, depth=1, gamma=0.3, seed=0)
    assert not same(jax.tree.leaves(saved), jax.tree.leaves(later))


def test_one_compilation_for_every_segment_length_and_chunk(monkeypatch):
    chex.clear_trace_counter()
    once = chex.assert_max_traces(train_segment, n=1)
    monkeypatch.setattr(step, 'train_segment', once)
    e, mesh = experiment(), make_mesh(1)
    trainer = Trainer(e, mesh, lanes=1)
    for index in range(2):
        hparams = place_members(chunk_hparams(e.cohorts()[0], index, 1), mesh, 1)
        state = trainer.init(hparams)
        for length in (1, 7, 3):
            state, _ = trainer.segment(state, hparams, length)
        assert int(state.step[0]) == 11


@pytest.mark.slow
def test_two_and_eight_devices_agree_and_one_is_close(tmp_path):
    flags = os.environ['XLA_FLAGS'] + ' --xla_force_host_platform_device_count=8'
    line = [sys.executable, '-c', ON_DEVICES, str(tmp_path)]
    env = {**os.environ, 'XLA_FLAGS': flags}
    done = subprocess.run(
        line, cwd=ROOT / 'tests', env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    one, two, eight = (open_run(pathlib.Path(tmp_path, n)) for n in '128')
    assert eight.sweep_dir.chunk_size == 8
    assert same(member(two, **POINT), member(eight, **POINT))
    for a, b in zip(member(one, **POINT)[:-1], member(two, **POINT)[:-1], strict=True):
        np.testing.assert_allclose(
            a, b, rtol=1e-2, atol=1e-3
        )  # other fusions, same numbers
