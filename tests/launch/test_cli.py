"""The command line as its user meets it: real processes, one line for every mistake."""

import pytest

from tests.support.sweeps import launch

pytestmark = pytest.mark.slow


def test_a_mistake_is_one_line_and_nothing_is_written(tmp_path):
    done = launch('--workdir', tmp_path / 'run', '--dryrun')
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: unknown argument '--dryrun'")
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_the_table_and_the_figure(launched):
    names = {path.name for path in launched.iterdir()}
    assert {'results.nc', 'members.csv', 'manifest.json'} <= names
    assert (launched / 'figures' / 'answers.png').stat().st_size > 1000
