"""Memory as the compiled program tells it: what fits is chosen, the rest refused."""

import jax
import numpy as np
import pytest

from anchorjax import api
from anchorjax.errors import ConfigError
from anchorjax.experiment import Experiment
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.memory import choose_lanes, count_fitting_lanes
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import count_slices, place_members
from tests.support.sweeps import experiment, list_files, opened, require_line

WIDE = {'model__width': 32, 'train__batch_size': 64}  # 2 gammas x 2 seeds


def measure_program(of_cohort: Experiment, lanes: int) -> int:
    """Bytes that the program of so many lanes takes on its device."""
    trainer = get_trainer(of_cohort, make_mesh(1), lanes)
    return memory.program_bytes(trainer.compile(lanes))


@pytest.mark.slow
def test_open_lanes_fill_the_device_and_no_more():
    wide, mesh = experiment(**WIDE), make_mesh(1)
    many = experiment(**WIDE, grid__seed=tuple(range(20)))
    available = measure_program(wide, 4) + 1000
    lanes = count_fitting_lanes(many, mesh, available)
    assert 3 <= lanes <= 4
    assert measure_program(wide, lanes) <= available
    assert count_fitting_lanes(many, mesh, available=1) == 1
    assert count_fitting_lanes(wide, mesh, available=1e12) == 4  # all the members


def test_lanes_are_those_of_the_config_and_one_on_a_cpu():
    mesh = make_mesh(1)
    assert choose_lanes(experiment(train__lanes=3), mesh, available=1e12) == 3
    assert choose_lanes(experiment(train__lanes=-1), mesh, available=1e12) == 1


@pytest.mark.parametrize(
    ('lanes', 'field'),
    [
        pytest.param(3, 'train.lanes = 3', marks=pytest.mark.slow),
        (1, 'train.batch_size: one member'),
    ],
)
def test_a_sweep_that_does_not_fit_is_refused_and_leaves_no_folder(
    tmp_path, lanes, field
):
    line = rf'^{field}.* KiB on each device, which has 10 KiB'
    too_large = experiment(train__lanes=lanes)
    with pytest.raises(ConfigError, match=line) as caught:
        api.train(too_large, tmp_path / 'run', mesh=make_mesh(1), device_bytes=10_240)
    require_line(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('kept', ['resume', 'snapshots'])
def test_a_member_on_disk_is_its_parameters_and_optimizer_state(tmp_path, kept):
    """At most 5 % more, at a quarter of the paper's width; compression saves 7 %."""
    folder, mesh = opened(
        tmp_path,
        model__width=100,
        model__head_dim=50,
        model__mlp_dim=300,
        train__lanes=2,
        grid__gamma=(0.5,),
    )
    cohort, _, chunk, num_members = folder.chunks[0]
    hparams = place_members(chunk_hparams(cohort, 0, 2), mesh, lanes=2)
    init = get_trainer(folder.experiment, mesh, lanes=2).init
    state = jax.tree.map(make_noise, jax.eval_shape(init, hparams))
    if kept == 'resume':
        chunk.save_resume(1, {'state': state})
        expected = cost.state_bytes(folder.experiment)
    else:
        chunk.save_snapshot(1, state.params)
        expected = 4 * cost.num_parameters(folder.experiment)
    num_bytes = sum(path.stat().st_size for path in list_files(chunk.path / kept))
    assert 0.85 < num_bytes / num_members / expected < 1.05


def make_noise(like: jax.ShapeDtypeStruct) -> np.ndarray:
    """Random values, because zeros would be compressed to nothing."""
    rng = np.random.default_rng(0)
    return rng.normal(size=like.shape).astype(like.dtype)


@pytest.mark.parametrize(
    ('batch_size', 'seq_len', 'size'),
    [(2048, 9, 128), (512, 4, 256), (3 * 512, 9, 96), (64, 4, 64), (999, 9, 999)],
)
def test_slices_are_halves_of_halves(batch_size, seq_len, size):
    assert count_slices(make_mesh(1), batch_size, seq_len) == batch_size // size
