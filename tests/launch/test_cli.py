"""The command line as its user meets it: real processes, one line for every mistake."""

import re
import subprocess

import pytest

from tests.support.sweeps import TINY_FILE, launch, tree_hash

pytestmark = pytest.mark.slow


def require_refused(done: subprocess.CompletedProcess, *parts: str) -> None:
    """The command ended with code 2 and one line, which has these parts."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith('error: '), done.stderr
    for part in parts:
        assert part in lines[0]


@pytest.mark.parametrize(
    ('words', 'config_file', 'part'),
    [
        (['--config.grid.gama=0.3'], TINY_FILE, "did you mean 'gamma'?"),
        ([], f'{TINY_FILE}:broken', 'Did you mean "width" instead of "widht"'),
        (['--dryrun'], TINY_FILE, "unknown argument '--dryrun'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    tmp_path, words, config_file, part
):
    done = launch('--workdir', tmp_path / 'run', *words, config_file=config_file)
    require_refused(done, part)
    assert not list(tmp_path.iterdir())


def test_a_dry_run_shows_overrides_and_memory_and_writes_nothing(tmp_path):
    gammas = '--config.grid.gamma=0.3,0.5,0.8'
    done = launch('--workdir', tmp_path / 'run', '--dry_run', gammas)
    assert done.returncode == 0, done.stderr
    assert 'tiny: 6 members in 1 cohort -> ' in done.stdout
    assert '0.3, 0.5, 0.8' in done.stdout
    assert re.search(r'about \d+ KiB of memory each', done.stdout)
    assert re.search(r'disk: \d+ KiB to write', done.stdout)
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_the_table_and_the_figure(launched):
    names = {path.name for path in launched.iterdir()}
    assert {'results.nc', 'members.csv', 'manifest.json'} <= names
    assert (launched / 'figures' / 'phase.png').stat().st_size > 1000


def test_the_same_command_again_says_all_is_done(launched):
    before = tree_hash(launched / 'cohorts')
    done = launch('--workdir', launched)
    assert done.returncode == 0, done.stderr
    assert 'all members are trained already' in done.stdout
    assert tree_hash(launched / 'cohorts') == before
