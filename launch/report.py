"""Draws every figure that a sweep supports, and writes them into one report.html.

python launch/report.py --run runs/phase
"""

import functools
import sys

from analysis.report.write import write_report
from anchorjax import cli, files
from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import open_run


def command() -> None:
    parser = cli.Parser(description=__doc__)
    add = parser.add_argument
    add('--run', required=True, type=cli.parse_folder, help='folder of the sweep')
    text = 'default: report.html in that folder; figures go beside it'
    add('--out', type=cli.parse_file, help=text)
    flags = parser.parse_args()
    run = open_run(flags.run)
    workdir = run.folder.workdir
    path = flags.out or workdir / 'report.html'
    if path.is_dir():
        page = path / 'report.html'
        raise UserError(f'--out {path}: is a folder; give the page, such as {page}')
    is_in_a_run = (path.parent / MANIFEST_FILE).exists()
    if is_in_a_run and path.parent.resolve() != workdir.resolve():
        raise UserError(
            f'--out {path}: {path.parent} is another run; give another folder'
        )
    cli.use_compilation_cache()
    files.remove_leftovers(path.with_name('figures'), min_age=3600.0)
    show = functools.partial(print, ' ', file=sys.stderr)
    write_report(run, path, show)
    print(path)


if __name__ == '__main__':
    cli.run_command(command)
