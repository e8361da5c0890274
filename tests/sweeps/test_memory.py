"""Memory as the compiled program says it: what fits is chosen, what does not is refused."""

import jax
import numpy as np
import pytest

from anchorjax.errors import ConfigError
from anchorjax.sweeps import cost, memory
from anchorjax.sweeps.lanes import choose_lanes, count_fitting_lanes
from anchorjax.sweeps.run import chunk_hparams, run_sweep
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.members import make_mesh, place_members
from tests.support.sweeps import experiment, launch, opened, trained

SIZES = {'grid__seed': tuple(range(20)), 'model__width': 32, 'train__batch_size': 64}


def needed(e, lanes: int) -> int:
    mesh = make_mesh(1)
    return memory.program_bytes(get_trainer(e, mesh, lanes).compile(lanes))


def test_a_compiled_program_holds_at_least_its_states():
    e = experiment(**SIZES)
    assert cost.state_bytes(e) < needed(e, 1) < needed(e, 4)
    assert needed(e, 4) > 4 * cost.state_bytes(e)


def test_auto_lanes_fill_what_there_is_and_no_more():
    e, mesh = experiment(**SIZES), make_mesh(1)
    available = needed(e, 5) + 1000
    width = count_fitting_lanes(e, mesh, available)
    assert 3 <= width <= 5 and needed(e, width) <= available
    assert count_fitting_lanes(e, mesh, 1) == 1
    assert count_fitting_lanes(e, mesh, 1e12) == 40  # members: 2 gammas x 20 seeds
    assert choose_lanes(e, mesh, 1e12) == 1  # as the config says
    assert choose_lanes(experiment(**SIZES, train__lanes=-1), mesh, 1e12) == 1  # a CPU


@pytest.mark.parametrize(
    ('lanes', 'line'), [(3, 'train.lanes = 3'), (1, 'train.batch_size')]
)
def test_what_does_not_fit_names_the_setting_before_anything_starts(
    tmp_path, lanes, line
):
    there, mesh = opened(tmp_path, train__lanes=lanes)
    with pytest.raises(
        ConfigError, match=rf'^{line}.* KiB on each device, which has 10 KiB'
    ):
        run_sweep(there, mesh, lambda: False, lambda p: None, device_bytes=10 * 2**10)
    assert not (tmp_path / 'cohorts').exists()


def test_the_largest_cohort_decides(tmp_path):
    loop = (('model.width', (8, 64)),)
    small, large = (experiment(model__width=width) for width in (8, 64))
    between = (needed(small, 1) + needed(large, 1)) / 2
    there, mesh = opened(tmp_path, loop=loop)
    with pytest.raises(ConfigError, match=r'train.batch_size'):
        run_sweep(there, mesh, lambda: False, lambda p: None, device_bytes=between)


def test_sizes_as_one_reads_them():
    assert [memory.format_bytes(2.0**n) for n in (12, 25, 31)] == [
        '4 KiB',
        '32.0 MiB',
        '2.0 GiB',
    ]


@pytest.mark.slow
def test_the_command_refuses_without_leaving_a_folder(tmp_path):
    done = launch('--workdir', tmp_path / 'run', '--device_memory=0.00001')
    assert done.returncode == 2 and done.stderr.startswith(
        'error: train.batch_size: one member'
    )
    assert len(done.stderr.splitlines()) == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize('kept', ['resume', 'snapshots'])
def test_a_member_on_disk_is_its_parameters_and_optimizer_state(tmp_path, kept):
    """At most 5 % more, at a quarter of the paper's width; compression saves some 7 %."""
    size = {
        'model__width': 100,
        'model__head_dim': 50,
        'model__mlp_dim': 300,
        'train__lanes': 2,
    }
    there, mesh = opened(tmp_path, **size, grid__gamma=(0.5,))
    e, chunk = there.experiment, there.chunks[0].chunk
    hparams = chunk_hparams(e.cohorts()[0], 0, 2)
    state = get_trainer(e, mesh, 2).init(place_members(hparams, mesh, 2))
    noise = lambda x: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype)
    state = jax.tree.map(noise, state)  # zeros would shrink to nothing
    if kept == 'resume':
        chunk.save_resume(1, {'state': state})
        expected = cost.state_bytes(e)
    else:
        chunk.save_snapshot(1, state.params)
        expected = 4 * cost.num_parameters(e)
    files = [p for p in (chunk.folder / kept).rglob('*') if p.is_file()]
    assert 0.85 < sum(p.stat().st_size for p in files) / 2 / expected < 1.05


def test_the_plan_tells_what_reaches_the_disk(tmp_path):
    run = trained(tmp_path, grid__seed=(0,), grid__gamma=(0.3,))
    assert cost.state_bytes(run.experiment) == 4 * (
        3 * cost.num_parameters(run.experiment) + 5
    )
