"""A member's bits depend on itself and on lanes, not on the members beside it."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest

from anchorjax import config
from anchorjax.grid import HParams
from anchorjax.storage.reader import Run, open_run
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import Trainer, get_trainer
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import place_members
from anchorjax.training.step import train_segment
from tests.support.sweeps import PAIRS, experiment, run_on_devices, trained

POINT = {'gamma': 0.8, 'learning_rate': 1e-2, 'seed': 1}
SHALLOW = POINT | {'depth': 1}  # the same member of the sweep that all tests read
ALONE = {'grid__gamma': (0.8,), 'grid__seed': (1,)}  # padded: there are two lanes
FIRST = {'grid__gamma': (0.8,), 'grid__seed': (1, 5)}
LAST_OF_SIX = {'grid__gamma': (0.1, 0.8), 'grid__seed': (7, 0, 1)}

TRAIN_ON_DEVICES = """
import pathlib, sys
from anchorjax import api
from tests.support.sweeps import experiment, trained

folder = pathlib.Path(sys.argv[1])
for devices in (2, 8):
    trained(folder / str(devices), devices)
api.train(experiment(train__batch_devices=2), folder / 'shared')
"""


def read_member(run: Run, **point: Any) -> list[np.ndarray]:
    """Parameters and curves of one member."""
    labels = {name: value for name, value in point.items() if name in run.curves.dims}
    curves = run.curves.sel(labels).squeeze()
    arrays = jax.tree.leaves(run.params(**point))
    for name in ('train_loss', 'grad_norm', 'agreement'):
        arrays.append(curves[name].values)
    return arrays


def are_same(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> bool:
    """Whether all arrays have equal bits."""
    for a, b in zip(ours, theirs, strict=True):
        if not np.array_equal(a, b, equal_nan=True):
            return False
    return True


@pytest.mark.parametrize('change', [{'seed': 0}, {'gamma': 0.3}])
def test_the_members_differ(finished, change):
    member = read_member(finished, **SHALLOW)
    other = read_member(finished, **SHALLOW | change)
    assert not are_same(member, other)


@pytest.mark.parametrize('grid', [ALONE, FIRST, LAST_OF_SIX])
def test_a_member_does_not_depend_on_the_others(finished, tmp_path, grid):
    run = trained(tmp_path, **PAIRS, **grid)
    assert are_same(read_member(finished, **SHALLOW), read_member(run, **POINT))


def test_a_diverging_member_is_recorded_and_its_neighbour_keeps_its_bits(
    finished, tmp_path
):
    rates = (1e-2, 1e30)
    shown = []

    def report(progress: Progress) -> None:
        shown.append(progress.loss)

    changes = PAIRS | {'grid__learning_rate': rates}
    both = trained(tmp_path, report=report, **ALONE, **changes)
    assert are_same(read_member(finished, **SHALLOW), read_member(both, **POINT))
    results = both.results.squeeze().sel(learning_rate=list(rates))
    sound, diverged = results.diverged.values
    assert sound == -1
    assert 1 <= diverged < 10
    assert np.isnan(results.train_loss.values[1])
    assert np.isfinite(shown).all()  # of the members that are sound


def add_up_losses(run: Run, **point: Any) -> dict[int, float]:
    """The sum over all steps up to each record."""
    curve = run.curves.train_loss.sel(point).squeeze()
    steps = curve.step.values
    sums = np.cumsum(curve.values * np.diff(steps, prepend=0))
    return dict(zip(steps.tolist(), sums, strict=True))


def test_a_train_loss_is_the_mean_of_the_steps_since_the_last_record(
    finished, tmp_path
):
    rare = trained(tmp_path, train__eval_every=20, **PAIRS, **ALONE)
    often, seldom = add_up_losses(finished, **SHALLOW), add_up_losses(rare, **POINT)
    assert [*seldom] == [1, 4, 15, 20, 40] and len(often) > len(seldom)
    for step, total in seldom.items():
        assert often[step] == pytest.approx(total, rel=1e-5)


def test_snapshots_are_at_their_steps(finished):
    chunk = finished.folder.chunks[0].folder
    assert chunk.snapshot_steps() == [0, 1, 4, 15, 40]
    assert config.log_spaced(40, 5) == (1, 3, 6, 16, 40)


def count_calls(monkeypatch, where: str, function: Callable) -> list[tuple]:
    """The arguments of every call of the function that is known as `where`."""
    calls = []

    def call(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return function(*args, **kwargs)

    monkeypatch.setattr(where, call)
    return calls


def place_member(trainer: Trainer, index: int) -> HParams:
    """The HParams of one member, on the trainer's device."""
    hparams = chunk_hparams(trainer.experiment.cohorts()[0], index, size=1)
    return place_members(hparams, trainer.mesh, trainer.lanes)


def test_one_compilation_for_every_segment_length_and_chunk(monkeypatch):
    traces = count_calls(
        monkeypatch, 'anchorjax.sweeps.trainer.train_segment', train_segment
    )
    trainer = Trainer(experiment(), make_mesh(1), lanes=1)
    program = trainer.compile(1)
    for index in range(2):
        hparams = place_member(trainer, index)
        state = trainer.init(hparams)
        for num_steps in (1, 7, 3):
            state, _ = trainer.segment(state, hparams, num_steps)
        assert int(state.step[0]) == 11
    assert trainer.compile(1) is program
    assert len(traces) == 1


def test_only_the_end_of_a_segment_is_evaluated():
    trainer = get_trainer(experiment(), make_mesh(1), lanes=1)
    hparams = place_member(trainer, 0)
    _, whole = trainer.segment(trainer.init(hparams), hparams, 5)
    state, piece = trainer.segment(trainer.init(hparams), hparams, 2, is_end=False)
    assert np.isnan(piece.agreement).all() and np.isnan(piece.eval_set_loss).all()
    assert np.isfinite(piece.train_loss).all()
    _, end = trainer.segment(state, hparams, 3, before=2)
    assert np.isfinite(end.train_loss).all()
    assert are_same(end, whole)


@pytest.mark.slow
def test_two_and_eight_devices_agree_and_shared_batches_are_close(tmp_path):
    """Of eight devices two share the batch of a member."""
    run_on_devices(8, TRAIN_ON_DEVICES, tmp_path)
    two, eight = (open_run(tmp_path / devices) for devices in '28')
    assert eight.folder.chunk_size == 8
    assert are_same(read_member(two, **POINT), read_member(eight, **POINT))
    shared = open_run(tmp_path / 'shared')
    (environment,) = shared.folder.environments
    assert (environment.devices, environment.batch_devices) == (4, 2)
    losses = shared.results.train_loss, eight.results.train_loss
    np.testing.assert_allclose(*losses, rtol=1e-3)
