"""A Slurm cluster of two nodes on this machine, from Debian's packages.

  apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge

The daemons are started by hand, as root and without systemd. The nodes are named by
loopback addresses: Debian's slurmd runs twice on one machine only if the names differ,
and JAX must be able to connect to the first node.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
from collections.abc import Iterator

from tests.support.shards.waiting import wait_until

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
KillWait=2
NodeName={nodes[0]} NodeAddr={nodes[0]} Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName={nodes[1]} NodeAddr={nodes[1]} Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def explain_absence() -> str:
    """Why there can be no cluster here; '' if there can."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f'not installed: {", ".join(absent)}'
    if os.getuid() != 0:
        return 'starting a Slurm cluster needs root'
    return ''


@contextlib.contextmanager
def run_cluster(folder: pathlib.Path) -> Iterator[dict[str, str]]:
    """Runs the daemons in a folder; yields the variables that commands need."""
    (folder / 'state').mkdir(parents=True)
    folder.chmod(0o755)  # munge requires that everyone can reach its socket
    config = folder / 'slurm.conf'
    ports = _find_free_ports(3)
    config.write_text(CONFIG.format(folder=folder, nodes=NODES, ports=ports))
    key = folder / 'munge.key'
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    environment = {'SLURM_CONF': str(config)}

    def is_idle() -> bool:
        nodes = run_command(environment, 'sinfo', '-h', '-N', '-t', 'idle')
        return len(nodes.splitlines()) == len(NODES)

    with contextlib.ExitStack() as stack:

        def start(*line: str) -> None:
            stack.enter_context(_run_daemon(line, environment))

        files = ('key-file', 'socket', 'pid-file', 'log-file', 'seed-file')
        flags = [f'--{name}={folder}/munge.{name.split("-")[0]}' for name in files]
        start('munged', '--foreground', '--force', *flags)
        wait_until((folder / 'munge.socket').exists)
        start('slurmctld', '-D', '-c')
        for node in NODES:
            start('slurmd', '-D', '-N', node)
        wait_until(is_idle)
        stack.callback(_end_jobs, environment)  # they would outlive the daemons
        yield environment


def run_command(environment: dict[str, str], *line: str) -> str:
    """What a Slurm command prints."""
    variables = os.environ | environment
    result = subprocess.run(
        line, env=variables, capture_output=True, text=True, check=False
    )
    return result.stdout


def _end_jobs(environment: dict[str, str]) -> None:
    jobs = run_command(environment, 'squeue', '-h', '-o', '%A').split()
    if jobs:
        run_command(environment, 'scancel', '--signal=KILL', '--full', *jobs)
        run_command(environment, 'scancel', *jobs)


@contextlib.contextmanager
def _run_daemon(line: tuple[str, ...], environment: dict[str, str]) -> Iterator[None]:
    variables = os.environ | environment
    process = subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _find_free_ports(number: int) -> list[int]:
    ports = []
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            s = stack.enter_context(socket.socket())
            s.bind(('127.0.0.1', 0))
            ports.append(s.getsockname()[1])
    return ports
