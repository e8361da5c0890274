"""Shards as jobs: whatever stops one, it continues; what fails is reported, and others go on."""

import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import threading
import time

import in_process
import pytest
from conftest import ROOT, bits

from anchorjax.engine import Runner, ShardFailed
from anchorjax.errors import UserError
from anchorjax.shards import Shard
from anchorjax.signals import Preempted

pytest.importorskip('submitit')
from anchorjax import backends

STUB = pathlib.Path(__file__).with_name('shard_stub.py')


def runners(folder, count: int, *words: str, retries: int = 0) -> list[Runner]:
    line = [sys.executable, str(STUB), f'--workdir={folder}', *words]
    shards = [Shard(i, count) for i in range(count)]
    return [
        Runner(line, s, folder / f'{s.name}.log', retries=retries, grace=10, pause=0)
        for s in shards
    ]


def starts(folder, index: int) -> int:
    path = folder / f'starts_{index}'
    return len(path.read_text()) if path.exists() else 0


def text(path) -> str:
    return path.read_text() if path.exists() else ''


def until(found, seconds: float = 60):
    """What `found` returns once it is true."""
    limit = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    return value


def keeper(log) -> int | None:
    """The process that keeps the shard of a log, once its child runs."""
    said = text(log)
    return int(re.search(r'kept by process (\d+)', said)[1]) if '\nstep' in said else None


def test_a_crash_is_tried_again_as_often_as_asked(tmp_path):
    (runner,) = runners(tmp_path, 1, '--mode=0=crash', retries=2)
    with pytest.raises(ShardFailed, match=r'^shard 0/1 crashed 3 times, .* code -9; see .*\.log$'):
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
    folder = backends.private(tmp_path)
    if place == 'debug':
        lines = backends.run_here(several, folder)
    else:
        lines = backends.run_local(several, folder, slots=2, gpus=0)
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
    assert backends.run_local(several, backends.private(tmp_path), slots=1, gpus=0) == []
    thread.join()
    assert starts(tmp_path, 0) == 2 and 'put back in the queue' in text(runner.log)
    begun = [int(n) for n in re.findall(r'^step (\d+)', text(runner.log), re.MULTILINE)]
    assert begun[0] == 0 < begun[1] and (tmp_path / 'state_0').read_text() == '20'


def test_sigterm_stops_local_shards_and_the_same_command_continues(tmp_path):
    several = runners(tmp_path, 3, '--steps=20')
    folder = backends.private(tmp_path)

    def stop() -> None:
        until(lambda: keeper(several[0].log) and keeper(several[1].log))
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop).start()
    with pytest.raises(Preempted):
        backends.run_local(several, folder, slots=2, gpus=0)
    assert [starts(tmp_path, i) for i in range(3)] == [1, 1, 0]
    assert all(0 < int((tmp_path / f'state_{i}').read_text()) < 20 for i in range(2))
    assert backends.run_local(several, folder, slots=3, gpus=0) == []
    assert {(tmp_path / f'state_{i}').read_text() for i in range(3)} == {'20'}


def test_each_slot_has_gpus_of_its_own(monkeypatch):
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    assert backends._devices(1, 2) == {'CUDA_VISIBLE_DEVICES': '2,3'}
    assert backends._devices(1, 0) == {'CUDA_VISIBLE_DEVICES': None}
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '4,5,6,7')
    assert backends._devices(1, 2) == {'CUDA_VISIBLE_DEVICES': '6,7'}
    assert backends._devices(1, 0) == {'CUDA_VISIBLE_DEVICES': '4,5,6,7'}


def test_gpus_are_not_hidden_from_local_shards(tmp_path, monkeypatch):
    """submitit sets CUDA_VISIBLE_DEVICES='', which hides all of them."""
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    seen = "import os; print('seen:', os.environ.get('CUDA_VISIBLE_DEVICES'))"
    runner = Runner([sys.executable, '-c', seen], Shard(0, 1), tmp_path / 'log', pause=0)
    assert backends.run_local([runner], backends.private(tmp_path), 1, gpus=0) == []
    assert 'seen: None' in text(tmp_path / 'log')


def test_pickles_lie_where_nobody_else_can_have_put_one(tmp_path):
    first, second = (backends.private(tmp_path) for _ in range(2))
    assert first != second and not list(second.iterdir())
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    with pytest.raises(UserError, match='must not contain %'):
        backends.private(tmp_path / 'a%j')
    (tmp_path / 'run' / 'jobs').mkdir(parents=True)
    (tmp_path / 'run' / 'jobs' / 'submitit').symlink_to(first)
    with pytest.raises(UserError, match='leads out of'):
        backends.private(tmp_path / 'run')


