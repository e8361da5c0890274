"""A run folder, a config or a file of a stranger runs no code and writes nothing elsewhere."""

import ast
import dataclasses
import io
import json
import os
import pathlib
import pickle
import zipfile

import numpy as np
import pytest

from analysis import results
from anchorjax import cli
from anchorjax.cluster.job_files import hold_shard, log_path
from anchorjax.cluster.shards import WHOLE
from anchorjax.cluster.status import Status, list_statuses
from anchorjax.errors import ConfigError, StoreError, UserError
from anchorjax.storage import atomic, locks
from anchorjax.storage.reader import config, open_run, write_tables
from anchorjax.sweeps.run import run_sweep
from tests.support import fuzzing
from tests.support.faults import ONE
from tests.support.fuzzing import refused_or_right, require_line
from tests.support.sweeps import ROOT, bits, experiment, opened, trained, tree_hash

FOLDERS = ('anchorjax', 'analysis', 'launch', 'configs')
SOURCES = [p for folder in FOLDERS for p in (ROOT / folder).rglob('*.py')]
# What may be used of the module: the name of torch's exception.
PICKLE = {'torch_files.py': {'UnpicklingError'}}


# Pickles


def calls(tree: ast.AST) -> list[tuple[str, dict]]:
    """(name of the function, its keywords) of every call, 'np.load' and the like."""
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Call))
    return [
        (ast.unparse(c.func), {k.arg: ast.unparse(k.value) for k in c.keywords})
        for c in found
    ]


