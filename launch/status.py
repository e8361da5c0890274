"""What every shard of a sweep is doing: python launch/status.py --run runs/phase

One line for each shard: done, running (where, how fast, time left), waiting in a queue,
preempted (run it again), failed or lost (with the end of its log), not started.
"""

from anchorjax import cli
from anchorjax.cluster.job_files import Job
from anchorjax.cluster.status import Status, count_waiting, list_statuses
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.progress import format_duration


def command() -> None:
    parser = cli.Parser(description=__doc__)
    help_text = 'folder of the sweep'
    parser.add_argument('--run', type=cli.parse_folder, required=True, help=help_text)
    workdir = parser.parse_args().run
    if not (workdir / MANIFEST_FILE).exists():
        num_waiting = count_waiting(workdir)
        if num_waiting:
            print(f'{workdir}: nothing has started; {num_waiting} jobs in the queue')
            return
    folder = read_folder(workdir)
    num_members = num_trained = 0
    for chunk in folder.chunks:
        num_members += chunk.num_members
        if chunk.folder.done:
            num_trained += chunk.num_members
    name = folder.experiment.name
    print(f'{name}: {num_trained} of {num_members} members are trained')
    for status in list_statuses(folder):
        print_status(status)


def print_status(status: Status) -> None:
    """'  3/16  running  42.0%  all chunk 7  310 member-steps/s  12 min left  host'."""
    line = f'  {status.shard!s:>9}  {status.state:11}  {status.share:6.1%}'
    job = status.job
    if job and status.state == 'running':
        left = format_time_left(job)
        line += f'  {job.label}  {job.rate:,.0f} member-steps/s  {left} left'
    if job and status.state != 'done':
        line += f'  {job.host}'
        if job.engine:
            line += f' (job {job.engine})'
    print(line)
    details = [job.message] if job and job.message else []
    for text in [*details, *status.log]:
        print(f'      {text}')


def format_time_left(job: Job) -> str:
    if not job.rate:
        return 'unknown'
    return format_duration((job.total - job.done) / job.rate)


if __name__ == '__main__':
    cli.run_command(command)