@pytest.fixture
def submitted(tmp_path, monkeypatch, capsys):
    """Runs launch/submit.py for tests/tiny.py, with other flags and words."""

    def run(*flags: str, words=()) -> in_process.Said:
        line = [*flags, '--', '--config', 'tests/tiny.py', f'--workdir={tmp_path}/run', *words]
        return in_process.run('submit.py', line, monkeypatch, capsys)

    return run


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch) -> pathlib.Path:
    """Commands that say what Slurm's say."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    for name, line in {'srun': 'true', 'sbatch': 'echo Submitted batch job 12'}.items():
        (folder / name).write_text(f'#!/bin/sh\n{line}\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv('PATH', f'{folder}:{os.environ["PATH"]}')
    return folder


def test_what_slurm_is_asked_for(submitted, fake_slurm, tmp_path):
    flags = '--backend=slurm --shards=16 --nodes=2 --time=90 --partition=gpu --gpus=4 --cpus=8'
    said = submitted(
        *flags.split(), '--mem_gb=64', '--max_parallel=5', '--signal_delay=60', '--setup=a b'
    )
    assert said.code == 0, said.errors
    assert (
        'job 12 is in the queue' in said.out
        and f'launch/status.py --run {tmp_path}/run\n' in said.out
    )
    (jobs,) = (tmp_path / 'run' / 'jobs' / 'submitit').iterdir()
    script = (jobs / '12_submission.sh').read_text()
    asked = dict(re.findall(r'^#SBATCH --([\w-]+)(?:=(.*))?$', script, re.MULTILINE))
    assert asked.pop('wckey')
    assert asked == {
        'array': '0-15%5',
        'comment': f"'anchorjax {tmp_path}/run'",
        'cpus-per-task': '8',
        'gpus-per-node': '4',
        'job-name': 'anchorjax',
        'mem': '64GB',
        'nodes': '2',
        'ntasks-per-node': '1',
        'open-mode': 'append',
        'output': f'{jobs}/%A_%a_0_log.out',
        'partition': 'gpu',
        'requeue': '',
        'signal': 'USR2@60',
        'time': '90',
    }
    assert '--cpus-per-task=8' in script.partition('srun')[2]
    assert '\na b\n' in script.partition('srun')[0]
    assert len(list(jobs.glob('12_*_submitted.pkl'))) == 16


def test_what_each_job_runs(submitted, fake_slurm, tmp_path):
    from submitit.core.utils import DelayedSubmission

    submitted('--backend=slurm', '--shards=3', '--nodes=2', '--retries=7', '--signal_delay=100')
    (path,) = (tmp_path / 'run' / 'jobs' / 'submitit').glob('*/12_1_submitted.pkl')
    runner = DelayedSubmission.load(path).function
    assert runner.command[2:] == [
        *(str(ROOT / 'launch' / 'sweep.py'), '--config', 'tests/tiny.py'),
        *(f'--workdir={tmp_path}/run', '--distributed', '--shard=1/3'),
    ]
    assert runner.log == tmp_path / 'run' / 'jobs' / 'shard_00001_of_00003.log'
    assert (runner.retries, runner.grace, runner.directory) == (7, 80, str(ROOT))


@pytest.mark.parametrize(
    'flags, words, expected',
    [
        (['--shards=0'], [], "'0' is not a positive whole number"),
        (['--shards=2', '--backend=pbs'], [], "invalid choice: 'pbs'"),
        (['--shards=2', '--nodes=2'], [], '--nodes=2 needs --backend=slurm'),
        (['--shards=2'], ['--shard=0/2'], '--shard after --'),
        (['--shards=2'], ['--dist'], '--distributed after --'),
        (['--shards=2'], ['--config.train.num_stesp=3'], 'num_stesp'),
        (['--shards=2'], ['--unknown'], "unknown argument '--unknown'"),
        (['--shards=2', '--backend=slurm'], [], 'there is no Slurm here'),
    ],
)
def test_bad_input_is_one_line_and_starts_nothing(
    submitted, tmp_path, monkeypatch, flags, words, expected
):
    monkeypatch.setenv('PATH', str(tmp_path))
    said = submitted(*flags, words=words)
    assert said.code == 2 and expected in said.errors
    assert len(said.errors.splitlines()) == 1
    assert not list(tmp_path.glob('run/jobs/*.log'))


def test_what_slurm_refuses_is_one_line(submitted, fake_slurm):
    (fake_slurm / 'sbatch').write_text('#!/bin/sh\necho invalid partition >&2\nexit 1\n')
    said = submitted('--backend=slurm', '--shards=2')
    assert said.code == 2 and 'invalid partition' in said.errors
    assert len(said.errors.splitlines()) == 1


def command(*flags: str, workdir) -> subprocess.Popen:
    line = [sys.executable, 'launch/submit.py', '--shards=2', *flags, '--', '--config']
    line += ['tests/tiny.py', '--workdir', str(workdir)]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}
    return subprocess.Popen(line, cwd=ROOT, **pipes)


@pytest.mark.slow
def test_a_sweep_run_shard_by_shard_is_the_undisturbed_one(launched, tmp_path):
    process = command('--backend=debug', workdir=tmp_path)
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert bits(tmp_path) == bits(launched)


@pytest.mark.slow
def test_a_local_sweep_preempted_in_the_middle_is_the_undisturbed_one(launched, tmp_path):
    log = tmp_path / 'jobs' / 'shard_00000_of_00002.log'
    process = command('--backend=local', workdir=tmp_path)
    # The plan is printed once the sweep listens to signals; before it has compiled anything.
    until(lambda: 'tiny: 4 members' in text(log) or process.poll() is not None, 120)
    os.kill(int(re.search(r'kept by process (\d+)', text(log))[1]), signal.SIGUSR2)
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert text(log).count('starts on') == 2 and 'put back in the queue' in text(log)
    assert bits(tmp_path) == bits(launched)
