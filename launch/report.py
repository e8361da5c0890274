"""Draws every figure that a sweep supports, and writes them into one report.html.

python launch/report.py --run runs/phase
"""

import pathlib
import sys

from analysis.report.playground.request import AUTO
from analysis.report.write import write_report
from anchorjax import cli
from anchorjax.storage.reader import open_run


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--run', required=True, type=pathlib.Path, help='folder of the sweep'
    )
    parser.add_argument(
        '--out', type=pathlib.Path, help='default: report.html in that folder'
    )
    parser.add_argument(
        '--playground',
        default=AUTO,
        metavar='NETWORKS',
        help='networks that answer in the page: auto (default; one of each solution, '
        'at most 3 MB), none, or AXIS=VALUE,... such as gamma=0.2,gamma=0.6,seed=0',
    )
    flags = parser.parse_args()
    cli.use_compilation_cache()
    path = flags.out or flags.run / 'report.html'
    write_report(open_run(flags.run), path, print_progress, flags.playground)
    print(path)


def print_progress(line: str) -> None:
    print(f'  {line}', file=sys.stderr)


if __name__ == '__main__':
    cli.run_command(command)
