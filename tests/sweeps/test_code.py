"""A sweep that was half trained with other code is refused; a finished one stays."""

import importlib
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import anchorjax
from anchorjax import config, models, tasks
from anchorjax.errors import StoreError
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.sweeps import code
from tests.support.faults import ONE, train_and_stop
from tests.support.sweeps import copy_folder, experiment, opened, require_line, trained

FILES = ('anchorjax/models/one_layer.py', 'anchorjax/tasks/anchors.py')


@pytest.fixture
def edit(monkeypatch):
    """A function after which the code is as if these files of it were edited."""

    def change(*paths: str) -> None:
        digests = code.digest_package(code._ROOT)
        for path in paths:
            assert path in digests
            digests[path] = '0123456789abcdef'
        monkeypatch.setattr(code, '_PACKAGE', digests)

    return change


def test_a_half_trained_sweep_is_refused_by_the_files_that_differ(tmp_path, edit):
    train_and_stop(tmp_path, segments=1)
    before = (tmp_path / MANIFEST_FILE).read_bytes()
    edit(*FILES)
    line = rf'trained with other code: {", ".join(FILES)}; use another --workdir'
    with pytest.raises(StoreError, match=line) as caught:
        trained(tmp_path, **ONE)
    require_line(caught.value, tmp_path)
    assert (tmp_path / MANIFEST_FILE).read_bytes() == before


def test_code_that_trained_nothing_yet_may_be_edited(tmp_path, edit):
    """As after a first try that failed in the user's own task."""
    opened(tmp_path, **ONE)
    edit(*FILES)
    folder, _ = opened(tmp_path, **ONE)
    assert folder.environment.code[FILES[0]] == '0123456789abcdef'


def test_a_finished_sweep_stays_and_a_line_warns(one_member, tmp_path, edit):
    workdir = copy_folder(one_member, tmp_path / 'run')
    lines = []
    trained(workdir, warn=lines.append, **ONE)
    assert lines == []
    before = (workdir / MANIFEST_FILE).read_bytes()
    edit(FILES[1])
    run = trained(workdir, warn=lines.append, **ONE)
    assert bool(run.results.trained.all())
    (line,) = lines
    assert f'was trained with other code: {FILES[1]}; its members stay' in line
    assert (workdir / MANIFEST_FILE).read_bytes() == before


def test_an_edit_of_any_source_of_the_package_changes_its_digest(tmp_path):
    source = pathlib.Path(anchorjax.__file__).parent
    copy = tmp_path / 'anchorjax'
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns('__pycache__'))
    before = code.digest_package(copy)
    assert before == code.digest_package(source)
    assert list(before) == sorted(before)
    for path in (*FILES, 'anchorjax/tasks/scan/task.py'):
        with open(tmp_path / path, 'a') as f:
            f.write('# edited\n')
        after = code.digest_package(copy)
        assert [name for name in after if after[name] != before[name]] == [path]
        before = after
    os.remove(tmp_path / FILES[0])
    assert FILES[0] not in code.digest_package(copy)


@pytest.mark.slow
def test_what_is_digested_is_imported_with_it():
    """A file that is edited before a config names its task is not what was digested."""
    line = 'import sys; from anchorjax.sweeps import code; print(*sys.modules)'
    done = subprocess.run([sys.executable, '-c', line], capture_output=True, text=True)
    imported = done.stdout.split()
    for name in (*tasks.TASKS.values(), *models.MODELS.values()):
        if isinstance(name, str):
            assert name.partition(':')[0] in imported


OWN_CONFIG = """
from anchorjax import tasks
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support import tiny
class OwnConfig(AnchorsConfig): pass
tasks.TASKS['own'] = OwnConfig
def get_config(preset=''):
    c = tiny.get_config()
    c.task.name = 'own'
    return c
"""


def test_a_task_in_a_config_file_is_among_the_code(tmp_path, monkeypatch):
    monkeypatch.setitem(tasks.TASKS, 'own', None)
    monkeypatch.chdir(tmp_path)
    digests = []
    for text in (OWN_CONFIG, OWN_CONFIG + '# edited'):
        pathlib.Path('mine.py').write_text(text)
        resolved = config.resolve(config.load('mine.py'))
        digests.append(code.digest_code(resolved)['mine.py'])
    assert digests[0] != digests[1]


PROJECT = {
    'own_project_task.py': """
import numpy
import own_project_rules
from own_project.shifts import SHIFT
from anchorjax.tasks.anchors import AnchorsConfig
class OwnConfig(AnchorsConfig):
    def make(self):
        from own_project_late import change
        return super().make()
""",
    'own_project_rules.py': 'from own_project_deep import *',
    'own_project_deep.py': 'DEPTH = 1',
    'own_project_late.py': 'change = 1',
    'own_project/__init__.py': '',
    'own_project/shifts.py': 'from . import numbers\nSHIFT = numbers.ONE',
    'own_project/numbers.py': 'ONE = 1',
}


def test_modules_that_a_task_of_the_users_own_imports_are_among_the_code(
    tmp_path, monkeypatch
):
    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    for name, text in PROJECT.items():
        write(name, text)
    write('own_project/unused.py', 'UNUSED = 1')
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module('own_project_task')
    monkeypatch.setitem(tasks.TASKS, 'anchors', own.OwnConfig)
    before = code.digest_code(experiment())
    assert {*before} - {*code.digest_package(code._ROOT)} == {*PROJECT}
    for name, text in PROJECT.items():
        write(name, text + '\n# edited')
        after = code.digest_code(experiment())
        assert [path for path in after if after[path] != before[path]] == [name]
        before = after
    write('own_project/unused.py', 'UNUSED = 2')
    assert code.digest_code(experiment()) == before
    for name in [name for name in sys.modules if name.startswith('own_project')]:
        monkeypatch.delitem(sys.modules, name)
