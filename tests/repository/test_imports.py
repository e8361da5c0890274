"""Imports go down only: every file is parsed and held to one order of packages."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]

# From the ground up: a package imports from itself and from the rows above its own.
ORDER = (
    ('errors',),
    ('tasks', 'models'),
    ('config',),
    ('training',),
    ('storage',),
    ('sweeps', 'official'),
    ('cluster',),
    ('api',),
    ('cli',),
    ('bench',),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FOLDERS = ('anchorjax', 'analysis', 'launch', 'configs')
SOURCES = [path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py')]


def module_name(path: pathlib.Path) -> str:
    """'anchorjax.tasks.base' of anchorjax/tasks/base.py."""
    parts = path.relative_to(ROOT).with_suffix('').parts
    if parts[-1] == '__init__':
        parts = parts[:-1]
    return '.'.join(parts)


def list_imports(path: pathlib.Path) -> set[str]:
    """Modules of this repository that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
            names |= {f'{node.module}.{alias.name}' for alias in node.names}
    return {name for name in names if name.split('.')[0] in FOLDERS}


def list_packages(path: pathlib.Path) -> set[str]:
    """Parts of anchorjax ('tasks', 'api', ...) that a file imports."""
    parts = [name.split('.') for name in list_imports(path)]
    return {p[1] for p in parts if p[0] == 'anchorjax' and len(p) > 1 and p[1] in RANK}


@pytest.mark.parametrize(
    'path', sorted((ROOT / 'anchorjax').rglob('*.py')), ids=module_name
)
def test_the_library_imports_downwards(path):
    if module_name(path) == 'anchorjax':
        assert not list_imports(path)
        return
    package = module_name(path).split('.')[1]
    assert package in RANK, f'give {package} a place in ORDER'
    for other in list_packages(path) - {package}:
        assert RANK[other] < RANK[package], f'{module_name(path)} imports {other}'


def test_inside_a_package_imports_do_not_circle():
    graph = {module_name(path): list_imports(path) for path in SOURCES}
    modules = set(graph)
    for name, others in graph.items():
        graph[name] = {other for other in others & modules if other != name}
    while graph:
        leaves = {name for name, others in graph.items() if not others & set(graph)}
        assert leaves, f'a circle among {sorted(graph)}'
        for name in leaves:
            del graph[name]


def test_analysis_only_reads():
    forbidden = {'training.step', 'training.optimizers', 'sweeps', 'cluster', 'api'}
    forbidden |= {'bench', 'storage.atomic', 'storage.checkpoint', 'storage.locks'}
    for path in (ROOT / 'analysis').rglob('*.py'):
        for name in list_imports(path):
            assert not name.startswith(('launch', 'configs')), path
            inner = name.removeprefix('anchorjax.')
            assert not inner.startswith(tuple(forbidden)), f'{path} imports {name}'


def test_configs_import_the_config_package_alone():
    for path in (ROOT / 'configs').glob('*.py'):
        assert list_imports(path) <= {'anchorjax', 'anchorjax.config'}, path


def test_nothing_imports_a_command_line_or_a_config():
    for path in SOURCES:
        for name in list_imports(path):
            assert not name.startswith(('launch', 'configs')), path
