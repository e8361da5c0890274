"""Slurm's jobs without Slurm: what it is asked for, and how jobs survive.

submitit's local executor requeues them in its place.
"""

import os
import pathlib
import re
import signal
import sys

import pytest

from tests.support import in_process
from tests.support.shards.waiting import find_number, read_text, wait_until
from tests.support.sweeps import ROOT

submitit = pytest.importorskip('submitit')
slurm = pytest.importorskip('anchorjax.extras.slurm')
CONFIG = ['--config', 'tests/support/tiny.py']


@pytest.fixture
def submit(tmp_path, monkeypatch, capsys):
    """Runs launch/submit.py for tests/support/tiny.py, with other flags and words."""

    def run(*flags: str, words=()) -> in_process.Said:
        line = [*flags, '--', *CONFIG, f'--workdir={tmp_path}/run', *words]
        return in_process.run('submit.py', line, monkeypatch, capsys)

    return run


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch) -> pathlib.Path:
    """Commands that print what Slurm's print."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    lines = {'srun': 'true', 'sbatch': 'echo Submitted batch job 12'}
    for name, line in lines.items():
        (folder / name).write_text(f'#!/bin/sh\n{line}\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv('PATH', f'{folder}:{os.environ["PATH"]}')
    return folder


def test_what_slurm_is_asked_for(submit, fake_slurm, tmp_path):
    flags = ['--shards=16', '--nodes=2', '--time=90', '--cpus=8', '--retries=7']
    flags += ['--partition=gpu', '--gpus=4', '--mem_gb=64', '--max_parallel=5']
    said = submit(*flags, '--signal_delay=60', '--setup=a b')
    assert said.code == 0, said.errors
    assert 'job 12 is in the queue' in said.out
    assert f'launch/status.py --run {tmp_path}/run\n' in said.out
    (jobs,) = (tmp_path / 'run' / 'jobs' / 'submitit').iterdir()
    script = (jobs / '12_submission.sh').read_text()
    pattern = r'^#SBATCH --([\w-]+)(?:=(.*))?$'
    options = dict(re.findall(pattern, script, re.MULTILINE))
    expected = {
        'array': '0-15%5',
        'cpus-per-task': '8',
        'gpus-per-node': '4',
        'mem': '64GB',
        'nodes': '2',
        'ntasks-per-node': '1',
        'partition': 'gpu',
        'requeue': '',
        'signal': 'USR2@60',
        'time': '90',
    }
    assert options.items() >= expected.items()
    before, _, after = script.partition('srun')
    assert '\na b\n' in before
    assert '--cpus-per-task=8' in after and '--kill-on-bad-exit=1' in after
    job = submitit.core.utils.DelayedSubmission.load(jobs / '12_1_submitted.pkl')
    job = job.function
    sweep = [str(ROOT / 'launch' / 'sweep.py'), *CONFIG, f'--workdir={tmp_path}/run']
    assert job.command[2:] == [*sweep, '--distributed', '--shard=1/16']
    assert job.log == tmp_path / 'run' / 'jobs' / 'shard_00001_of_00016.log'
    assert (job.retries, job.grace) == (7, 48)


FLAGS = ['--partition=gpu', '--gpus=4', '--mem_gb=64', '--cpus=8', '--setup=a b']


@pytest.mark.parametrize('shards', [1, 16])
def test_a_dry_run_prints_the_script_that_would_be_queued(
    submit, fake_slurm, tmp_path, shards
):
    flags = [f'--shards={shards}', *FLAGS]
    dry = submit(*flags, '--dry_run')
    assert dry.code == 0, dry.errors
    assert not (tmp_path / 'run').exists()
    assert f'--shard={shards - 1}/{shards}' in dry.out
    assert submit(*flags).code == 0
    (jobs,) = (tmp_path / 'run' / 'jobs' / 'submitit').iterdir()
    queued = (jobs / '12_submission.sh').read_text().replace(f'/{jobs.name}', '')
    assert dry.out.startswith(queued)


@pytest.mark.parametrize(
    'flags, words, expected',
    [
        (['--shards=0'], [], '--shards = 0: must be from 1 to'),
        (['--shards=2', '--max_parallel=0'], [], '--max_parallel = 0: must be posi'),
        (['--shards=2', '--time=2'], [], '--signal_delay = 120: must be positive, and'),
        (['--shards=2'], ['--shard=0/2'], '--shard after --'),
        (['--shards=2'], [], 'there is no Slurm here'),
    ],
)
def test_bad_input_is_one_line_and_queues_nothing(
    submit, tmp_path, monkeypatch, flags, words, expected
):
    monkeypatch.setenv('PATH', str(tmp_path))
    said = submit(*flags, words=words)
    assert said.code == 2 and expected in said.errors
    assert len(said.errors.splitlines()) == 1
    assert not (tmp_path / 'run').exists()


# A process of a shard: it notes each start; the first one may wait for a signal, and
# then stops as a sweep does.
CHILD = """
import os, pathlib, signal, sys, time
starts, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
starts.open('a').write('x')
signals = []
signal.signal(signal.SIGUSR2, lambda number, _: signals.append(number))
if mode == 'crash':
    os.kill(os.getpid(), signal.SIGKILL)
if mode == 'wait' and starts.read_text() == 'x':
    print('started by', os.getppid(), flush=True)
    while not signals:
        time.sleep(0.02)
    sys.exit(75)
sys.exit(2 if mode == 'refuse' else 0)
"""


def make_job(folder: pathlib.Path, mode: str) -> slurm.ShardJob:
    command = [sys.executable, '-c', CHILD, str(folder / 'starts'), mode]
    return slurm.ShardJob(command, folder / 'log', retries=1, grace=10.0)


@pytest.mark.slow
def test_a_preempted_job_saves_is_requeued_and_completes(tmp_path):
    executor = submitit.LocalExecutor(tmp_path / 'submitit')
    executor.update_parameters(timeout_min=60, stderr_to_stdout=True)
    job = executor.submit(make_job(tmp_path, 'wait'))
    parent = wait_until(lambda: find_number(r'started by (\d+)', tmp_path / 'log'))
    os.kill(parent, signal.SIGUSR2)
    job.result()
    assert read_text(tmp_path / 'starts') == 'xx'


@pytest.mark.parametrize(
    ('mode', 'starts', 'expected'),
    [
        ('crash', 'xx', 'crashed 2 times; see .*log'),
        ('refuse', 'x', 'refused .*see .*log'),
    ],
)
def test_a_crash_is_tried_again_and_bad_input_is_not(
    tmp_path, monkeypatch, mode, starts, expected
):
    monkeypatch.setattr(slurm, '_PAUSE', 0.0)
    monkeypatch.setenv('SUBMITIT_EXECUTOR', 'local')
    with pytest.raises(RuntimeError, match=expected):
        make_job(tmp_path, mode)()
    assert read_text(tmp_path / 'starts') == starts
