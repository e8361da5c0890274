"""A run folder of an older version is refused in one line and left as it is."""

import json
import sys

import pytest

from anchorjax import api, config
from anchorjax.errors import CorruptFileError, StoreError
from anchorjax.hashing import digest_json
from anchorjax.storage.manifest import MANIFEST_FILE, MANIFEST_FORMAT, read_manifest
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.tasks import TASKS
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import opened, require_line, trained


@pytest.mark.parametrize('use', [api.open, trained])
def test_a_folder_of_another_format_is_refused_in_one_line_and_kept(use, tmp_path):
    path = tmp_path / MANIFEST_FILE
    path.write_text('{"format": 3}')
    line = rf'manifest\.json: format 3, this version reads {MANIFEST_FORMAT}'
    with pytest.raises(StoreError, match=line) as caught:
        use(tmp_path)
    require_line(caught.value, tmp_path)
    assert path.read_text() == '{"format": 3}'
    assert {path.name for path in tmp_path.iterdir()} <= {MANIFEST_FILE, '.lock'}


@pytest.mark.parametrize(('old', 'new'), [('"lanes": 1', '"lanes": 2'), ('}', '')])
def test_a_damaged_manifest_is_refused(tmp_path, old, new):
    opened(tmp_path)
    path = tmp_path / MANIFEST_FILE
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(CorruptFileError, match=r'manifest\.json') as caught:
        read_manifest(tmp_path)
    require_line(caught.value, tmp_path)


OWN_TASK = """
import dataclasses
from anchorjax import config, tasks
from anchorjax.tasks.modular_addition import ModularAdditionConfig

@dataclasses.dataclass(frozen=True)
class OwnConfig(ModularAdditionConfig):
    name: str = 'own'
    own_field: int = 7

tasks.TASKS['own'] = OwnConfig

def get_config(preset=''):
    c = config.default(task='own')
    c.train.batch_size = 8
    return c
"""


def test_a_run_of_a_task_from_a_config_file_is_opened_without_it(monkeypatch, tmp_path):
    monkeypatch.setitem(TASKS, 'own', None)
    file = tmp_path / 'own.py'
    file.write_text(OWN_TASK)
    experiment = config.resolve(config.load(file))
    environment = describe_environment(experiment, make_mesh(1))
    create_folder(tmp_path / 'run', experiment, environment)

    del TASKS['own'], sys.modules[str(file)]  # as in another process
    manifest = read_manifest(tmp_path / 'run')
    assert manifest.experiment.task.own_field == 7
    assert manifest.experiment.task.make().num_train == experiment.task.make().num_train

    class Other(type(manifest.experiment.task)):
        """Of the same name, and from here."""

    TASKS['own'] = Other
    with pytest.raises(StoreError, match=r"'own' is from .* give one of them another"):
        read_manifest(tmp_path / 'run')

    del TASKS['own'], sys.modules[str(file)]
    file.rename(tmp_path / 'moved.py')
    with pytest.raises(StoreError, match=r'own\.py:OwnConfig cannot be imported'):
        read_manifest(tmp_path / 'run')

    (tmp_path / 'link.py').symlink_to('moved.py')
    for name in ('moved.py', 'link.py'):  # given so when the run is resumed
        del TASKS['own']
        config.load(tmp_path / name)
        line = rf'/own\.py:OwnConfig in this run, .*/{name}:OwnConfig in this process'
        with pytest.raises(StoreError, match=f'{line}.* by its former name'):
            read_manifest(tmp_path / 'run')


def test_a_file_in_the_folder_of_a_run_is_not_executed(tmp_path):
    opened(tmp_path)
    (tmp_path / 'own.py').write_text('raise AssertionError')
    path = tmp_path / MANIFEST_FILE
    content = json.loads(path.read_text())
    del content['digest']
    content['experiment']['task']['name'] = 'own'
    for file in (tmp_path / 'own.py', 'own.py'):
        content['origins'] = {'task': f'{file}:OwnConfig'}
        path.write_text(json.dumps({**content, 'digest': digest_json(content)}))
        with pytest.raises(StoreError, match='in the folder of a run is not'):
            read_manifest(tmp_path)
