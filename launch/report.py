"""Draws every figure that a sweep supports, and writes them into one report.html.

python launch/report.py --run runs/phase
"""

import pathlib
import sys

from analysis.report.playground.request import AUTO
from analysis.report.write import write_report
from anchorjax import cli, files
from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.reader import Run, open_run


def command() -> None:
    parser = cli.Parser(description=__doc__)
    add = parser.add_argument
    add('--run', required=True, type=cli.parse_folder, help='folder of the sweep')
    text = 'default: report.html in that folder; figures go beside it'
    add('--out', type=cli.parse_file, help=text)
    text = (
        'networks that answer in the page: auto (default; one of each solution, at '
        'most 3 MB), none, or AXIS=VALUE,... such as gamma=0.2,gamma=1.0,seed=0'
    )
    add('--playground', default=AUTO, metavar='NETWORKS', help=text)
    flags = parser.parse_args()
    run = open_run(flags.run)
    path = flags.out or run.folder.workdir / 'report.html'
    check_page(path, run)
    cli.use_compilation_cache()
    files.remove_leftovers(path.with_name('figures'), min_age=3600.0)
    write_report(run, path, print_progress, flags.playground)
    print(path)


def check_page(path: pathlib.Path, run: Run) -> None:
    """Checks, before anything is computed, that a report of the run can go there.

    Raises:
      UserError: the path is a folder, or cannot be written, or figures of another
         run or report are beside it, which those of this one would replace.
    """
    folder = path.parent
    if path.is_dir():
        raise UserError(
            f'--out {path}: is a folder; give the page, such as {path / "report.html"}'
        )
    if folder.resolve() == run.folder.workdir.resolve():
        return
    if (folder / MANIFEST_FILE).exists():
        raise UserError(f'--out {path}: {folder} is another run; give another folder')
    others = sorted(page.name for page in folder.glob('*.html') if page != path)
    if others and (folder / 'figures').exists():
        raise UserError(
            f'--out {path}: {others[0]} is beside it, with figures that this '
            'report would replace; give another folder'
        )


def print_progress(line: str) -> None:
    print(f'  {line}', file=sys.stderr)


if __name__ == '__main__':
    cli.run_command(command)
