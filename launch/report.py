"""Draws the figures of a sweep's task that it supports, and writes one report.html.

python launch/report.py --run runs/phase
"""

import functools
import pathlib
import sys

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
    flags = parser.parse_args()
    run = open_run(flags.run)
    path = flags.out or run.folder.workdir / 'report.html'
    check_page(path, run)
    cli.use_compilation_cache()
    files.remove_leftovers(path.with_name('figures'), min_age=3600.0)
    show = functools.partial(print, ' ', file=sys.stderr)
    write_report(run, path, show)
    print(path)


def check_page(path: pathlib.Path, run: Run) -> None:
    """Checks, before anything is computed, that a report of the run can go there.

    Raises:
      UserError: the path is a folder, or figures of another run or report are beside
        it, which those of this one would replace.
    """
    folder = path.parent
    if path.is_dir():
        page = path / 'report.html'
        raise UserError(f'--out {path}: is a folder; give the page, such as {page}')
    if folder.resolve() == run.folder.workdir.resolve():
        return
    if (folder / MANIFEST_FILE).exists():
        raise UserError(f'--out {path}: {folder} is another run; give another folder')
    others = sorted(page.name for page in folder.glob('*.html') if page != path)
    if others and (folder / 'figures').exists():
        raise UserError(
            f'--out {path}: {others[0]} is beside it, with figures that this report '
            'would replace; give another folder'
        )


if __name__ == '__main__':
    cli.run_command(command)
