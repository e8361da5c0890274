"""A Slurm cluster of two nodes on this machine, from Debian's packages, started by hand.

  apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge

It needs root and no systemd. The nodes are named by loopback addresses: Debian's slurmd runs
twice on one machine only if the names differ, and JAX must be able to connect to the first.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

NODES = ('127.0.0.1', '127.0.0.2')
PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'sbatch', 'srun', 'scontrol')

CONFIG = """
ClusterName=test
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool_%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd_%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=1
JobRequeue=1
KillWait=15
NodeName={nodes[0]} NodeAddr={nodes[0]} Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName={nodes[1]} NodeAddr={nodes[1]} Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be no cluster here; '' if there can."""
    absent = [p for p in PROGRAMS if shutil.which(p) is None]
    if absent:
        return f'not installed: {", ".join(absent)}'
    return '' if os.getuid() == 0 else 'starting a Slurm cluster needs root'


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[dict[str, str]]:
    """Starts the daemons in a folder; yields the variables with which commands find them."""
    (folder / 'state').mkdir(parents=True)
    folder.chmod(0o755)  # munge wants to know that its socket is for everyone
    config, key = folder / 'slurm.conf', folder / 'munge.key'
    config.write_text(CONFIG.format(folder=folder, nodes=NODES, ports=_free_ports(3)))
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    environment = {'SLURM_CONF': str(config)}
    with contextlib.ExitStack() as stack:
        start = lambda *line: stack.enter_context(_daemon(line, folder, environment))
        start('munged', '--foreground', '--force', *_munge_files(folder))
        _until((folder / 'munge.socket').exists, 'munged', folder)
        start('slurmctld', '-D', '-c')
        for node in NODES:
            start('slurmd', '-D', '-N', node)
        _until(lambda: _idle(environment) == len(NODES), 'the nodes', folder)
        stack.callback(_end_jobs, environment)  # they would outlive the daemons
        yield environment


def ask(environment: dict[str, str], *line: str) -> str:
    """What a Slurm command prints."""
    asked = {'capture_output': True, 'text': True, 'check': False}
    return subprocess.run(line, env={**os.environ, **environment}, **asked).stdout


def _end_jobs(environment: dict[str, str]) -> None:
    if jobs := ask(environment, 'squeue', '-h', '-o', '%A').split():
        ask(environment, 'scancel', '--signal=KILL', '--full', *jobs)
        ask(environment, 'scancel', *jobs)


def _munge_files(folder: pathlib.Path) -> list[str]:
    names = {
        'key-file': 'munge.key',
        'socket': 'munge.socket',
        'pid-file': 'munged.pid',
    }
    names |= {'log-file': 'munged.log', 'seed-file': 'munged.seed'}
    return [f'--{flag}={folder / name}' for flag, name in names.items()]


@contextlib.contextmanager
def _daemon(line, folder: pathlib.Path, environment: dict[str, str]) -> Iterator[None]:
    name = '_'.join(w for w in line if not w.startswith('-'))
    with open(folder / f'{name}.out', 'w') as out:
        process = subprocess.Popen(
            line, stdout=out, stderr=out, env={**os.environ, **environment}
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _idle(environment: dict[str, str]) -> int:
    return len(ask(environment, 'sinfo', '-h', '-N', '-t', 'idle').splitlines())


def _until(done, what: str, folder: pathlib.Path, seconds: float = 20) -> None:
    limit = time.monotonic() + seconds
    while not done():
        if time.monotonic() > limit:
            said = ''.join(p.read_text()[-1000:] for p in sorted(folder.glob('*.out')))
            raise TimeoutError(f'{what}: not up in {seconds:.0f} s\n{said}')
        time.sleep(0.1)


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for s in sockets:
            s.bind(('127.0.0.1', 0))
        return [s.getsockname()[1] for s in sockets]
