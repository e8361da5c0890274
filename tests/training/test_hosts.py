"""Several processes as one program: the bits of one process, one wish to stop, one refusal.

Real processes that talk over gloo, each with four fake devices.
"""

import os
import socket
import subprocess

import pytest

from tests.support.sweeps import bits, command, launch

pytestmark = pytest.mark.slow
SEEDS = '--config.grid.seed=0,1,2,3,4'  # 10 members on 8 devices: the second chunk is padded


def devices(count: int) -> dict[str, str]:
    return {
        'XLA_FLAGS': f'{os.environ["XLA_FLAGS"]} --xla_force_host_platform_device_count={count}'
    }


def pair(workdir, *words) -> list[subprocess.Popen]:
    """Two processes of one program."""
    with socket.socket() as probe:
        probe.bind(('localhost', 0))
        port = probe.getsockname()[1]
    both = (
        '--workdir',
        workdir,
        SEEDS,
        f'--coordinator=localhost:{port}',
        '--processes=2',
        *words,
    )
    start = lambda i: subprocess.Popen(
        **command(*both, f'--process={i}', env=devices(4))
    )
    return [start(0), start(1)]


def ends(processes) -> list[tuple[int, str, str]]:
    """(exit code, what it printed, its errors) of each."""
    outputs = [p.communicate(timeout=180) for p in processes]
    return [(p.returncode, *texts) for p, texts in zip(processes, outputs, strict=True)]


@pytest.fixture(scope='module')
def one_process(tmp_path_factory):
    folder = tmp_path_factory.mktemp('one')
    done = launch('--workdir', folder, SEEDS, env=devices(8))
    assert done.returncode == 0, done.stderr
    return folder


def test_two_processes_of_four_devices_give_the_bits_of_one_of_eight(
    one_process, tmp_path
):
    """With a stop in the middle, asked of the second process alone: both stop at one step."""
    processes = pair(tmp_path)
    resume = tmp_path / 'cohorts' / 'all' / 'chunk_0000' / 'resume'
    while all(p.poll() is None for p in processes) and not any(
        resume.glob('*/digests')
    ):
        pass
    processes[1].terminate()
    stopped = ends(processes)
    assert [code for code, *_ in stopped] == [75, 75], stopped
    assert all('saved. The same command continues.' in errors for *_, errors in stopped)

    (first, said, errors), (second, silent, _) = ends(pair(tmp_path))
    assert (first, second) == (0, 0), errors
    assert (
        'members.csv' not in silent
        and 'phase.png' in said
        and 'phase.png' not in silent
    )
    assert bits(tmp_path) == bits(one_process)
    tables = [
        (folder / 'members.csv').read_bytes() for folder in (tmp_path, one_process)
    ]
    assert tables[0] == tables[1]

    refused = ends(pair(tmp_path, '--config.optimizer.b2=0.9'))
    assert [code for code, *_ in refused] == [2, 2]
    assert all('optimizer.b2 = 0.999' in errors for *_, errors in refused)


def test_the_batch_of_a_member_can_be_shared_by_devices(tmp_path, one_process):
    words = (SEEDS, '--config.train.batch_devices=2', '--config.grid.gamma=0.3')
    done = launch('--workdir', tmp_path, *words, env=devices(8))
    assert done.returncode == 0 and '4 cpu device(s) of 2 devices' in done.stdout, (
        done.stderr
    )
    rows = [
        (f / 'members.csv').read_text().splitlines() for f in (tmp_path, one_process)
    ]
    losses = [[float(row.split(',')[8]) for row in table[1:6]] for table in rows]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


@pytest.mark.parametrize('words', [['--processes=2'], ['--distributed']])
def test_hosts_that_cannot_be_found_are_one_line(tmp_path, words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('SLURM', 'OMPI'))}
    done = subprocess.run(
        **command('--workdir', tmp_path, *words) | {'env': env},
        timeout=120,
        check=False,
    )
    assert done.returncode == 2 and done.stderr.startswith('error: --'), done.stderr
    assert len(done.stderr.splitlines()) == 1
