"""A run folder of an older version is refused in one line and left as it is."""

import json
import pathlib

import pytest

from anchorjax import api, config
from anchorjax.errors import Damaged, StoreError
from anchorjax.hashing import digest_json
from anchorjax.storage.manifest import MANIFEST_FILE, MANIFEST_FORMAT, read_manifest
from tests.support.sweeps import experiment, opened, require_line, trained

# What format 3 had in place of an environment.
_OLD_NUMERICS = {
    'layout': {'lanes': 1, 'devices': 2, 'batch_devices': 1, 'platform': 'cpu'},
    'versions': {'jax': '0.10.2', 'jaxlib': '0.10.2'},
    'hardware': {'device': 'cpu', 'machine': 'x86_64'},
    'flags': {'jax_enable_x64': False},
    'precision': 'float32',
}


@pytest.fixture
def old_folder(tmp_path) -> pathlib.Path:
    """The folder of the tiny sweep as the version before this one began it."""
    manifest = {
        'format': 3,
        'experiment': config.to_dict(experiment()),
        'chunk_size': 2,
        'environments': [
            {
                'since': '2026-11-21T18:48:33+0000',
                'git_commit': '5ecafe8',
                'numerics': _OLD_NUMERICS,
            }
        ],
        'digest': '0' * 32,
    }
    folder = tmp_path / 'old'
    folder.mkdir()
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest, indent=2))
    return folder


@pytest.mark.parametrize('use', [api.open, trained])
def test_an_older_run_folder_is_refused_in_one_line_and_kept(old_folder, use):
    before = (old_folder / MANIFEST_FILE).read_bytes()
    line = rf'manifest\.json: format 3, this version reads {MANIFEST_FORMAT}'
    with pytest.raises(StoreError, match=line) as caught:
        use(old_folder)
    require_line(caught.value, old_folder)
    assert (old_folder / MANIFEST_FILE).read_bytes() == before
    assert {path.name for path in old_folder.iterdir()} <= {MANIFEST_FILE, '.lock'}


def test_a_manifest_from_before_windows_of_decay_is_the_same_sweep(tmp_path):
    folder = tmp_path / 'run'
    opened(folder)
    path = folder / MANIFEST_FILE
    content = json.loads(path.read_text())
    del content['digest'], content['experiment']['grid']['decay_window']
    del content['experiment']['optimizer']['method']
    del content['experiment']['optimizer']['equal_budget']
    del content['experiment']['model']['decayed']
    content['experiment']['train']['shard_params'] = False  # a field that is gone
    path.write_text(json.dumps({**content, 'digest': digest_json(content)}))
    assert read_manifest(folder).experiment == experiment()
    opened(folder)  # it is taken up again, and not refused


@pytest.mark.parametrize(('old', 'new'), [('"lanes": 1', '"lanes": 2'), ('}', '')])
def test_a_damaged_manifest_is_refused(tmp_path, old, new):
    opened(tmp_path)
    path = tmp_path / MANIFEST_FILE
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(Damaged, match=r'manifest\.json') as caught:
        read_manifest(tmp_path)
    require_line(caught.value, tmp_path)


def test_a_machine_without_git_can_start_a_sweep(monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))
    opened(tmp_path / 'run')
    (entry,) = read_manifest(tmp_path / 'run').environments
    assert entry.git_commit == 'unknown'
