"""The state of sweeps in a few files of limited size, to continue on another machine.

What travels, in this order, while it fits: the manifest of every sweep and the curves
of its finished chunks; the newest resume state of every chunk that has begun; the last
parameters of finished members; whole, the sweeps whose manifest is damaged, so that
someone can mend it. What does not fit is trained again, or stays behind.

state_1_of_3.tar, state_2_of_3.tar, ...    one tar archive, cut into parts
"""

import io
import os
import pathlib
import re
import tarfile
import uuid
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from anchorjax.errors import StoreError
from anchorjax.storage import atomic, checkpoint
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.manifest import MANIFEST_FILE
from anchorjax.storage.sweep_folder import SweepFolder, read_folder

PART_BYTES = 12 * 2**20
_ASIDE = 'parts'  # the folder of parts that are being written
_LONGEST_WRITE = 3600.0  # seconds; an older folder is that of a killed process
_PART = re.compile(r'state_(\d{1,4})_of_(\d{1,4})\.tar')


class _Item(NamedTuple):
    """Files that are of use together only, and what is lost without them."""

    paths: list[pathlib.Path]
    loss: str


def pack_state(
    root: pathlib.Path,
    out: pathlib.Path,
    limit: int,
    names: Iterable[str],
    params_of: Iterable[str] = (),
    part_bytes: int = PART_BYTES,
) -> list[str]:
    """Writes what is needed to continue the sweeps in `root` into `out`.

    Earlier parts in `out` are removed, but only once the new ones are written whole:
    both need room for a moment.

    Args:
      limit: bytes of all parts together.
      names: of the sweeps' folders and of other files in `root`, most valuable first;
        those that do not exist are left out.
      params_of: the sweeps of which the last parameters travel too.
      part_bytes: the most that a part may have.

    Returns:
      A line for everything that was too large.

    Raises:
      StoreError: the parts cannot be written; the earlier ones are still there.
    """
    archive = io.BytesIO()
    lines = []
    with tarfile.open(fileobj=archive, mode='w') as tar:
        for item in _list_items(root, list(names), set(params_of)):
            size = sum(_stored_bytes(path) for path in item.paths)
            if tar.offset + size + tarfile.RECORDSIZE > limit:
                lines.append(f'{item.loss}: {size / 2**20:.1f} MiB are too large')
                continue
            for path in item.paths:
                tar.add(path, path.relative_to(root), recursive=False)
    _write_parts(archive.getvalue(), out, part_bytes)
    return lines


def restore_state(folder: pathlib.Path, root: pathlib.Path) -> list[str]:
    """Puts the state in `folder` into `root`; a sweep that is there already stays.

    Returns:
      The names of what was restored.

    Raises:
      StoreError: there is no state in the folder, or it is incomplete or damaged;
        nothing was restored.
    """
    data = _read_parts(folder)
    temporary = root / f'.{uuid.uuid4().hex}.state'
    restored = []
    try:
        with atomic.report_in_one_line('write', temporary):
            temporary.mkdir(parents=True)
            _extract(data, temporary, folder)
            for path in sorted(temporary.iterdir()):
                if not (root / path.name).exists():
                    os.replace(path, root / path.name)
                    restored.append(path.name)
    finally:
        atomic.remove(temporary)
    return restored


def _list_items(
    root: pathlib.Path, names: list[str], params_of: set[str]
) -> Iterator[_Item]:
    """What may travel, most valuable first."""
    sweeps = []
    damaged = []
    for name in names:
        path = root / name
        if path.is_file():
            yield _Item([path], f'{name} stays behind')
        elif (path / MANIFEST_FILE).exists():
            try:
                sweeps.append(read_folder(path))
            except StoreError:
                damaged.append(path)
                continue
            yield _Item([path / MANIFEST_FILE], f'{name} will be trained anew')
    for sweep in sweeps:
        for label, chunk in _name_chunks(sweep):
            if chunk.done:
                paths = [chunk.path / 'environments.json', chunk.path / 'curves.npz']
                yield _Item(paths, f'{label} will be trained anew')
    for sweep in sweeps:
        for label, chunk in _name_chunks(sweep):
            steps = checkpoint.list_steps(chunk.path / 'resume')
            if steps and not chunk.done:
                state = _list_tree(chunk.path / 'resume' / str(steps[-1]))
                paths = [chunk.path / 'environments.json', *state]
                yield _Item(paths, f'{label} will be trained anew from step 0')
    for sweep in sweeps:
        for label, chunk in _name_chunks(sweep):
            steps = chunk.snapshot_steps()
            if chunk.done and steps and sweep.workdir.name in params_of:
                paths = _list_tree(chunk.path / 'snapshots' / str(steps[-1]))
                yield _Item(paths, f'the parameters of {label} stay behind')
    for path in damaged:
        # Links and the like would make the whole state one that is refused.
        paths = [inner for inner in _list_tree(path) if _is_plain(inner)]
        yield _Item(paths, f'{path.name}, whose manifest is damaged, stays behind')


