"""Measurements for RESULTS.md of what grows with the number of members, without training any."""

import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import jax
import numpy as np

from anchorjax import config, tasks
from anchorjax.cluster.job_files import announce_job
from anchorjax.cluster.shards import Shard
from anchorjax.cluster.status import list_statuses
from anchorjax.storage.reader import write_tables
from anchorjax.storage.sweep_folder import SweepFolder, create_folder, read_folder
from anchorjax.sweeps import cost
from anchorjax.sweeps.progress import describe_plan
from anchorjax.sweeps.run import chunk_hparams, describe_environment
from anchorjax.sweeps.trainer import get_trainer
from anchorjax.training.curves import record_shapes
from anchorjax.training.members import make_mesh, place_members

Row = tuple[str, str]


def experiment(members: int) -> config.Experiment:
    """A sweep of that many members: 10 gammas, the rest seeds; one a chunk."""
    c = config.default()
    c.model.width, c.model.head_dim, c.model.mlp_dim = 64, 64, 192
    c.train.num_steps, c.train.eval_every, c.train.lanes = 4000, 250, 1
    c.grid.gamma = tuple(round(0.1 * i, 1) for i in range(1, 11))
    c.grid.seed = tuple(range(members // 10))
    return config.resolve(c)


def begun(folder: pathlib.Path, members: int) -> SweepFolder:
    e, mesh = experiment(members), make_mesh(1)
    return create_folder(folder, e, describe_environment(e, mesh))


def planning(members: int = 10_000) -> Iterator[Row]:
    """Seconds to plan a sweep and to list its shards: in a program, and as a command."""
    with tempfile.TemporaryDirectory() as name:
        folder, begin = pathlib.Path(name), time.perf_counter()
        e = experiment(members)
        numerics = describe_environment(e, make_mesh(1))
        describe_plan(e, numerics, folder)
        planned = time.perf_counter()
        begun(folder, members)
        announce_job(folder, Shard(0, 16), engine='1')
        made = time.perf_counter()
        list_statuses(read_folder(folder))
        listed = time.perf_counter()
        command = [sys.executable, 'launch/status.py', '--run', name]
        root = pathlib.Path(__file__).parents[2]
        subprocess.run(command, cwd=root, check=True, capture_output=True)
        seconds = f'{time.perf_counter() - listed:.2f} s with the start of Python'
    yield f'{members:,} members planned', f'{planned - begin:.2f} s'
    yield f'{members:,} members listed', f'{listed - made:.2f} s; {seconds}'


def finalizing(members: int = 1_000) -> Iterator[Row]:
    """Seconds to make the tables of finished members, a file each, every number drawn."""
    with tempfile.TemporaryDirectory() as name:
        there = begun(pathlib.Path(name), members)
        curves = _curves(there.experiment)
        for piece in there.chunks:
            piece.chunk.begin(0, 0)
            piece.chunk.finish(curves)
        begin = time.perf_counter()
        run = write_tables(there)
        seconds = time.perf_counter() - begin
        assert bool(run.results.trained.all())
    yield f'finalize {members:,} members', f'{seconds:.1f} s'


def checkpoint_size() -> Iterator[Row]:
    """Bytes of one member on disk beside those of its parameters and optimizer state."""
    with tempfile.TemporaryDirectory() as name:
        there = begun(pathlib.Path(name), 10)
        e, chunk = there.experiment, there.chunks[0].chunk
        state = get_trainer(e, make_mesh(1), 1).init(
            place_members(chunk_hparams(e.cohorts()[0], 0, 1), make_mesh(1), 1)
        )
        rng = np.random.default_rng(0)
        noise = lambda x: rng.normal(size=x.shape).astype(
            x.dtype
        )  # zeros shrink to nothing
        chunk.save_resume(1, {'state': jax.tree.map(noise, state)})
        files = [p for p in chunk.folder.rglob('*') if p.is_file()]
        share = sum(p.stat().st_size for p in files) / cost.state_bytes(e)
    yield 'checkpoint of a member', f'{share:.1%} of its parameters and optimizer state'


def _curves(e: config.Experiment) -> dict[str, np.ndarray]:
    rng, steps = np.random.default_rng(0), e.record_steps
    shapes = record_shapes(tasks.make(e.task))._asdict()
    drawn = lambda s: rng.random((len(steps), 1, *s), np.float32)
    ends = {'steps': np.array(steps), 'diverged': np.array([-1], np.int32)}
    return {name: drawn(shape) for name, shape in shapes.items()} | ends
