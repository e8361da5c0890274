"""One shard, whatever stops it: it is retried, refused or continued, as it should."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from anchorjax.cluster.supervisor import ShardFailed
from anchorjax.sweeps.signals import Preempted
from tests.support.shards.stub_shards import (
    count_starts,
    find_child,
    list_first_steps,
    make_supervisors,
    read_state,
)
from tests.support.shards.waiting import read_text, wait_until
from tests.support.sweeps import ROOT


def test_a_crash_is_tried_again_as_often_as_asked(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=crash', retries=2)
    expected = r'^shard 0/1 crashed 3 times, .* code -9; see .*\.log$'
    with pytest.raises(ShardFailed, match=expected):
        supervisor.run()
    assert count_starts(tmp_path, 0) == 3


def test_what_is_refused_is_not_tried_again(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=refuse', retries=2)
    with pytest.raises(ShardFailed, match=r'shard 0/1 was refused \(exit code 2\)'):
        supervisor.run()
    assert count_starts(tmp_path, 0) == 1


def test_a_stop_that_came_from_elsewhere_is_no_failure(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=yield', retries=0)
    supervisor.run()
    assert count_starts(tmp_path, 0) == 4


def test_a_stopped_shard_saves_and_continues(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--steps=20')

    def stop() -> None:
        wait_until(lambda: find_child(supervisor))
        supervisor.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Preempted):
        supervisor.run()
    thread.join()
    saved = read_state(tmp_path, 0)
    assert 0 < saved < 20
    supervisor.reset()
    supervisor.run()
    assert list_first_steps(supervisor) == [0, saved]
    assert read_state(tmp_path, 0) == 20


def test_a_stop_before_the_start_starts_nothing(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1)
    supervisor.stop()
    with pytest.raises(Preempted):
        supervisor.run()
    assert count_starts(tmp_path, 0) == 0


def test_a_stop_in_the_pause_after_a_crash_is_obeyed(tmp_path, monkeypatch):
    monkeypatch.setattr('anchorjax.cluster.supervisor._POLL', 0.05)
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=crash', retries=1)
    supervisor.pause = 45.0

    def stop() -> None:
        wait_until(lambda: 'ended with exit code' in read_text(supervisor.log))
        supervisor.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    start = time.monotonic()
    with pytest.raises(Preempted):
        supervisor.run()
    thread.join()
    assert time.monotonic() - start < supervisor.pause
    assert count_starts(tmp_path, 0) == 1


def test_a_child_that_does_not_save_in_time_is_killed(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=hang')

    def stop() -> None:
        wait_until(lambda: find_child(supervisor))
        supervisor.stop(seconds=0.1)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Preempted):
        supervisor.run()
    thread.join()
    assert 'ended with exit code -9' in read_text(supervisor.log)


def test_a_child_does_not_notice_ctrl_c(tmp_path):
    """All processes of a terminal get it; ours passes it on as a wish to stop."""
    (supervisor,) = make_supervisors(tmp_path, 1, '--steps=10')

    def interrupt() -> None:
        os.kill(wait_until(lambda: find_child(supervisor)), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    supervisor.run()
    thread.join()
    assert count_starts(tmp_path, 0) == 1


def test_a_log_is_not_written_through_a_link(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1)
    (tmp_path / 'elsewhere').touch()
    supervisor.log.symlink_to(tmp_path / 'elsewhere')
    with pytest.raises(OSError, match='symbolic link'):
        supervisor.run()
    assert read_text(tmp_path / 'elsewhere') == ''


@pytest.mark.parametrize('module', ['supervisor', 'local', 'submission'])
def test_what_runs_on_a_node_does_not_import_jax(module):
    """JAX would take hold of the devices that the child needs."""
    if module == 'submission':
        pytest.importorskip('submitit')
    code = f'import sys, anchorjax.cluster.{module}; sys.exit("jax" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], cwd=ROOT, check=True)
