"""Text files from elsewhere: whole, or an error of one line."""

import functools
import gzip
import hashlib
import pathlib
import zlib
from collections.abc import Iterable

from anchorjax.errors import UserError, brief


def read_lines(path: pathlib.Path) -> list[str]:
    """The lines of a text file, gzipped or not, without their ends.

    Raises:
      UserError: as `read_text`, or its last line has no end.
    """
    text = read_text(path)
    if text and not text.endswith('\n'):
        raise UserError(f'{path}: truncated, its last line has no end')
    return text.splitlines()


def read_text(path: pathlib.Path) -> str:
    """A text file, gzipped or not, with plain ends of lines.

    Raises:
      UserError: as `read_bytes`, or it is no UTF-8 text.
    """
    data = read_bytes(path)
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError as e:
        raise UserError(f'{path}: cannot be read ({brief(str(e))})') from None
    return text.replace('\r\n', '\n')


def read_bytes(path: pathlib.Path) -> bytes:
    """The content of a file, unpacked if its name ends in .gz.

    Raises:
      UserError: it is missing, cannot be read, or is truncated.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == '.gz' else data
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except (OSError, EOFError, zlib.error) as e:
        reason = getattr(e, 'strerror', None) or brief(str(e))
        raise UserError(f'{path}: cannot be read ({reason})') from None


def digest_files(paths: Iterable[pathlib.Path]) -> dict[str, str]:
    """{path: SHA-256} of what is in some files; errors as `read_bytes`."""
    return {str(path): _digest_file(path) for path in paths}


@functools.lru_cache(maxsize=64)  # read once, as the tasks read their files once
def _digest_file(path: pathlib.Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
