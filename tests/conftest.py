"""What the tests of whole sweeps share: a tiny sweep, in this process or as a command."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

# XLA spends most of the tests' time on making tiny programs fast. Without its optimizations they
# are compiled in a sixth of the CPU time. Set before jax starts and inherited by the processes
# that tests start. What XLA_FLAGS says already comes last and wins, so the compiler of a user is
# XLA_FLAGS='--xla_backend_optimization_level=3 --xla_cpu_use_fusion_emitters=true' pytest
os.environ['XLA_FLAGS'] = (
    '--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false '
    f'--xla_cpu_parallel_codegen_split_count=1 {os.environ.get("XLA_FLAGS", "")}'
)

import jax
import pytest
import tiny

from anchorjax import config, digests, models, sharding, store, sweep, sweepdir

ROOT = pathlib.Path(__file__).parents[1]


def shared(tmp_path_factory) -> pathlib.Path:
    """The folder that all workers of this session see."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base


def once(tmp_path_factory, name: str, make) -> pathlib.Path:
    """A copy of the folder that `make` fills, once a session: other workers wait, then copy."""
    first, copy = shared(tmp_path_factory) / f'first_{name}', tmp_path_factory.mktemp(name) / 'run'
    with open(first.with_suffix('.lock'), 'w') as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # let go when closed, or when the process dies
        if not (first / 'complete').exists():
            shutil.rmtree(first, ignore_errors=True)
            make(first / 'run')
            (first / 'complete').touch()
    shutil.copytree(first / 'run', copy)
    return copy


@pytest.fixture(scope='session', autouse=True)
def cache(tmp_path_factory):
    """Programs are compiled once a session, for all its workers; nothing outside it is used."""
    folder = str(shared(tmp_path_factory) / 'compiled')
    jax.config.update('jax_compilation_cache_dir', folder)
    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.1)
    with pytest.MonkeyPatch.context() as patch:  # for processes that the tests start
        patch.setenv('JAX_COMPILATION_CACHE_DIR', folder)
        patch.setenv('JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS', '0.1')
        yield


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
    e, mesh = experiment(**changes), sharding.mesh(devices)
    return sweepdir.create(workdir, e, sweep.numerics(e, mesh)), mesh


def trained(workdir, warn=print, **changes) -> store.Run:
    """A tiny sweep taken to its end in this process."""
    there, mesh = opened(workdir, **changes)
    sweep.run(there, mesh, lambda: False, lambda progress: None, warn)
    return store.finalize(there)


def command(*words, config_file='tests/tiny.py', env=None) -> dict:
    """Arguments of subprocess.Popen for launch/sweep.py."""
    line = [sys.executable, 'launch/sweep.py', '--config', config_file, *map(str, words)]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True}
    return {'args': line, 'cwd': ROOT, 'env': {**os.environ, **(env or {})}, **pipes}


def launch(*words, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(**command(*words, **kwargs), timeout=120, check=False)


def bits(workdir) -> dict:
    """Digests of every leaf of the last snapshot and of every curve, by chunk."""
    there, found = store.open(workdir), {}
    size = there.sweep_dir.chunk_size
    for cohort, index, chunk, _ in there.sweep_dir.chunks:
        e = there.experiment.at(cohort.static)
        shapes = models.abstract_params(e.model, e.task.vocab)
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct((size, *x.shape), x.dtype), shapes)
        params = chunk.load_snapshot(e.train.num_steps, shapes)
        found[cohort.name, index] = digests.of([params, chunk.curves()])
    return found


def tree_hash(folder) -> dict:
    """Digest of every file below a folder."""
    files_there = (p for p in pathlib.Path(folder).rglob('*') if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files_there}


@pytest.fixture(scope='session')
def finished(tmp_path_factory) -> store.Run:
    """A finished tiny sweep; read it, do not change it. Every worker has its own copy."""
    rarely = {'train__resume_every': 1e9}
    steps, loop = (0, 1, 4, 15), (('model.depth', (1, 2)),)
    make = lambda folder: trained(folder, train__snapshot_steps=steps, **rarely, loop=loop)
    return store.open(once(tmp_path_factory, 'finished', make))


@pytest.fixture(scope='session')
def launched(tmp_path_factory):
    """Folder of a tiny sweep that the command line finished without interruption."""

    def make(folder: pathlib.Path) -> None:
        assert (done := launch('--workdir', folder)).returncode == 0, done.stderr

    return once(tmp_path_factory, 'launched', make)


def pytest_terminal_summary(terminalreporter):
    """What tests measured (record_property), which workers would keep to themselves."""
    for report in terminalreporter.stats.get('passed', []):
        for name, value in report.user_properties:
            terminalreporter.write_line(f'{name}: {value}')
