"""Imports go down only, and a wheel has all that the code reads."""

import ast
import configparser
import functools
import pathlib
import re
import subprocess

import pytest

from analysis import papers
from tests.support.sweeps import ROOT

# From the ground up: a package imports from itself and from the rows above its own.
ORDER = {
    'anchorjax': (
        ('errors',),
        ('limits', 'hashing', 'files', 'caching', 'numerics', 'importing'),
        ('grid', 'permutation'),
        ('tasks', 'models'),
        ('experiment',),
        ('config',),
        ('training', 'network'),
        ('storage',),
        ('sweeps', 'official'),
        ('api',),
        ('cli',),
        ('extras',),
    ),
    'analysis': (
        ('members', 'tables', 'stats', 'papers'),
        ('frame',),
        ('names',),
        ('changes', 'circuits', 'spectra'),
        ('theory', 'vectors', 'estimates'),
        ('drawing',),
        ('claims', 'figure'),
        ('claim_words',),
        ('text_tasks',),
        ('p1',),
        (*(set(papers.NAMES) - {'text_tasks', 'p1'}), 'first_look', 'pages'),
        ('report',),
        ('__main__',),
    ),
}
# What the modules below a name may not import besides.
FORBIDDEN = (
    ('', ('launch', 'configs')),
    ('anchorjax.official', ('anchorjax.training',)),
    ('analysis', ('anchorjax.sweeps', 'anchorjax.api')),
    ('analysis', ('anchorjax.training.step', 'anchorjax.training.optimizers')),
    ('analysis', ('anchorjax.storage.checkpoint', 'anchorjax.storage.locks')),
    ('analysis', ('anchorjax.extras',)),
)
FOLDERS = ('anchorjax', 'analysis', 'launch', 'configs')
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


def list_packages(path: pathlib.Path, folder: str) -> set[str]:
    """Parts of anchorjax or of analysis ('tasks', 'api', ...) that a file imports."""
    names = [name.split('.') for name in list_imports(path)]
    return {parts[1] for parts in names if parts[0] == folder and len(parts) > 1}


@pytest.mark.parametrize('folder', ORDER)
def test_packages_import_downwards(folder):
    rank = {name: i for i, names in enumerate(ORDER[folder]) for name in names}
    for path in (ROOT / folder).rglob('*.py'):
        name = module_name(path)
        if name == folder:
            assert not list_imports(path)
            continue
        package = name.split('.')[1]
        assert package in rank, f'give {package} a place in ORDER'
        for other in list_packages(path, folder) - {package}:
            assert rank[other] < rank[package], f'{name} imports {other}'


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


@pytest.mark.parametrize(('start', 'forbidden'), FORBIDDEN)
def test_what_a_package_may_not_import(start, forbidden):
    for path in SOURCES:
        if module_name(path).startswith(start):
            for name in list_imports(path):
                assert not name.startswith(forbidden), f'{path} imports {name}'


def test_configs_import_the_config_package_alone():
    for path in (ROOT / 'configs').glob('*.py'):
        assert list_imports(path) == {'anchorjax.config'}, path


# What JAX may change in any release, by the one module that is to change then.
UNSTABLE = r'\bjax\.(?:_[a-z]\w*|core|experimental|extend|interpreters|lib)\b.*'
WRAPPERS = {
    'anchorjax.training.hosts': ['jax.experimental import multihost_utils'],
    'anchorjax.sweeps.cost': ['jax.extend.core import jaxprs_in_params'],
}


def test_unstable_names_of_jax_have_a_wrapper_each():
    found = {}
    for path in SOURCES:
        names = re.findall(UNSTABLE, path.read_text())
        if names:
            found[module_name(path)] = names
    assert found == WRAPPERS


PACKAGES = ('anchorjax', 'analysis', 'launch')
# What no code of a package reads: results, and what runs in a clone alone.
IN_A_CLONE = ('analysis/gallery/', 'launch/slimpajama.sh')
IN_A_CLONE += ('analysis/tour.ipynb', 'analysis/cut.ipynb')


def list_packaged() -> set[str]:
    """The files besides Python's that setup.cfg puts into a wheel."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / 'setup.cfg')
    packaged = set()
    for package, patterns in settings['options.package_data'].items():
        folder = ROOT / package.replace('.', '/')
        for pattern in patterns.split():
            for path in folder.glob(pattern):
                packaged.add(path.relative_to(ROOT).as_posix())
    return packaged


def test_every_file_that_is_no_python_is_in_a_wheel():
    command = ['git', '-C', str(ROOT), 'ls-files', *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip('no clone')
    expected = set()
    for name in done.stdout.splitlines():
        is_read = not name.startswith(IN_A_CLONE)
        if is_read and pathlib.PurePath(name).suffix != '.py':
            expected.add(name)
    assert expected <= list_packaged()
