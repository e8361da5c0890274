"""Fixtures of all tests: one compilation cache and one trained sweep a session."""

import fcntl
import os
import pathlib
import shutil

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

from anchorjax.storage.reader import Run, open_run
from tests.support.sweeps import launch, trained


def shared(tmp_path_factory) -> pathlib.Path:
    """The folder that all workers of this session see."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base


def once(tmp_path_factory, name: str, make) -> pathlib.Path:
    """A copy of the folder that `make` fills, once a session: other workers wait, then copy."""
    first, copy = (
        shared(tmp_path_factory) / f'first_{name}',
        tmp_path_factory.mktemp(name) / 'run',
    )
    with open(first.with_suffix('.lock'), 'w') as handle:
        fcntl.flock(
            handle, fcntl.LOCK_EX
        )  # let go when closed, or when the process dies
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


@pytest.fixture(scope='session')
def finished(tmp_path_factory) -> Run:
    """A finished tiny sweep; read it, do not change it. Every worker has its own copy."""
    rarely = {'train__resume_every': 1e9}
    steps, loop = (0, 1, 4, 15), (('model.depth', (1, 2)),)
    make = lambda folder: trained(
        folder, train__snapshot_steps=steps, **rarely, loop=loop
    )
    return open_run(once(tmp_path_factory, 'finished', make))


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
