"""What grows with the number of members: seconds and bytes, without training any."""

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import jax
import numpy as np

from anchorjax import config
from anchorjax.bench.harness import Row, count_bytes, time_call
from anchorjax.cluster.job_files import announce_job
from anchorjax.cluster.status import list_statuses
from anchorjax.storage.reader import open_run
from anchorjax.storage.sweep_folder import SweepFolder, create_folder, read_folder
from anchorjax.sweeps import cost
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.plan import make_plan
from anchorjax.sweeps.publish import write_tables
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.shards import Shard
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.curves import record_shapes
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import place_members

_ROOT = pathlib.Path(__file__).parents[2]


def measure_planning(num_members: int = 10_000) -> Iterator[Row]:
    """Seconds to plan a sweep and to list its shards, in a program and as a command."""
    with tempfile.TemporaryDirectory() as name:
        workdir = pathlib.Path(name)
        planning = time_call(_plan, workdir, num_members)
        _create_sweep(workdir, num_members)
        announce_job(workdir, Shard(0, 16), engine='1')
        listing = time_call(_list_shards, workdir)
        with_python = time_call(_run_status_command, workdir)
    yield f'{num_members:,} members planned', f'{planning:.2f} s'
    yield (
        f'{num_members:,} members listed',
        f'{listing:.2f} s; {with_python:.2f} s including the start of Python',
    )


def _plan(workdir: pathlib.Path, num_members: int) -> None:
    experiment = _make_experiment(num_members)
    make_plan(experiment, workdir)


def _list_shards(workdir: pathlib.Path) -> None:
    list_statuses(read_folder(workdir))


def _run_status_command(workdir: pathlib.Path) -> None:
    command = [sys.executable, 'launch/status.py', '--run', str(workdir)]
    subprocess.run(command, cwd=_ROOT, check=True, capture_output=True)


def measure_finalizing(num_members: int = 1_000) -> Iterator[Row]:
    """Seconds to write the tables of finished members: a file each, random numbers."""
    with tempfile.TemporaryDirectory() as name:
        sweep = _create_sweep(pathlib.Path(name), num_members)
        curves = _draw_curves(sweep.experiment)
        for chunk in sweep.chunks:
            chunk.folder.begin(0, 0)
            chunk.folder.finish(curves)
        seconds = time_call(write_tables, sweep)
        assert bool(open_run(name).results.trained.all())
    yield f'finalize {num_members:,} members', f'{seconds:.1f} s'


def measure_checkpoint_size() -> Iterator[Row]:
    """Bytes of a member on disk, over those of its parameters and optimizer state."""
    with tempfile.TemporaryDirectory() as name:
        sweep = _create_sweep(pathlib.Path(name), num_members=10)
        chunk = sweep.chunks[0].folder
        state = _draw_state(sweep.experiment)
        chunk.save_resume(1, {'state': state})
        num_bytes = count_bytes(chunk.path)
    share = num_bytes / cost.state_bytes(sweep.experiment)
    yield 'checkpoint of a member', f'{share:.1%} of its parameters and optimizer state'


def _make_experiment(num_members: int) -> config.Experiment:
    """Ten gammas and as many seeds as needed, one member to a chunk."""
    c = config.default()
    c.model.width = 64
    c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.num_steps = 4_000
    c.train.eval_every = 250
    c.train.lanes = 1
    c.grid.gamma = tuple(round(0.1 * i, 1) for i in range(1, 11))
    c.grid.seed = tuple(range(num_members // 10))
    return config.resolve(c)


def _create_sweep(workdir: pathlib.Path, num_members: int) -> SweepFolder:
    """The folder of a new sweep of that many members on one device."""
    experiment = _make_experiment(num_members)
    environment = describe_environment(experiment, make_mesh(1))
    return create_folder(workdir, experiment, environment)


def _draw_state(experiment: config.Experiment) -> object:
    """Random training state of one member: zeros would be compressed to nothing."""
    rng = np.random.default_rng(0)
    mesh = make_mesh(1)
    cohort = experiment.cohorts()[0]
    hparams = chunk_hparams(cohort, 0, 1)
    hparams = place_members(hparams, mesh, 1)
    state = get_trainer(experiment, mesh, 1).init(hparams)

    def draw(leaf: jax.Array) -> np.ndarray:
        noise = rng.normal(size=leaf.shape)
        return noise.astype(leaf.dtype)

    return jax.tree.map(draw, state)


def _draw_curves(experiment: config.Experiment) -> dict[str, np.ndarray]:
    """Random curves of a chunk of one finished member."""
    rng = np.random.default_rng(0)
    steps = np.array(experiment.record_steps)
    diverged = np.array([-1], np.int32)
    curves = {'steps': steps, 'diverged': diverged}
    shapes = record_shapes(experiment.task.make())
    for name, shape in shapes._asdict().items():
        shape = (len(steps), 1, *shape)
        curves[name] = rng.random(shape, np.float32)
    return curves
