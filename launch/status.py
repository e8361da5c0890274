"""What every shard of a sweep is doing: python launch/status.py --run runs/phase

One line a shard: done, running (where, how fast, how long still), waiting for its engine,
preempted (run it again), failed or lost (with the last lines of its log), not started.
"""

import pathlib

from anchorjax import cli
from anchorjax.cluster.status import Status, count_waiting, list_statuses
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.progress import format_duration


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--run', type=pathlib.Path, required=True, help='the folder of a sweep'
    )
    run = parser.parse_args().run
    if not (run / MANIFEST_FILE).exists() and (number := count_waiting(run)):
        print(f'{run}: nothing has begun; {number} jobs wait for their engine')
        return
    there = read_folder(run)
    finished = sum(piece.real for piece in there.chunks if piece.chunk.done)
    total = sum(piece.real for piece in there.chunks)
    print(f'{there.experiment.name}: {finished} of {total} members are trained')
    for status in list_statuses(there):
        print(line(status))
        for text in [*filter(None, [status.job and status.job.message]), *status.log]:
            print(f'      {text}')


def line(status: Status) -> str:
    """'  3/16  running   42.0%  depth=3 chunk 7  310 member-steps/s  12 min left  on host'."""
    shown = f'  {status.shard!s:>9}  {status.state:11}  {status.share:6.1%}'
    job = status.job
    if job is None:
        return shown
    if status.state == 'running':
        left = (
            format_duration((job.total - job.done) / job.rate)
            if job.rate
            else 'unknown'
        )
        shown += f'  {job.label}  {job.rate:,.0f} member-steps/s  {left} left'
    engine = f' (job {job.engine})' if job.engine else ''
    return shown if status.state == 'done' else f'{shown}  {job.host}{engine}'


if __name__ == '__main__':
    cli.run_command(command)
