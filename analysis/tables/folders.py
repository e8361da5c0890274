"""Which folders of runs match the patterns of a command line."""

import pathlib

from anchorjax.errors import UserError
from anchorjax.storage.manifest import MANIFEST_FILE


def find_run_folders(patterns: list[str]) -> list[pathlib.Path]:
    """The folders with a manifest that match, in the order of their names.

    Raises:
      UserError: there is none, or a pattern cannot be read.
    """
    folders = set()
    for pattern in patterns:
        folders |= _match(pattern)
    runs = list(filter(is_run, folders))
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


def _match(pattern: str) -> set[pathlib.Path]:
    if not pattern:
        raise UserError("--runs '': must be the path of a folder, or a pattern")
    path = pathlib.Path(pattern)
    relative = path.relative_to(path.anchor)
    if relative.name in ('', '..'):  # '.' or '..': a folder, of which we need the name
        return {path.resolve()}
    try:
        return set(pathlib.Path(path.anchor).glob(str(relative)))
    except ValueError as e:
        raise UserError(f'--runs {pattern}: cannot be read: {e}') from None


def _order_by_name(folder: pathlib.Path) -> tuple[str, str]:
    return folder.name, str(folder)
