"""Which folders of runs match the patterns of a command line."""

import glob
import pathlib

from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE


def find_run_folders(patterns: list[str]) -> list[pathlib.Path]:
    """The folders with a manifest that match, in the order of their names.

    Raises:
      UserError: there is none.
    """
    runs = set()
    for pattern in patterns:
        for match in glob.glob(pattern, recursive=True):
            folder = pathlib.Path(match)
            if folder.name in ('', '..'):  # of '.' and '..' we need the name
                folder = folder.resolve()
            if is_run(folder):
                runs.add(folder)
    if not runs:
        raise UserError(f'--runs {" ".join(patterns)}: no folder of a run matches')
    return sorted(runs, key=_order_by_name)


def is_run(folder: pathlib.Path) -> bool:
    return (folder / MANIFEST_FILE).exists()


def require_folder_for_tables(out: pathlib.Path) -> None:
    """Raises UserError for what cannot hold tables, before they are computed.

    In a run they would replace its own members.csv.
    """
    if is_run(out):
        raise UserError(f'--out {out}: is a run; give another folder')
    if out.is_file():
        raise UserError(f'--out {out}: is a file; give a folder')


def _order_by_name(folder: pathlib.Path) -> tuple[str, str]:
    return folder.name, str(folder)