@pytest.mark.parametrize('path', SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_of_ours_reads_a_pickle(path):
    tree = ast.parse(path.read_text())
    for name, keywords in calls(tree):
        last = name.split('.')[-1]
        assert keywords.get('allow_pickle', 'False') == 'False', name
        assert name not in (
            'eval',
            'exec',
            'pickle.load',
            'pickle.loads',
            'yaml.load',
            'os.system',
        )
        assert last != 'read_pickle' and keywords.get('shell', 'False') == 'False', name
        if name == 'torch.load':
            assert keywords.get('weights_only') == 'True'
    used = {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and is_pickle(n.value)
    }
    assert used <= PICKLE.get(path.name, set())


def is_pickle(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in (
        'pickle',
        'cloudpickle',
        'dill',
        'joblib',
    )


class Marker:
    """Unpickled, it makes a file."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as archive:
        for name, data in members.items():
            archive.writestr(f'{name}.npy', data)
    return out.getvalue()


def npy(array, pickled: bool = False) -> bytes:
    np.save(out := io.BytesIO(), array, allow_pickle=pickled)
    return out.getvalue()


def header(shape: tuple, dtype: str = '<f4') -> bytes:
    """An array that claims a shape and has no content."""
    described = {'descr': dtype, 'fortran_order': False, 'shape': shape}
    np.lib.format.write_array_header_1_0(out := io.BytesIO(), described)
    return out.getvalue()


def bomb() -> bytes:
    """Four kilobytes that unpack to four megabytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('steps.npy', npy(np.zeros(10**6, np.float32)))
    return out.getvalue()


@pytest.fixture(scope='module')
def one(tmp_path_factory) -> pathlib.Path:
    """A finished sweep of one member; not to be changed."""
    return trained(tmp_path_factory.mktemp('one') / 'run', **ONE).sweep_dir.workdir


@pytest.fixture
def copy(one, tmp_path) -> pathlib.Path:
    return fuzzing.copied(one, tmp_path / 'run')


def curves_of(folder: pathlib.Path) -> pathlib.Path:
    return folder / 'cohorts' / 'all' / 'chunk_0000' / 'curves.npz'


@pytest.mark.parametrize('form', ['pickle', 'npy', 'npz', 'npz with a wrong size'])
def test_a_pickle_in_place_of_curves_is_not_read(copy, tmp_path, form):
    evil = np.array([Marker(tmp_path / 'ran')], object)
    data = {
        'pickle': pickle.dumps(evil),
        'npy': npy(evil, pickled=True),
        'npz': zipped(steps=npy(evil, pickled=True)),
        'npz with a wrong size': zipped(
            steps=header((1,), '|O') + pickle.dumps(evil)[:8]
        ),
    }[form]
    curves_of(copy).write_bytes(data)
    with pytest.raises(
        StoreError, match=r'curves\.npz is damaged .* delete it'
    ) as caught:
        _ = open_run(copy).results
    require_line(caught.value, tmp_path)
    assert not (tmp_path / 'ran').exists()


@pytest.mark.parametrize(
    'data',
    [
        zipped(steps=header((10**15,))),
        zipped(steps=header((2**62, 2**62))),
        zipped(steps=header((-1,)) + b'1234'),
        zipped(steps=header((0, 10**15))),
        bomb(),
        header((10**15,)),
    ],
)
def test_an_array_larger_than_its_file_takes_no_memory(copy, data):
    curves_of(copy).write_bytes(data)
    with pytest.raises(StoreError, match=r'curves\.npz is damaged'):
        _ = open_run(copy).results


# Links


@pytest.fixture
def outside(tmp_path) -> pathlib.Path:
    """A folder that is none of the sweep's business."""
    folder = tmp_path / 'outside'
    for name in ('inner', '40', 'phase'):
        (folder / name).mkdir(parents=True)
        (folder / name / 'file').write_text('mine')
    (folder / 'file').write_text('mine')
    return folder


CHUNK = 'cohorts/all/chunk_0000'
LINKS = [
    *((name, '.') for name in ('cohorts', 'cohorts/all', CHUNK, 'jobs', 'figures')),
    *((f'{CHUNK}/{name}', '.') for name in ('resume', 'snapshots', 'snapshots/40')),
    *((f'{CHUNK}/resume/{step}', 'inner') for step in (10, 20)),
    *(
        (name, 'file')
        for name in ('.lock', 'manifest.json', 'results.nc', 'members.csv')
    ),
    *(
        (name, 'new')
        for name in ('.lock', 'manifest.json', 'results.nc', 'jobs', CHUNK)
    ),
    *((f'{CHUNK}/curves.npz', where) for where in ('file', 'new')),
    *((f'{CHUNK}/numerics.json', where) for where in ('file', 'new')),
    *(('jobs/shard_00000_of_00001.json', where) for where in ('file', 'new')),
]
LINKS += [
    (f'figures/phase.{k}', w)
    for k, w in (('png', 'file'), ('png', 'new'), ('npz', 'file'))
]


def command(workdir: pathlib.Path, figures: bool) -> None:
    """What launch/sweep.py does with a folder, in this process."""
    there, mesh = opened(workdir, **ONE)
    with hold_shard(there, WHOLE) as tell:
        run_sweep(there, mesh, lambda: False, tell, lambda line: None)
    results.publish(there) if figures else write_tables(there)


@pytest.mark.parametrize(('name', 'where'), LINKS)
def test_a_link_in_a_run_folder_lets_nothing_out(one, outside, tmp_path, name, where):
    """A sweep begins in a folder where someone has put a link."""
    workdir = tmp_path / 'run'
    link = workdir / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / where)
    before = tree_hash(outside), sorted(outside.rglob('*'))
    with refused_or_right(tmp_path):
        command(workdir, figures=name.startswith('figures'))
        assert bits(workdir) == bits(one)
    assert (tree_hash(outside), sorted(outside.rglob('*'))) == before


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / locks.LOCK_FILE).symlink_to(tmp_path / 'new')
    with (
        pytest.raises(StoreError, match='cannot use'),
        locks.hold_results(tmp_path / 'run'),
    ):
        pass
    assert not (tmp_path / 'new').exists()


# Configs as JSON


def written(path: pathlib.Path, values) -> pathlib.Path:
    path.write_text(json.dumps(values))
    return path


CODE = "__import__('os').mkdir('ran')"