def _name_chunks(sweep: SweepFolder) -> Iterator[tuple[str, ChunkFolder]]:
    for chunk in sweep.chunks:
        label = f'{sweep.workdir.name}, {chunk.cohort.name}, chunk {chunk.index + 1}'
        yield label, chunk.folder


def _list_tree(folder: pathlib.Path) -> list[pathlib.Path]:
    return [folder, *sorted(folder.rglob('*'))]


def _is_plain(path: pathlib.Path) -> bool:
    return not path.is_symlink() and (path.is_file() or path.is_dir())


def _stored_bytes(path: pathlib.Path) -> int:
    """Bytes in the archive: a header, maybe one more for a long name, whole blocks."""
    size = path.stat().st_size if path.is_file() else 0
    num_blocks = -(-size // tarfile.BLOCKSIZE)
    return (num_blocks + 4) * tarfile.BLOCKSIZE


def _write_parts(data: bytes, out: pathlib.Path, part_bytes: int) -> None:
    """Replaces the parts in `out`; if one cannot be written, those of before stay."""
    atomic.remove_leftovers(out, _ASIDE, _LONGEST_WRITE)
    count = -(-len(data) // part_bytes)
    aside = out / f'.{uuid.uuid4().hex}.{_ASIDE}'
    try:
        for index in range(count):
            part = data[index * part_bytes : (index + 1) * part_bytes]

            def write(temporary: pathlib.Path, part: bytes = part) -> None:
                temporary.write_bytes(part)

            atomic.write_atomic(aside / f'state_{index + 1}_of_{count}.tar', write)
    except StoreError:
        atomic.remove(aside)
        raise
    with atomic.report_in_one_line('write', out):
        # First, so that a process killed here leaves parts that are refused, never
        # new ones among old ones of the same names.
        for path in _list_parts(out).values():
            atomic.remove(path)
        for path in _list_parts(aside).values():
            os.replace(path, out / path.name)
        aside.rmdir()


def _list_parts(folder: pathlib.Path) -> dict[tuple[int, int], pathlib.Path]:
    """The parts in a folder by (number, count)."""
    parts = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            match = _PART.fullmatch(path.name)
            if match:
                number, count = match.groups()
                parts[int(number), int(count)] = path
    return parts


def _read_parts(folder: pathlib.Path) -> bytes:
    """The archive; StoreError unless every part of exactly one archive is there."""
    parts = _list_parts(folder)
    if not parts:
        raise StoreError(f'{folder} holds no state (no state_1_of_N.tar)')
    _, count = max(parts)
    expected = [(number, count) for number in range(1, count + 1)]
    if sorted(parts) != expected:
        names = ', '.join(path.name for path in parts.values())
        raise StoreError(f'{folder}: the parts of the state do not match: {names}')
    data = []
    for number_and_count in expected:
        path = parts[number_and_count]
        with atomic.report_in_one_line('read', path):
            data.append(path.read_bytes())
    return b''.join(data)


def _extract(data: bytes, target: pathlib.Path, source: pathlib.Path) -> None:
    """Unpacks files and folders; links and names that lead out of it are refused."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode='r:') as tar:
            members = tar.getmembers()
            for member in members:
                if not (member.isreg() or member.isdir()):
                    raise StoreError(f'the state in {source} is damaged: {member.name}')
            tar.extractall(target, members, filter='data')
    except tarfile.TarError as e:
        raise StoreError(f'the state in {source} is damaged: {e}') from None
