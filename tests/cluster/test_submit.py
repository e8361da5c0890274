"""launch/submit.py: what it asks for, what it refuses, and whole sweeps that it ran."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from anchorjax.cluster.job_files import read_jobs
from tests.support import in_process
from tests.support.shards.waiting import read_text, wait_until
from tests.support.sweeps import ROOT, bits

pytest.importorskip('submitit')
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
    flags = ['--backend=slurm', '--shards=16', '--nodes=2', '--time=90', '--cpus=8']
    flags += ['--partition=gpu', '--gpus=4', '--mem_gb=64', '--max_parallel=5']
    said = submit(*flags, '--signal_delay=60', '--setup=a b')
    assert said.code == 0, said.errors
    assert 'job 12 is in the queue' in said.out
    assert f'launch/status.py --run {tmp_path}/run\n' in said.out
    (jobs,) = (tmp_path / 'run' / 'jobs' / 'submitit').iterdir()
    script = (jobs / '12_submission.sh').read_text()
    pattern = r'^#SBATCH --([\w-]+)(?:=(.*))?$'
    options = dict(re.findall(pattern, script, re.MULTILINE))
    assert options.pop('wckey')
    assert options == {
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
    before, _, after = script.partition('srun')
    assert '\na b\n' in before
    assert '--cpus-per-task=8' in after
    assert '--kill-on-bad-exit=1' in after
    assert len(list(jobs.glob('12_*_submitted.pkl'))) == 16


def test_what_each_job_runs(submit, fake_slurm, tmp_path):
    from submitit.core.utils import DelayedSubmission

    flags = ['--backend=slurm', '--shards=3', '--nodes=2', '--retries=7']
    submit(*flags, '--signal_delay=100')
    (path,) = (tmp_path / 'run' / 'jobs' / 'submitit').glob('*/12_1_submitted.pkl')
    supervisor = DelayedSubmission.load(path).function.supervisor
    script = str(ROOT / 'launch' / 'sweep.py')
    workdir = f'--workdir={tmp_path}/run'
    words = [script, *CONFIG, workdir, '--distributed', '--shard=1/3']
    assert supervisor.command[2:] == words
    log = tmp_path / 'run' / 'jobs' / 'shard_00001_of_00003.log'
    assert supervisor.log == log
    assert supervisor.retries == 7
    assert supervisor.grace == 80
    assert supervisor.directory == str(ROOT)


@pytest.mark.parametrize(
    'flags, words, expected',
    [
        (['--shards=0'], [], "'0' is not a positive whole number"),
        (['--shards=2', '--backend=pbs'], [], "invalid choice: 'pbs'"),
        (['--shards=100000'], [], "'100000' is not a positive whole number, at most"),
        (['--shards=' + '9' * 5000], [], 'is not a positive whole number, at most'),
        (['--shards=2', '--nodes=2'], [], '--nodes=2 needs --backend=slurm'),
        (['--shards=2', '--time=60'], [], '--time=60 needs --backend=slurm'),
        (['--shards=2', '--setup=a'], [], "--setup=['a'] needs --backend=slurm"),
        (['--shards=2', '--wait'], [], '--wait=True needs --backend=slurm'),
        (['--shards=2', '--backend=debug', '--gpus=1'], [], '--gpus=1 needs'),
        (['--shards=2', '--backend=debug', '--max_parallel=2'], [], '=2 needs'),
        (
            ['--shards=2', '--backend=slurm', '--time=1', '--signal_delay=120'],
            [],
            '--signal_delay=120: must be less than the seconds of --time=1',
        ),
        (['--shards=2', '--retries=-1'], [], "'-1' is not a whole number"),
        (['--shards=2', '--gpus=-1'], [], "'-1' is not a whole number"),
        (['--shards=2', '--pause=-1'], [], "'-1': must be from 0 to"),
        (['--shards=2', '--pause=x'], [], "'x': must be from 0 to"),
        (['--shards=2', '--pause=nan'], [], "'nan': must be from 0 to"),
        (['--shards=2'], ['--shard=0/2'], '--shard after --'),
        (['--shards=2'], ['--dist'], '--distributed after --'),
        (['--shards=2'], ['--config.train.num_stesp=3'], 'num_stesp'),
        (['--shards=2'], ['--device_memory=0'], "'0': must be a positive number"),
        (['--shards=2'], ['--unknown'], "unknown argument '--unknown'"),
        (['--shards=2', '--backend=slurm'], [], 'there is no Slurm here'),
    ],
)
def test_bad_input_is_one_line_and_starts_nothing(
    submit, tmp_path, monkeypatch, flags, words, expected
):
    monkeypatch.setenv('PATH', str(tmp_path))
    said = submit(*flags, words=words)
    assert said.code == 2 and expected in said.errors
    assert len(said.errors.splitlines()) == 1
    assert not list(tmp_path.glob('run/jobs/*.log'))


def test_what_slurm_refuses_is_one_line(submit, fake_slurm):
    script = '#!/bin/sh\necho invalid partition >&2\nexit 1\n'
    (fake_slurm / 'sbatch').write_text(script)
    said = submit('--backend=slurm', '--shards=2')
    assert said.code == 2 and 'invalid partition' in said.errors
    assert len(said.errors.splitlines()) == 1


def start(*flags: str, workdir: pathlib.Path) -> subprocess.Popen:
    line = [sys.executable, 'launch/submit.py', '--shards=2', *flags]
    line += ['--', *CONFIG, '--workdir', str(workdir)]
    return subprocess.Popen(
        line,
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.slow
def test_a_sweep_run_shard_by_shard_is_the_undisturbed_one(launched, tmp_path):
    process = start('--backend=debug', workdir=tmp_path)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert bits(tmp_path) == bits(launched)


@pytest.mark.slow
def test_a_local_sweep_stopped_in_the_middle_is_the_undisturbed_one(launched, tmp_path):
    log = tmp_path / 'jobs' / 'shard_00000_of_00002.log'
    process = start('--backend=local', workdir=tmp_path)

    def has_announced(count: int) -> bool:
        """The plan is printed once the sweep handles signals, before it compiles."""
        has_ended = process.poll() is not None
        return has_ended or read_text(log).count('tiny: 4 members') == count

    # Somebody preempts the shard: it continues by itself.
    wait_until(lambda: has_announced(1), 120)
    (job,) = wait_until(lambda: read_jobs(tmp_path), 120)
    os.kill(job.process, signal.SIGUSR2)
    # Somebody presses Ctrl-C: everything is saved.
    wait_until(lambda: has_announced(2), 120)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 75, output
    assert read_text(log).count('ended with exit code 75') == 2
    # The same command continues.
    process = start('--backend=local', workdir=tmp_path)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert bits(tmp_path) == bits(launched)
