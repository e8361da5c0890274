"""The command line as its user meets it: real processes, one line for every mistake."""

import json
import re
import shutil

import pytest

from anchorjax.storage.manifest import MANIFEST_FILE, MANIFEST_FORMAT
from tests.support.sweeps import launch, tree_hash

pytestmark = pytest.mark.slow


def refused(done, *parts):
    """The command ended with code 2 and one line, which has these parts."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith('error: '), done.stderr
    for part in parts:
        assert part in lines[0]


@pytest.mark.parametrize(
    ('words', 'config_file', 'part'),
    [
        (['--config.grid.gama=0.3'], 'tests/support/tiny.py', "did you mean 'gamma'?"),
        (
            ['--config.train.lanes=0'],
            'tests/support/tiny.py',
            'train.lanes = 0: must be at least 1',
        ),
        ([], 'tests/support/tiny.py:broken', 'Did you mean "width" instead of "widht"'),
        (['--dryrun'], 'tests/support/tiny.py', "unknown argument '--dryrun'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    tmp_path, words, config_file, part
):
    refused(
        launch('--workdir', tmp_path / 'run', *words, config_file=config_file), part
    )
    assert not list(tmp_path.iterdir())


def test_a_dry_run_shows_overrides_and_memory_and_writes_nothing(tmp_path):
    gammas = '--config.grid.gamma=0.3,0.5,0.8'
    done = launch('--workdir', tmp_path / 'run', '--dry_run', gammas)
    assert done.returncode == 0, done.stderr
    assert (
        'tiny: 6 members in 1 cohorts' in done.stdout and '0.3, 0.5, 0.8' in done.stdout
    )
    assert re.search(
        r'44 KiB a checkpoint of a member, \d+ KiB of snapshots', done.stdout
    )
    assert re.search(
        r'cohort all: \d+ KiB on each device, \d+ KiB a member', done.stdout
    )
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_the_table_and_the_figure(launched):
    assert {'results.nc', 'members.csv', 'manifest.json'} <= {
        p.name for p in launched.iterdir()
    }
    assert (launched / 'figures' / 'phase.png').stat().st_size > 1000


def test_the_same_command_again_says_all_is_done(launched):
    before = tree_hash(launched / 'cohorts')
    done = launch('--workdir', launched)
    assert done.returncode == 0, done.stderr
    assert 'all members are trained already' in done.stdout
    assert tree_hash(launched / 'cohorts') == before


def test_another_config_in_the_same_folder_is_refused_and_harms_nothing(launched):
    before = tree_hash(launched)
    done = launch('--workdir', launched, '--config.optimizer.b2=0.9')
    refused(done, 'optimizer.b2 = 0.999', '0.9', '--workdir')
    after = tree_hash(launched)
    (
        before.pop(lock := str(launched / '.lock')),
        after.pop(lock),
    )  # it names the last process
    assert after == before


def test_a_folder_of_another_version_is_refused(launched, tmp_path):
    shutil.copytree(launched, tmp_path / 'run')
    path = tmp_path / 'run' / MANIFEST_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {'format': 99}))
    refused(
        launch('--workdir', tmp_path / 'run'), 'format 99', f'reads {MANIFEST_FORMAT}'
    )


def test_an_unwritable_folder_is_refused(tmp_path):
    (tmp_path / 'file').write_text('not a folder')
    refused(
        launch('--workdir', tmp_path / 'file' / 'run'), 'cannot use', 'Not a directory'
    )
