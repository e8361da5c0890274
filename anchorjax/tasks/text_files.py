"""Text files from elsewhere: whole, or an error of one line."""

import gzip
import pathlib
import zlib

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
    """A text file, gzipped or not.

    Raises:
      UserError: it is missing, cannot be read, is truncated, or is no UTF-8 text.
    """
    try:
        data = path.read_bytes()
        if path.suffix == '.gz':
            data = gzip.decompress(data)
        text = data.decode('utf-8')
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as e:
        reason = getattr(e, 'strerror', None) or brief(str(e))
        raise UserError(f'{path}: cannot be read ({reason})') from None
    return text.replace('\r\n', '\n')
