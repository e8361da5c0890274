"""What every shard of a sweep is doing: python launch/status.py --run runs/phase

One line for each shard: done, running (where, how fast, time left), preempted (run it
again), failed or lost (with the end of its log), not started.
"""

from anchorjax import cli
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.jobs import Status, list_statuses
from anchorjax.sweeps.progress import format_duration


def command() -> None:
    parser = cli.Parser(description=__doc__)
    help_text = 'folder of the sweep'
    parser.add_argument('--run', type=cli.parse_folder, required=True, help=help_text)
    folder = read_folder(parser.parse_args().run)
    trained, total = folder.count_members()
    print(f'{folder.experiment.name}: {trained} of {total} members are trained')
    for status in list_statuses(folder):
        print_status(status)


def print_status(status: Status) -> None:
    """'  3/16  running  42.0%  all chunk 7  310 member-steps/s  12 min left  host'."""
    job = status.job
    cells = [f'{status.shard!s:>9}', f'{status.state:11}', f'{status.share:6.1%}']
    if job and status.state == 'running' and job.rate:
        left = format_duration((job.total - job.done) / job.rate)
        cells += [job.label, f'{job.rate:,.0f} member-steps/s', f'{left} left']
    if job and status.state != 'done':
        cells.append(f'{job.host} (job {job.engine})' if job.engine else job.host)
    print('', *cells, sep='  ')
    if job and status.state == 'failed':
        print(f'      {job.message}')
    for line in status.log:
        print(f'      {line}')


if __name__ == '__main__':
    cli.run_command(command)
