"""Shards as jobs: whatever stops one, it continues; what fails is reported, and others go on."""

import os
import pathlib
import re
import signal
import stat
import sys
import threading

import pytest

from anchorjax.cluster import submission
from anchorjax.cluster.shards import Shard
from anchorjax.cluster.supervisor import ShardFailed, Supervisor
from anchorjax.errors import UserError
from anchorjax.sweeps.signals import Preempted
from tests.support.waiting import keeper, text, until

pytest.importorskip('submitit')

STUB = pathlib.Path(__file__).parents[1] / 'support' / 'shard_stub.py'


def runners(folder, count: int, *words: str, retries: int = 0) -> list[Supervisor]:
    line = [sys.executable, str(STUB), f'--workdir={folder}', *words]
    shards = [Shard(i, count) for i in range(count)]
    return [
        Supervisor(
            line, s, folder / f'{s.name}.log', retries=retries, grace=10, pause=0
        )
        for s in shards
    ]


def starts(folder, index: int) -> int:
    path = folder / f'starts_{index}'
    return len(path.read_text()) if path.exists() else 0


def test_a_crash_is_tried_again_as_often_as_asked(tmp_path):
    (runner,) = runners(tmp_path, 1, '--mode=0=crash', retries=2)
    with pytest.raises(
        ShardFailed, match=r'^shard 0/1 crashed 3 times, .* code -9; see .*\.log$'
    ):
        runner()
    assert starts(tmp_path, 0) == 3


def test_what_is_refused_is_not_tried_again(tmp_path):
    (runner,) = runners(tmp_path, 1, '--mode=0=refuse', retries=2)
    with pytest.raises(ShardFailed, match=r'shard 0/1 was refused \(exit code 2\)'):
        runner()
    assert starts(tmp_path, 0) == 1


def test_a_stop_that_came_from_elsewhere_is_no_failure(tmp_path):
    (runner,) = runners(tmp_path, 1, '--mode=0=yield', retries=0)
    before = signal.getsignal(signal.SIGTERM)
    assert runner() == 'shard 0/1'
    assert starts(tmp_path, 0) == 4 and signal.getsignal(signal.SIGTERM) == before


def test_what_is_requeued_forgets_that_it_was_told_to_stop(tmp_path):
    (runner,) = runners(tmp_path, 1)
    runner._stop(signal.SIGTERM, None)
    assert runner.checkpoint().function() == 'shard 0/1'
    assert starts(tmp_path, 0) == 1


@pytest.mark.parametrize('place', ['debug', 'local'])
def test_one_that_fails_is_reported_and_others_go_on(tmp_path, place):
    several = runners(tmp_path, 3, '--mode=0=crash', '--mode=1=refuse', retries=1)
    folder = submission.make_private_folder(tmp_path)
    if place == 'debug':
        lines = submission.run_here(several, folder)
    else:
        lines = submission.run_local(several, folder, slots=2, gpus=0)
    assert [line.split(' (')[0].split(',')[0] for line in sorted(lines)] == [
        'shard 0/3 crashed 2 times',
        'shard 1/3 was refused',
    ]
    assert all('\n' not in line and '.log' in line for line in lines)
    assert [starts(tmp_path, i) for i in range(3)] == [2, 1, 1]
    assert (tmp_path / 'state_2').read_text() == '2'


def test_a_preempted_local_shard_is_requeued_and_completes(tmp_path):
    (runner,) = several = runners(tmp_path, 1, '--steps=20')

    def preempt() -> None:
        # Not job._interrupt(): it signals submitit's controller, which dies of it (1.5.4).
        os.kill(until(lambda: keeper(runner.log)), signal.SIGUSR2)

    thread = threading.Thread(target=preempt)
    thread.start()
    assert (
        submission.run_local(
            several, submission.make_private_folder(tmp_path), slots=1, gpus=0
        )
        == []
    )
    thread.join()
    assert starts(tmp_path, 0) == 2 and 'put back in the queue' in text(runner.log)
    begun = [int(n) for n in re.findall(r'^step (\d+)', text(runner.log), re.MULTILINE)]
    assert begun[0] == 0 < begun[1] and (tmp_path / 'state_0').read_text() == '20'


def test_sigterm_stops_local_shards_and_the_same_command_continues(tmp_path):
    several = runners(tmp_path, 3, '--steps=20')
    folder = submission.make_private_folder(tmp_path)

    def stop() -> None:
        until(lambda: keeper(several[0].log) and keeper(several[1].log))
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop).start()
    with pytest.raises(Preempted):
        submission.run_local(several, folder, slots=2, gpus=0)
    assert [starts(tmp_path, i) for i in range(3)] == [1, 1, 0]
    assert all(0 < int((tmp_path / f'state_{i}').read_text()) < 20 for i in range(2))
    assert submission.run_local(several, folder, slots=3, gpus=0) == []
    assert {(tmp_path / f'state_{i}').read_text() for i in range(3)} == {'20'}


def test_each_slot_has_gpus_of_its_own(monkeypatch):
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    assert submission._devices(1, 2) == {'CUDA_VISIBLE_DEVICES': '2,3'}
    assert submission._devices(1, 0) == {'CUDA_VISIBLE_DEVICES': None}
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '4,5,6,7')
    assert submission._devices(1, 2) == {'CUDA_VISIBLE_DEVICES': '6,7'}
    assert submission._devices(1, 0) == {'CUDA_VISIBLE_DEVICES': '4,5,6,7'}


def test_gpus_are_not_hidden_from_local_shards(tmp_path, monkeypatch):
    """submitit sets CUDA_VISIBLE_DEVICES='', which hides all of them."""
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    seen = "import os; print('seen:', os.environ.get('CUDA_VISIBLE_DEVICES'))"
    runner = Supervisor(
        [sys.executable, '-c', seen], Shard(0, 1), tmp_path / 'log', pause=0
    )
    assert (
        submission.run_local(
            [runner], submission.make_private_folder(tmp_path), 1, gpus=0
        )
        == []
    )
    assert 'seen: None' in text(tmp_path / 'log')


def test_pickles_lie_where_nobody_else_can_have_put_one(tmp_path):
    first, second = (submission.make_private_folder(tmp_path) for _ in range(2))
    assert first != second and not list(second.iterdir())
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    with pytest.raises(UserError, match='must not contain %'):
        submission.make_private_folder(tmp_path / 'a%j')
    (tmp_path / 'run' / 'jobs').mkdir(parents=True)
    (tmp_path / 'run' / 'jobs' / 'submitit').symlink_to(first)
    with pytest.raises(UserError, match='leads out of'):
        submission.make_private_folder(tmp_path / 'run')
