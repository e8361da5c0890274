"""A config as JSON, from anyone: nothing in it is executed, nothing imported for it."""

import json
import pathlib
from typing import Any

import pytest

from anchorjax import cli, config
from anchorjax.errors import ConfigError, UserError
from tests.support.fuzzing import require_line
from tests.support.sweeps import experiment

CODE = "__import__('os').mkdir('ran')"
MODULE = "import os\nos.mkdir('ran')\n"
PICKLED = {'py/object': 'os.system', 'py/reduce': [{'py/type': 'os.mkdir'}, ['ran']]}
CHANGES = [
    {'name': CODE},
    {'name': '../../x'},
    {'__class__': 'Experiment'},
    PICKLED,
    {'task': {'name': CODE}},
    {'task': {'name': '__class__'}},
    {'loop': [[CODE, [1]]]},
    {'loop': [['model.__class__', [1, 2]]]},
    {'model': {'name': 'transformer', '__init__': CODE}},
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> pathlib.Path:
    """The folder that the test runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_config(folder: pathlib.Path, values: Any) -> pathlib.Path:
    path = folder / 'c.json'
    path.write_text(json.dumps(values))
    return path


@pytest.mark.parametrize('change', CHANGES)
@pytest.mark.parametrize('is_manifest', [False, True])
def test_code_in_a_json_config_is_refused(folder, change, is_manifest):
    values = config.to_dict(experiment()) | change
    if is_manifest:
        values = {'experiment': values}
    path = write_config(folder, values)
    (folder / 'c.py').write_text(MODULE)
    with pytest.raises(ConfigError) as caught:
        cli.load_json(str(path))
    require_line(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == ['c.json', 'c.py']


def test_a_json_config_imports_nothing_beside_it(folder):
    for name in ('c.py', 'tiny.py', 'anchors.py', 'transformer.py'):
        (folder / name).write_text(MODULE)
    path = write_config(folder, config.to_dict(experiment()))
    assert config.resolve(cli.load_json(str(path))) == experiment()
    assert not (folder / 'ran').exists()


@pytest.mark.parametrize(
    'data', [b'\xff\xfe\x00', b'[' * 10**5, b'', b'3', b'{"task": 1}', b'[]']
)
def test_a_file_that_is_no_json_config_is_refused_in_one_line(folder, data):
    (folder / 'c.json').write_bytes(data)
    with pytest.raises(UserError) as caught:
        cli.load_json(str(folder / 'c.json'))
    require_line(caught.value, folder)
