"""Imports go down only: every file is parsed and held to one table of layers."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[1]

# From the ground up; a module may import from the rows above its own, and from its own package.
LAYERS = (
    ('errors', 'signals', 'initializers', 'losses', 'tasks.base', 'models.base', 'tasks.shuffle'),
    ('grid', 'fields', 'optimizers', 'tasks.anchors_config', 'models.transformer_config'),
    ('tasks.anchors', 'models.transformer', 'models.transformer_init'),
    ('tasks', 'models'),
    ('train_config', 'records', 'hosts', 'shards'),
    ('checks',),
    ('config',),
    ('train', 'sharding', 'memory', 'files', 'cost', 'official_names', 'engine'),
    ('digests', 'locks', 'torch_files', 'backends', 'jobset'),
    ('checkpoint',),
    ('chunk',),
    ('manifest', 'official'),
    ('sweepdir',),
    ('store', 'trainer', 'jobs'),
    ('auto', 'statuses'),
    ('sweep',),
    ('plan', 'cli', 'baselines'),
    ('benchmark', 'benchmark_scale', 'sweep_command'),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SOURCES = [
    p for d in ('anchorjax', 'analysis', 'launch', 'configs') for p in (ROOT / d).rglob('*.py')
]


def module(path: pathlib.Path) -> str:
    """'anchorjax.tasks.base' of anchorjax/tasks/base.py."""
    parts = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


MODULES = {module(p) for p in SOURCES}


def imported(path: pathlib.Path) -> set[str]:
    """Modules of ours that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f'{node.module}.{alias.name}' for alias in node.names}
            found |= {m if m in MODULES else node.module for m in inner}
    return {m for m in found if m.split('.')[0] in ('anchorjax', 'analysis', 'launch', 'configs')}


def short(name: str) -> str:
    return name.removeprefix('anchorjax.')


@pytest.mark.parametrize('path', sorted((ROOT / 'anchorjax').rglob('*.py')), ids=module)
def test_the_library_imports_downwards(path):
    if (name := module(path)) == 'anchorjax':
        assert not imported(path)
        return
    assert short(name) in RANK, f'give {name} a place in LAYERS'
    for other in imported(path):
        assert RANK[short(other)] < RANK[short(name)], f'{name} imports {other}'


def test_training_and_the_disk_do_not_see_each_other():
    devices = {'train', 'sharding', 'memory'}
    disk = {'files', 'locks', 'digests', 'checkpoint', 'chunk', 'manifest', 'sweepdir', 'store'}
    disk |= {'jobs', 'statuses'}
    for name in devices:
        seen = {short(m) for m in imported(ROOT / 'anchorjax' / f'{name}.py')}
        assert not seen & (disk | devices)
    for name in disk:
        seen = {short(m) for m in imported(ROOT / 'anchorjax' / f'{name}.py')}
        assert not seen & (devices | {'optimizers', 'trainer', 'sweep'})


def test_analysis_only_reads():
    forbidden = {'train', 'trainer', 'optimizers', 'sweep', 'benchmark', 'baselines'}
    for path in (ROOT / 'analysis').rglob('*.py'):
        seen = imported(path)
        assert not {short(m) for m in seen} & forbidden, path
        assert not any(m.startswith(('launch', 'configs')) for m in seen), path


def test_configs_import_the_config_module_alone():
    for path in (ROOT / 'configs').glob('*.py'):
        assert imported(path) == {'anchorjax.config'}, path


def test_nothing_imports_a_command_line_or_a_config():
    for path in SOURCES:
        assert not any(m.startswith(('launch', 'configs')) for m in imported(path)), path
