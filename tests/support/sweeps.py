"""What the tests of whole sweeps share: a tiny sweep, in this process or as a command."""

import hashlib
import os
import pathlib
import subprocess
import sys

import jax

from anchorjax import config, models
from anchorjax.storage import digests
from anchorjax.storage.reader import Run, open_run, write_tables
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.run import describe_environment, run_sweep
from anchorjax.training.members import make_mesh
from tests.support import tiny

ROOT = pathlib.Path(__file__).parents[2]


def experiment(**changes) -> config.Experiment:
    """The tiny experiment with fields replaced: experiment(grid__gamma='0.5', loop=(...))."""
    c = tiny.get_config()
    for path, value in changes.items():
        *groups, name = path.split('__')
        node = c[groups[0]] if groups else c
        with node.ignore_type():
            node[name] = value
    return config.resolve(c)


def opened(workdir, devices: int = 1, **changes):
    """(store, mesh) of a tiny sweep in a folder."""
    e, mesh = experiment(**changes), make_mesh(devices)
    return create_folder(workdir, e, describe_environment(e, mesh)), mesh


def trained(workdir, warn=print, **changes) -> Run:
    """A tiny sweep taken to its end in this process."""
    there, mesh = opened(workdir, **changes)
    run_sweep(there, mesh, lambda: False, lambda progress: None, warn)
    return write_tables(there)


def command(*words, config_file='tests/support/tiny.py', env=None) -> dict:
    """Arguments of subprocess.Popen for launch/sweep.py."""
    line = [
        sys.executable,
        'launch/sweep.py',
        '--config',
        config_file,
        *map(str, words),
    ]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True}
    return {'args': line, 'cwd': ROOT, 'env': {**os.environ, **(env or {})}, **pipes}


def launch(*words, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(**command(*words, **kwargs), timeout=120, check=False)


def bits(workdir) -> dict:
    """Digests of every leaf of the last snapshot and of every curve, by chunk."""
    there, found = open_run(workdir), {}
    size = there.sweep_dir.chunk_size
    for cohort, index, chunk, _ in there.sweep_dir.chunks:
        e = there.experiment.at(cohort.static)
        shapes = models.abstract_params(e.model, e.task.vocab)
        shapes = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct((size, *x.shape), x.dtype), shapes
        )
        params = chunk.load_snapshot(e.train.num_steps, shapes)
        found[cohort.name, index] = digests.digest_tree([params, chunk.curves()])
    return found


def tree_hash(folder) -> dict:
    """Digest of every file below a folder."""
    files_there = (p for p in pathlib.Path(folder).rglob('*') if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files_there}
