"""The files of jobs, written by anyone: shown as plain lines, and never believed."""

import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from anchorjax.cluster.job_files import hold_shard, log_path
from anchorjax.cluster.status import Status, list_statuses
from anchorjax.storage import atomic
from anchorjax.storage.reader import open_run
from anchorjax.sweeps.shards import WHOLE
from tests.support.fuzzing import copy_folder, refused_or_right

HOSTILE = ('x\nrm -rf /', '\x1b[2J\x1b]0;title\x07', 'x' * 10**5, '\u202etxt.exe')
LONGEST_FIELD, LONGEST_LOG_LINE = 3000, 1000
READ_SECONDS = 3  # a job that claims 2^62 chunks must not keep anyone waiting

IMPOSSIBLE = [
    ('shard', [-1, 1]),
    ('shard', [0, 10**9]),
    ('shard', [5, 3]),
    ('chunks', [0, 2**62]),
    ('chunks', [3, 1]),
    ('chunks', [-(2**62), 2**62]),
    ('chunks', [-5, 3]),
    ('started', 1e300),
    ('started', -1e18),
]


@pytest.fixture
def workdir(one_member, tmp_path) -> pathlib.Path:
    """A finished sweep of one member, with the file of the job that trained it."""
    return copy_folder(one_member, tmp_path / 'run')


@pytest.fixture
def list_after(workdir) -> Callable[..., list[Status]]:
    """A function: new values for fields of the job's file -> the statuses then."""
    folder = open_run(workdir).folder
    with hold_shard(folder, WHOLE):
        pass
    (path,) = (workdir / 'jobs').glob('shard_*.json')

    def change_and_list(**changes: Any) -> list[Status]:
        path.write_text(json.dumps(atomic.read_json(path) | changes))
        with refused_or_right(seconds=READ_SECONDS):
            return list_statuses(folder)

    return change_and_list


def forget_curves(workdir: pathlib.Path) -> None:
    """Makes the sweep unfinished, so that its job matters."""
    (workdir / 'cohorts' / 'all' / 'chunk_0000' / 'curves.npz').unlink()


def list_shown(status: Status) -> list[str]:
    """All texts that a person may see of a status."""
    shown = [status.state, str(status.job)]
    if status.job is not None:
        shown += [str(value) for value in dataclasses.asdict(status.job).values()]
    return shown


@pytest.mark.parametrize('text', HOSTILE)
@pytest.mark.parametrize('field', ['host', 'engine', 'label', 'message', 'state'])
def test_the_text_of_a_job_is_one_printable_line(list_after, text, field):
    for status in list_after(**{field: text}):
        for shown in list_shown(status):
            assert shown.isprintable()
            assert len(shown) <= LONGEST_FIELD


@pytest.mark.parametrize(('field', 'value'), IMPOSSIBLE)
def test_a_job_with_impossible_numbers_is_no_job(workdir, list_after, field, value):
    forget_curves(workdir)
    statuses = list_after(**{field: value})
    assert [status.shard for status in statuses] == [WHOLE]
    for status in statuses:
        assert str(status.job)


@pytest.mark.parametrize('text', HOSTILE[1:])
def test_the_log_of_a_job_is_shown_printable(workdir, list_after, text):
    forget_curves(workdir)
    log_path(workdir, WHOLE).write_text(text)
    (status,) = list_after(state='failed')
    assert status.log
    for line in status.log:
        assert line.isprintable()
        assert len(line) <= LONGEST_LOG_LINE
