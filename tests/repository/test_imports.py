"""Imports go down only: every file is parsed and held to one order of packages."""

import ast
import functools
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]

# From the ground up: a package imports from itself and from the rows above its own.
ORDER = (
    ('errors',),
    ('limits', 'hashing', 'files'),
    ('task', 'model', 'grid', 'permutation'),
    ('tasks', 'models', 'experiment'),
    ('config',),
    ('training',),
    ('storage',),
    ('sweeps', 'official'),
    ('cluster',),
    ('api',),
    ('cli',),
    ('extras',),
)
# The same for the packages of analysis/, and for the files that its rooms share.
ANALYSIS_ORDER = (
    ('members', 'tables', 'stats'),
    ('changes', 'circuits', 'spectra'),
    ('theory', 'vectors', 'old_claims'),
    ('drawing',),
    ('frame', 'claims', 'figure'),
    ('bias', 'text_tasks'),
    ('p1',),
    ('p2', 'p3', 'p4', 'law'),
    ('families',),
    ('report',),
)
SHARED = {'stats', 'frame', 'claims', 'figure'}
# The parts of a package that read figures, and so stand above them.
READERS = {'readings', 'claims', 'source_claims'}
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FOLDERS = ('anchorjax', 'analysis', 'launch', 'configs')
ANALYSIS = sorted(path.parent for path in (ROOT / 'analysis').glob('*/__init__.py'))
SOURCES = [path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py')]


def module_name(path: pathlib.Path) -> str:
    """'anchorjax.tasks' of anchorjax/tasks/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix('').parts
    if parts[-1] == '__init__':
        parts = parts[:-1]
    return '.'.join(parts)


MODULES = {module_name(path) for path in SOURCES}


@functools.cache
def list_imports(path: pathlib.Path) -> frozenset[str]:
    """Modules of this repository that a file imports, anywhere in it.

    'from a import b' imports the module 'a.b' if there is one, else 'a'.
    """
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path} has a relative import'
            for alias in node.names:
                inner = f'{node.module}.{alias.name}'
                names.add(inner if inner in MODULES else node.module)
    return frozenset(name for name in names if name.split('.')[0] in FOLDERS)


def list_packages(path: pathlib.Path) -> set[str]:
    """Parts of anchorjax ('tasks', 'api', ...) that a file imports."""
    packages = set()
    for name in list_imports(path):
        parts = name.split('.')
        if parts[0] == 'anchorjax' and len(parts) > 1 and parts[1] in RANK:
            packages.add(parts[1])
    return packages


def test_the_library_imports_downwards():
    for path in (ROOT / 'anchorjax').rglob('*.py'):
        name = module_name(path)
        if name == 'anchorjax':
            assert not list_imports(path)
            continue
        package = name.split('.')[1]
        assert package in RANK, f'give {package} a place in ORDER'
        for other in list_packages(path) - {package}:
            assert RANK[other] < RANK[package], f'{name} imports {other}'


@pytest.mark.parametrize('folder', ANALYSIS, ids=lambda folder: folder.name)
def test_the_packages_of_analysis_import_downwards(folder):
    rank = {name: i for i, names in enumerate(ANALYSIS_ORDER) for name in names}
    assert folder.name in rank, f'give {folder.name} a place in ANALYSIS_ORDER'
    packages = {path.name for path in ANALYSIS}
    for path in folder.rglob('*.py'):
        others = set()
        for name in list_imports(path):
            parts = name.split('.')
            if parts[0] == 'analysis':
                others |= set(parts[1:2])
        for other in (others & (packages | SHARED)) - {folder.name}:
            assert rank[other] < rank[folder.name], f'{path} imports {other}'
        figures = others - packages - SHARED
        if figures:
            inside = path.relative_to(folder).with_suffix('').parts
            is_reader = folder.name == 'report' or inside[0] in READERS
            assert is_reader, f'{path} imports the figures {figures}'


def test_imports_do_not_circle():
    graph = {}
    for path in SOURCES:
        name = module_name(path)
        graph[name] = (list_imports(path) & MODULES) - {name}
    while graph:
        leaves = {name for name, others in graph.items() if not others & set(graph)}
        assert leaves, f'a circle among {sorted(graph)}'
        for name in leaves:
            del graph[name]


def list_reachable(name: str) -> set[str]:
    """The module of this name and all that it imports, directly or not."""
    path_of = {module_name(path): path for path in SOURCES}
    reached, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += list_imports(path_of[module]) & MODULES
    return reached


def test_a_step_of_training_is_read_in_forty_files():
    assert len(list_reachable('anchorjax.training.step')) <= 40


def test_a_notebook_imports_no_jobs_of_clusters():
    reached = list_reachable('anchorjax.api')
    assert not [name for name in reached if 'cluster' in name or 'extras' in name]


def test_the_official_weights_see_neither_training_nor_sweeps():
    allowed = {'errors', 'files', 'models', 'storage', 'config', 'tasks', 'official'}
    for path in (ROOT / 'anchorjax' / 'official').rglob('*.py'):
        assert list_packages(path) <= allowed, path


def test_analysis_reads_runs_and_writes_figures_and_pages_alone():
    forbidden = ('training.step', 'training.optimizers', 'sweeps', 'cluster', 'api')
    forbidden += ('extras', 'storage.checkpoint', 'storage.locks')
    writers = {'analysis.drawing.style', 'analysis.law.law', 'analysis.report.write'}
    writers |= {'analysis.__main__', 'analysis.old_claims.verdict_table'}
    offenders = []
    for path in (ROOT / 'analysis').rglob('*.py'):
        for name in list_imports(path):
            assert not name.startswith(('launch', 'configs')), path
            inner = name.removeprefix('anchorjax.')
            writes = inner == 'files' and module_name(path) not in writers
            if writes or inner.startswith(forbidden):
                offenders.append(f'{module_name(path)} imports {name}')
    assert not offenders


def test_only_commands_import_the_extras():
    for path in SOURCES:
        name = module_name(path)
        if not name.startswith(('anchorjax.extras', 'launch')):
            assert 'extras' not in list_packages(path), name


def test_configs_import_the_config_package_alone():
    for path in (ROOT / 'configs').glob('*.py'):
        assert list_imports(path) == {'anchorjax.config'}, path


def test_nothing_imports_a_command_line_or_a_config():
    for path in SOURCES:
        for name in list_imports(path):
            assert not name.startswith(('launch', 'configs')), path
