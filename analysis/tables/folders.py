"""Which folders of runs match the patterns of a command line."""

import glob
import os
import pathlib

from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE


def find_run_folders(patterns: list[str]) -> list[pathlib.Path]:
    """The folders with a manifest that match, in the order of their names.

    What exists, but is no run, is left out: a shell makes it of runs/*.

    Raises:
      UserError: a pattern matches no run, or nothing that exists is one.
    """
    runs = {}  # by absolute path: a folder counts once, however it is spelled
    for pattern in patterns:
        found = list(filter(is_run, _match(pattern)))
        if not found and not os.path.exists(pattern):
            raise UserError(f'--runs {pattern}: no folder of a run matches')
        for folder in found:
            if folder.name in ('', '..'):  # of '.' and '..' we need the name
                folder = folder.resolve()
            runs.setdefault(os.path.abspath(folder), folder)
    if not runs:
        raise UserError(f'--runs {" ".join(patterns)}: no folder of a run matches')
    return sorted(runs.values(), key=_order_by_name)


def _match(pattern: str) -> list[pathlib.Path]:
    """The paths that a pattern stands for.

    As much of it as exists is taken literally: a folder may be called 'fresh[1]'.
    """
    if not pattern:
        return []
    path = pathlib.Path(pattern)
    existing = next(part for part in (path, *path.parents) if part.exists())
    if existing == path:
        return [path]
    rest = str(path.relative_to(existing))
    names = glob.glob(rest, root_dir=existing, recursive=True)
    return [existing / name for name in names]


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
