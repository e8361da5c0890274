"""Official text files, plain or gzipped: whole, or an error of one line."""

import gzip
import hashlib
import pathlib
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from anchorjax.caching import cache_files, note_file
from anchorjax.errors import UserError, brief

T = TypeVar('T')


def find_file(folder: pathlib.Path, *names: str) -> pathlib.Path:
    """The first of these files that is there, plain or .gz; else the first name."""
    for name in names:
        for path in (folder / name, folder / f'{name}.gz'):
            if path.exists():
                return path
    return folder / names[0]


def parse_lines(path: pathlib.Path, parse: Callable[[str], T]) -> list[T]:
    """What `parse` makes of every line.

    Raises:
      UserError: as `read_text`; or the file is empty, its last line has no end, or
        `parse` raises a ValueError: the error then names the first such line.
    """
    text = read_text(path)
    if not text:
        raise UserError(f'{path}: empty')
    if not text.endswith('\n'):
        raise UserError(f'{path}: truncated, its last line has no end')
    parsed = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            parsed.append(parse(line))
        except ValueError as e:
            reason = f'{brief(line)!r} {brief(str(e))}'
            raise UserError(f'{path}, line {number}: {reason}') from None
    return parsed


def read_text(path: pathlib.Path) -> str:
    """A text file with plain line ends, without a mark at its beginning.

    Raises:
      UserError: as `read_bytes`; or it is not UTF-8, or is binary, which often is text
        in UTF-16; the line names the byte.
    """
    data = read_bytes(path)
    text = ''
    try:
        text = data.decode()
        wrong = data.find(0)
    except UnicodeDecodeError as e:
        wrong = e.start
    if wrong >= 0:
        where = f'byte {wrong:,} is {data[wrong]:#04x}'
        raise UserError(f'{path}: cannot be read ({where}: must be UTF-8)')
    return text.removeprefix('\ufeff').replace('\r\n', '\n')


def read_bytes(path: pathlib.Path) -> bytes:
    """The content of a file, unpacked if .gz; UserError if missing or truncated."""
    note_file(path)
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == '.gz' else data
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except (OSError, EOFError, zlib.error) as e:
        reason = getattr(e, 'strerror', None) or brief(str(e))
        raise UserError(f'{path}: cannot be read ({reason})') from None


def digest_files(paths: Iterable[pathlib.Path]) -> dict[str, str]:
    """{path: SHA-256} of the contents of files; errors as `read_bytes`."""
    return {str(path): _digest_file(path) for path in paths}


@cache_files(maxsize=64)
def _digest_file(path: pathlib.Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
