"""Shards as processes of this machine: slots, GPUs, failures, and every way to stop."""

import os
import pathlib
import signal
import sys
import threading

import pytest

from anchorjax.cluster.local import assign_gpus, run_local
from anchorjax.cluster.supervisor import Supervisor
from anchorjax.errors import UserError
from anchorjax.sweeps.shards import Shard
from anchorjax.sweeps.signals import Preempted
from tests.support.shards.stub_shards import (
    count_starts,
    find_child,
    list_first_steps,
    make_supervisors,
    read_state,
)
from tests.support.shards.waiting import read_text, wait_until


@pytest.mark.parametrize('slots', [1, 2])
def test_one_that_fails_is_reported_and_others_go_on(tmp_path, slots):
    words = ['--mode=0=crash', '--mode=1=refuse']
    supervisors = make_supervisors(tmp_path, 4, *words, retries=1)
    supervisors[2].log = tmp_path / 'missing' / 'log'
    lines = run_local(supervisors, slots, gpus=0)
    assert len(lines) == 3
    assert lines[0].startswith('shard 0/4 crashed 2 times, ')
    assert lines[1].startswith('shard 1/4 was refused (')
    assert lines[2].startswith('shard 2/4: ') and 'No such file' in lines[2]
    for supervisor, line in zip(supervisors, lines, strict=False):
        assert '\n' not in line and str(supervisor.log) in line
    assert [count_starts(tmp_path, i) for i in range(4)] == [2, 1, 0, 1]
    assert read_state(tmp_path, 3) == 2


def test_a_preempted_shard_continues_and_completes(tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--steps=20')

    def preempt() -> None:
        os.kill(wait_until(lambda: find_child(supervisor)), signal.SIGUSR2)

    thread = threading.Thread(target=preempt)
    thread.start()
    assert run_local([supervisor], slots=1, gpus=0) == []
    thread.join()
    first, second = list_first_steps(supervisor)
    assert first == 0 < second
    assert read_state(tmp_path, 0) == 20


@pytest.mark.parametrize(
    'number',
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGUSR2, marks=pytest.mark.slow),
    ],
)
def test_a_signal_stops_all_and_the_same_command_continues(tmp_path, number):
    words = ['--steps=20']
    supervisors = make_supervisors(tmp_path, 3, *words)
    handler = signal.getsignal(number)

    def stop() -> None:
        wait_until(lambda: find_child(supervisors[0]) and find_child(supervisors[1]))
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Preempted):
        run_local(supervisors, slots=2, gpus=0)
    thread.join()
    assert signal.getsignal(number) == handler
    assert [count_starts(tmp_path, i) for i in range(3)] == [1, 1, 0]
    for index in range(2):
        assert 0 < read_state(tmp_path, index) < 20
    assert run_local(make_supervisors(tmp_path, 3, *words), slots=3, gpus=0) == []
    assert [read_state(tmp_path, i) for i in range(3)] == [20, 20, 20]


@pytest.fixture
def driver(tmp_path, monkeypatch) -> pathlib.Path:
    """The driver's folder of GPUs, which there is not, and no choice among them.

    The file of an AMD GPU says that there are some.
    """
    folder = tmp_path / 'driver'
    device = tmp_path / 'kfd'
    device.touch()
    monkeypatch.setattr('anchorjax.cluster.local._DRIVER_FOLDER', folder)
    monkeypatch.setattr('anchorjax.cluster.local._DEVICE_FILES', (device,))
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    return folder


@pytest.mark.parametrize(
    ('visible', 'num_gpus', 'seen'), [('4,5', 8, 2), ('', 8, 0), (None, 3, 3)]
)
def test_more_gpus_than_there_are_are_refused_before_anything_starts(
    tmp_path, monkeypatch, driver, visible, num_gpus, seen
):
    for index in range(num_gpus):
        (driver / f'0000:{index:02d}:00.0').mkdir(parents=True)
    if visible is not None:
        monkeypatch.setenv('CUDA_VISIBLE_DEVICES', visible)
    supervisors = make_supervisors(tmp_path, 4)
    line = rf'--gpus = 4 \* 1: must be at most {seen}, '
    with pytest.raises(UserError, match=line):
        run_local(supervisors, slots=9, gpus=1)
    assert not supervisors[0].log.exists()


def test_gpus_are_refused_where_there_is_none(tmp_path, driver):
    """The shards would train on the CPU."""
    (tmp_path / 'kfd').unlink()
    supervisors = make_supervisors(tmp_path, 1)
    with pytest.raises(UserError, match=r'--gpus = 1 \* 1: must be at most 0, '):
        run_local(supervisors, slots=1, gpus=1)
    assert not supervisors[0].log.exists()
    assert assign_gpus(0, 0) == {}


def test_each_slot_has_gpus_of_its_own(monkeypatch, driver):
    assert assign_gpus(1, 2) == {'CUDA_VISIBLE_DEVICES': '2,3'}
    assert assign_gpus(1, 0) == {}
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '4,5,6,7')
    assert assign_gpus(1, 2) == {'CUDA_VISIBLE_DEVICES': '6,7'}
    assert assign_gpus(1, 0) == {}


@pytest.mark.parametrize(
    'given, gpus, expected',
    [(None, 0, None), ('4,5', 0, '4,5'), (None, 2, '0,1'), ('4,5', 1, '4')],
)
def test_a_shard_sees_the_gpus_of_its_slot(
    tmp_path, monkeypatch, driver, given, gpus, expected
):
    if given:
        monkeypatch.setenv('CUDA_VISIBLE_DEVICES', given)
    code = "import os; print('seen:', os.environ.get('CUDA_VISIBLE_DEVICES'))"
    command = [sys.executable, '-c', code]
    supervisor = Supervisor(command, Shard(0, 1), tmp_path / 'log', pause=0)
    assert run_local([supervisor], slots=1, gpus=gpus) == []
    assert f'seen: {expected}\n' in read_text(tmp_path / 'log')
