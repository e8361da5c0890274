"""launch/submit.py: what it asks for, what it refuses, and whole sweeps that it ran."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from tests.support import in_process
from tests.support.sweeps import ROOT, bits
from tests.support.waiting import text, until

pytest.importorskip('submitit')


@pytest.fixture
def submitted(tmp_path, monkeypatch, capsys):
    """Runs launch/submit.py for tests/support/tiny.py, with other flags and words."""

    def run(*flags: str, words=()) -> in_process.Said:
        line = [
            *flags,
            '--',
            '--config',
            'tests/support/tiny.py',
            f'--workdir={tmp_path}/run',
            *words,
        ]
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
        *flags.split(),
        '--mem_gb=64',
        '--max_parallel=5',
        '--signal_delay=60',
        '--setup=a b',
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

    submitted(
        '--backend=slurm',
        '--shards=3',
        '--nodes=2',
        '--retries=7',
        '--signal_delay=100',
    )
    (path,) = (tmp_path / 'run' / 'jobs' / 'submitit').glob('*/12_1_submitted.pkl')
    runner = DelayedSubmission.load(path).function
    assert runner.command[2:] == [
        *(str(ROOT / 'launch' / 'sweep.py'), '--config', 'tests/support/tiny.py'),
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
    (fake_slurm / 'sbatch').write_text(
        '#!/bin/sh\necho invalid partition >&2\nexit 1\n'
    )
    said = submitted('--backend=slurm', '--shards=2')
    assert said.code == 2 and 'invalid partition' in said.errors
    assert len(said.errors.splitlines()) == 1


def command(*flags: str, workdir) -> subprocess.Popen:
    line = [sys.executable, 'launch/submit.py', '--shards=2', *flags, '--', '--config']
    line += ['tests/support/tiny.py', '--workdir', str(workdir)]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}
    return subprocess.Popen(line, cwd=ROOT, **pipes)


@pytest.mark.slow
def test_a_sweep_run_shard_by_shard_is_the_undisturbed_one(launched, tmp_path):
    process = command('--backend=debug', workdir=tmp_path)
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert bits(tmp_path) == bits(launched)


@pytest.mark.slow
def test_a_local_sweep_preempted_in_the_middle_is_the_undisturbed_one(
    launched, tmp_path
):
    log = tmp_path / 'jobs' / 'shard_00000_of_00002.log'
    process = command('--backend=local', workdir=tmp_path)
    # The plan is printed once the sweep listens to signals; before it has compiled anything.
    until(lambda: 'tiny: 4 members' in text(log) or process.poll() is not None, 120)
    os.kill(int(re.search(r'kept by process (\d+)', text(log))[1]), signal.SIGUSR2)
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert text(log).count('starts on') == 2 and 'put back in the queue' in text(log)
    assert bits(tmp_path) == bits(launched)
