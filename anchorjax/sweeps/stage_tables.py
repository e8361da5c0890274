"""What several stages leave for people: a table of progress, the members of all."""

import gzip
import pathlib
import tarfile
from collections.abc import Iterable, Sequence

import pandas as pd

from anchorjax.errors import StoreError
from anchorjax.storage import atomic
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import read_folder
from anchorjax.sweeps.ledger import DONE, FAILED, Entry, Ledger
from anchorjax.sweeps.progress import format_duration
from anchorjax.sweeps.publish import CUBE_FILE, TABLE_FILE, publish
from anchorjax.sweeps.stages import Stage

_HEADER = (
    '| stage | state | members | done | seconds | member-steps/s | left | device |\n'
    '|---|---|---|---|---|---|---|---|'
)


def describe_stages(stages: Sequence[Stage], ledger: Ledger, speed: float) -> str:
    """A Markdown table of the stages: state, progress, seconds, rate, time left.

    Args:
      speed: operations a second, from which the time of a stage that has not begun is
        estimated; 0: not known.
    """
    lines = [_HEADER]
    for stage in stages:
        entry = ledger.get(stage.name, Entry())
        amount = stage.measure()
        state = DONE if stage.is_done else entry.state
        share = f'{amount.done / amount.total:.1%}'
        if amount.problem:
            state = f'unknown: {amount.problem}'
            share = '?'
        if entry.state == FAILED:
            state = f'{FAILED}: {entry.message}'
        rate = _format_rate(entry.rate)
        left = _estimate_left(stage, entry, speed)
        cells = [stage.name, state, amount.members, share]
        cells += [f'{entry.seconds:,.0f}', rate, left, entry.device]
        lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines) + '\n'


def collect_tables(
    root: pathlib.Path, names: Iterable[str], out: pathlib.Path
) -> list[str]:
    """Publishes the sweeps in `root`, and gathers their tables in `out`.

    Writes members.csv, with the name of the sweep in a column `stage`, and
    results.tar.gz, with results.nc of every sweep. The same results give the same
    bytes, so that git sees a change only where there is one.

    Returns:
      A line for every sweep that has no tables, because its curves are damaged, or
      only those of before, because its curves are gone.
    """
    lines = []
    tables = []
    cubes = []
    for name in names:
        workdir = root / name
        if not (workdir / MANIFEST_FILE).exists():
            continue
        try:
            publish(read_folder(workdir))
        except StoreError as e:
            lines.append(f'no tables of {name}: {e}')
            continue
        # Of a sweep with lost members one of the two may be gone as well.
        if (workdir / TABLE_FILE).exists():
            table = pd.read_csv(workdir / TABLE_FILE)
            table.insert(0, 'stage', name)
            tables.append(table)
        if (workdir / CUBE_FILE).exists():
            cubes.append(workdir / CUBE_FILE)

    def write_members(path: pathlib.Path) -> None:
        pd.concat(tables).to_csv(path, index=False)

    def write_cubes(path: pathlib.Path) -> None:
        # Python writes the time and the temporary name into the head of a gzip file.
        with (
            open(path, 'wb') as file,
            gzip.GzipFile('', 'wb', fileobj=file, mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode='w') as tar,
        ):
            for cube in cubes:
                tar.add(cube, cube.relative_to(root), filter=_remove_origin)

    if tables:
        atomic.write_atomic(out / 'members.csv', write_members)
    if cubes:
        atomic.write_atomic(out / 'results.tar.gz', write_cubes)
    return lines


def _remove_origin(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry of an archive without when and by whom the file was written."""
    member.mtime = 0
    member.uid = member.gid = 0
    member.uname = member.gname = ''
    member.mode = 0o644
    return member


def _format_rate(rate: float) -> str:
    """'1,200', '0.62'; '' if it is not known."""
    if not rate:
        return ''
    return f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'


def _estimate_left(stage: Stage, entry: Entry, speed: float) -> str:
    """'about 12 min'; '' if the stage is done."""
    amount = stage.measure()
    if amount.problem:
        return 'unknown'
    share_left = 1 - amount.done / amount.total
    if not share_left:
        return ''
    if entry.rate:
        seconds = share_left * amount.total / entry.rate
    elif speed and stage.operations:
        seconds = share_left * stage.operations / speed
    else:
        return 'unknown'
    return f'about {format_duration(seconds)}'
