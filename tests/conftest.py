"""Fixtures of all tests: one compilation cache, and sweeps that are trained once."""

import fcntl
import gc
import os
import pathlib
import shutil
from collections.abc import Callable, Generator, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

# XLA spends most of the tests' time on making tiny programs fast. Without its
# optimizations they compile in a sixth of the CPU time. This is set before jax starts,
# and processes that tests start inherit it. The flags of the user come last and win, so
# these give the compiler of a real run:
# XLA_FLAGS='--xla_backend_optimization_level=3 --xla_cpu_use_fusion_emitters=true'
# XLA aborts at a flag that it does not know: 0.11 lost one, 0.12 has a new one, with
# which it compiles in three quarters of the time.
os.environ['XLA_FLAGS'] = (
    '--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1 '
    + ('' if version('jaxlib') >= '0.11' else '--xla_cpu_use_fusion_emitters=false ')
    + '--xla_cpu_opt_preset=CPU_OPT_PRESET_FAST_COMPILE '
    * (version('jaxlib') >= '0.12')
    + os.environ.get('XLA_FLAGS', '')
)

import hypothesis
import pytest

# Tests of properties are not timed: on a busy machine an example may take long.
hypothesis.settings.register_profile(
    'untimed', deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile('untimed')

# What takes long to import is imported by the fixtures: pytest-xdist's first process
# loads this file before it starts the workers, and runs no test.
if TYPE_CHECKING:
    from anchorjax.storage.reader import Run

# These take a minute: a worker that began one late would end after all the others.
FIRST = (
    'tests/training/test_learning',
    'tests/training/test_hosts',
    'tests/cluster/test_slurm',
    'tests/sweeps/',
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Looks for garbage seldom: it took 6 % of the time, mostly while JAX traces."""
    gc.disable()  # imports leave none
    result = yield
    gc.freeze()  # modules are not looked at again
    gc.set_threshold(50_000)
    gc.enable()
    return result


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A function: how `python launch/SCRIPT words` ends, as in_process.Said."""
    from tests.support import in_process

    def run(script: str, *words: object) -> in_process.Said:
        return in_process.run(script, list(map(str, words)), monkeypatch, capsys)

    return run


@pytest.fixture(scope='session')
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder that all workers of this session share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base


@pytest.fixture(scope='session', autouse=True)
def compilation_cache(
    pytestconfig: pytest.Config, session_folder: pathlib.Path
) -> Iterator[None]:
    """Workers and later sessions share what they compile, in .pytest_cache.

    JAX finds a program by its text, its options, its compiler's version and the
    processor; `pytest --cache-clear` forgets all of them.
    """
    import jax

    cache = getattr(pytestconfig, 'cache', None)  # none with -p no:cacheprovider
    folder = cache.mkdir('compiled') if cache else session_folder / 'compiled'
    folder = os.environ.get('JAX_COMPILATION_CACHE_DIR', folder)
    jax.config.update('jax_compilation_cache_dir', str(folder))
    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
    with pytest.MonkeyPatch.context() as patch:  # for processes that the tests start
        patch.setenv('JAX_COMPILATION_CACHE_DIR', str(folder))
        patch.setenv('JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS', '0')
        yield


@pytest.fixture(scope='session')
def make_once(
    session_folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Callable[[pathlib.Path], object]], pathlib.Path]:
    """A function: the folder that `make` fills, made once a session under a name.

    Each worker gets its own copy; while one makes it, the others wait.
    """

    def make_or_copy(name: str, make: Callable[[pathlib.Path], object]) -> pathlib.Path:
        original = session_folder / f'original_{name}'
        with open(original.with_suffix('.lock'), 'w') as handle:
            # Released when the file is closed, or when the process dies.
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not (original / 'complete').exists():
                shutil.rmtree(original, ignore_errors=True)
                make(original / 'run')
                (original / 'complete').touch()
        copy = tmp_path_factory.mktemp(name) / 'run'
        shutil.copytree(original / 'run', copy)
        return copy

    return make_or_copy


@pytest.fixture(scope='session')
def train_once(make_once) -> Callable[..., 'Run']:
    """A function: a finished tiny sweep with these changes, trained once a session.

    The tests that use a name share its sweep: they read it and never change it.
    """
    from anchorjax.storage.reader import open_run
    from tests.support.sweeps import trained

    def train_or_copy(name: str, **changes: Any) -> 'Run':
        def train(folder: pathlib.Path) -> None:
            trained(folder, **changes)

        return open_run(make_once(name, train))

    return train_or_copy


@pytest.fixture(scope='session')
def finished(train_once) -> 'Run':
    """The sweep of support.sweeps.FINISHED; read it, never change it."""
    from tests.support.sweeps import FINISHED

    return train_once('finished', **FINISHED)


@pytest.fixture(scope='session')
def one_member(train_once) -> pathlib.Path:
    """Folder of a finished sweep of one member; read it, never change it."""
    from tests.support.faults import ONE

    return train_once('one_member', **ONE).folder.workdir


@pytest.fixture(scope='session')
def launched(make_once) -> pathlib.Path:
    """Folder of a sweep of THREE that a command finished on two devices, at one go."""
    from tests.support.sweeps import THREE, fake_devices, launch

    def launch_sweep(folder: pathlib.Path) -> None:
        done = launch('--workdir', folder, *THREE, env=fake_devices(2))
        assert done.returncode == 0, done.stderr

    return make_once('launched', launch_sweep)
