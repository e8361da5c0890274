"""The command line as its user meets it: real processes, one line for every mistake."""

import re

import pytest

from tests.support.sweeps import launch, tree_hash

pytestmark = pytest.mark.slow


def test_a_mistake_is_one_line_and_nothing_is_written(tmp_path):
    done = launch('--workdir', tmp_path / 'run', '--dryrun')
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: unknown argument '--dryrun'")
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
    assert (launched / 'figures' / 'answers.png').stat().st_size > 1000


def test_the_same_command_again_says_all_is_done(launched):
    before = tree_hash(launched / 'cohorts')
    done = launch('--workdir', launched)
    assert done.returncode == 0, done.stderr
    assert 'all members are trained already' in done.stdout
    assert tree_hash(launched / 'cohorts') == before
