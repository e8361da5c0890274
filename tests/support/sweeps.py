"""What tests of whole sweeps share: a tiny sweep, in this process or as a command."""

import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import jax
from jax.sharding import Mesh

from anchorjax import api, config, models
from anchorjax.hashing import digest_array
from anchorjax.storage import checkpoint
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import SweepFolder, create_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.run import Report, ShouldStop, Warn
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import abstract_members
from tests.support import cases, tiny

ROOT = pathlib.Path(__file__).parents[2]
TINY_FILE = 'tests/support/tiny.py'
# Of a command: three members, so that on two devices the second chunk is padded.
THREE = ('--config.grid.gamma=0.5', '--config.grid.seed=0,1,2')
# Side by side in pairs, with snapshots, and no state to resume from before the end.
PAIRS = {
    'train__lanes': 2,
    'train__snapshot_steps': (0, 1, 4, 15),
    'train__resume_every': 1e9,
}
# The sweep that all tests read: four members of each of two depths.
FINISHED = PAIRS | {'static_axes': (('model.depth', (1, 2)),)}
_TIMEOUT = 300  # seconds


def experiment(**changes: Any) -> config.Experiment:
    """The tiny experiment with changed fields, as in experiment(grid__gamma=(0.5,))."""
    values = tiny.get_config()
    cases.set_fields(values, changes)
    return config.resolve(values)


def opened(
    workdir: pathlib.Path | str, devices: int = 1, **changes: Any
) -> tuple[SweepFolder, Mesh]:
    """The folder of a tiny sweep, begun if it is new, and the mesh to train it on."""
    tiny_experiment = experiment(**changes)
    mesh = make_mesh(devices)
    environment = describe_environment(tiny_experiment, mesh)
    return create_folder(workdir, tiny_experiment, environment), mesh


def trained(
    workdir: pathlib.Path | str,
    devices: int = 1,
    warn: Warn = print,
    report: Report | None = None,
    should_stop: ShouldStop | None = None,
    **changes: Any,
) -> Run:
    """A tiny sweep trained to its end in this process, or resumed to its end."""
    return api.train(
        experiment(**changes),
        workdir,
        mesh=make_mesh(devices),
        warn=warn,
        report=report,
        should_stop=should_stop,
    )


def command(
    *words: Any, config_file: str = TINY_FILE, env: dict[str, str] | None = None
) -> dict[str, Any]:
    """Arguments of subprocess.Popen for launch/sweep.py."""
    line = [sys.executable, 'launch/sweep.py', '--config', config_file]
    line += [str(word) for word in words]
    return {
        'args': line,
        'cwd': ROOT,
        'env': {**os.environ, **(env or {})},
        'stdout': subprocess.PIPE,
        'stderr': subprocess.PIPE,
        'text': True,
    }


def launch(*words: Any, **kwargs: Any) -> subprocess.CompletedProcess:
    """Runs launch/sweep.py in a process of its own and waits for its end."""
    return subprocess.run(**command(*words, **kwargs), timeout=_TIMEOUT, check=False)


def fake_devices(count: int) -> dict[str, str]:
    """The environment of a process that sees this number of CPU devices."""
    flags = os.environ['XLA_FLAGS']
    return {'XLA_FLAGS': f'{flags} --xla_force_host_platform_device_count={count}'}


def run_on_devices(count: int, script: str, *words: Any) -> str:
    """What a Python script prints in a process with so many devices."""
    done = subprocess.run(
        [sys.executable, '-c', script, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, **fake_devices(count)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def bits(workdir: pathlib.Path | str) -> dict[tuple[str, int], list[str]]:
    """By (cohort, chunk): digests of the last snapshot's leaves and of the curves."""
    folder = open_run(workdir).folder
    found = {}
    for chunk in folder.chunks:
        of_cohort = folder.experiment.for_cohort(chunk.cohort)
        shapes = models.abstract_params(of_cohort.model, of_cohort.task.vocab)
        params = checkpoint.load(
            chunk.folder.path / 'snapshots',
            of_cohort.train.num_steps,
            abstract_members(shapes, folder.chunk_size),
        )
        arrays = jax.tree.leaves([params, chunk.folder.read_curves()])
        found[chunk.cohort.name, chunk.index] = list(map(digest_array, arrays))
    return found


def describe_arrays(tree: Any) -> Any:
    """The shapes and types of NumPy's arrays, which JAX's own function would round."""
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), tree)


def copy_folder(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """Replaces `target` by a copy of a folder; returns `target`."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def require_line(error: Exception | str, path: object = '') -> None:
    """Fails unless the error is one line.

    Args:
      path: left out of the line before its length counts.
    """
    text = str(error).replace(str(path), '')
    assert len(text.splitlines()) == 1 and len(text) < 1_000, text


def list_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """All files below a folder, in the order of their paths."""
    return sorted(path for path in folder.rglob('*') if path.is_file())


def tree_hash(folder: pathlib.Path | str) -> dict[str, str]:
    """Digest of every file below a folder, by its path."""
    hashes = {}
    for path in list_files(pathlib.Path(folder)):
        hashes[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


def list_specs() -> list[str]:
    """'PATH:PRESET' of every preset of every config, as `config.load` takes it."""
    specs = []
    for path in sorted((ROOT / 'configs').glob('*.py')):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        specs += [f'{path}:{preset}' for preset in getattr(module, 'PRESETS', [''])]
    return specs