@pytest.mark.parametrize(
    'change',
    [
        {'name': CODE},
        {'name': '../../x'},
        {'__class__': 'Experiment'},
        {'py/object': 'os.system', 'py/reduce': [{'py/type': 'os.mkdir'}, ['ran']]},
        {'task': {'name': CODE}},
        {'task': {'name': '__class__'}},
        {'loop': [[CODE, [1]]]},
        {'loop': [['model.__class__', [1, 2]]]},
        {'model': {'name': 'transformer', '__init__': CODE}},
    ],
)
@pytest.mark.parametrize('wrapped', [False, True])
def test_code_in_a_json_config_is_refused(tmp_path, monkeypatch, change, wrapped):
    monkeypatch.chdir(tmp_path)
    values = json.loads(json.dumps(config.to_dict(experiment()))) | change
    path = written(tmp_path / 'c.json', {'experiment': values} if wrapped else values)
    (tmp_path / 'c.py').write_text("import os\nos.mkdir('ran')\n")
    with pytest.raises(ConfigError) as caught:
        cli.load_json(str(path))
    require_line(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ['c.json', 'c.py']


def test_a_json_config_imports_nothing_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ('c.py', 'tiny.py', 'anchors.py', 'transformer.py'):
        (tmp_path / name).write_text("import os\nos.mkdir('ran')\n")
    path = written(tmp_path / 'c.json', config.to_dict(experiment()))
    assert config.resolve(cli.load_json(str(path))) == experiment()
    assert not (tmp_path / 'ran').exists()


@pytest.mark.parametrize(
    'data', [b'\xff\xfe\x00', b'[' * 10**5, b'', b'3', b'{"task": 1}', b'[]']
)
def test_what_is_no_json_config_is_one_line(tmp_path, data):
    (tmp_path / 'c.json').write_bytes(data)
    with pytest.raises(UserError) as caught:
        cli.load_json(str(tmp_path / 'c.json'))
    require_line(caught.value, tmp_path)


# Job files


HOSTILE = ('x\nrm -rf /', '\x1b[2J\x1b]0;title\x07', 'x' * 10**5, '\u202etxt.exe')


@pytest.fixture
def rewritten(one, copy):
    """A function: fields of the file of a job -> what is said of the jobs then."""
    there = open_run(copy).sweep_dir
    with hold_shard(there, WHOLE):
        pass
    (path,) = (copy / 'jobs').glob('shard_*.json')

    def rewrite(**changes) -> list[Status]:
        written(path, atomic.read_json(path) | changes)
        with refused_or_right(seconds=3):
            return list_statuses(there)

    return rewrite


@pytest.mark.parametrize('text', HOSTILE)
@pytest.mark.parametrize('field', ['host', 'engine', 'label', 'message', 'state'])
def test_what_a_job_says_is_one_printable_line(rewritten, text, field):
    for status in rewritten(**{field: text}):
        own = dataclasses.asdict(status.job).values() if status.job else ()
        said = [status.state, str(status.job), *map(str, own)]
        assert all(s.isprintable() and len(s) <= 3000 for s in said)


NUMBERS = [
    *(
        ('shard', [-1, 1]),
        ('shard', [0, 10**9]),
        ('shard', [5, 3]),
        ('chunks', [0, 2**62]),
    ),
    *(('chunks', [3, 1]), ('chunks', [-(2**62), 2**62]), ('chunks', [-5, 3])),
    *(('started', 1e300), ('started', -1e18)),
]


@pytest.mark.parametrize(('field', 'value'), NUMBERS)
def test_numbers_no_job_has_are_no_job(copy, rewritten, field, value):
    curves_of(copy).unlink()
    found = rewritten(**{field: value})
    assert [s.shard for s in found] == [WHOLE]
    assert all(str(s.job) for s in found)


@pytest.mark.parametrize('text', HOSTILE[1:])
def test_the_log_of_a_job_is_shown_printable(copy, rewritten, text):
    curves_of(copy).unlink()
    log_path(copy, WHOLE).write_text(text)
    (status,) = rewritten(state='failed')
    assert status.log and all(s.isprintable() and len(s) <= 1000 for s in status.log)
