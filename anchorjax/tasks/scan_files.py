"""The official text format of SCAN: 'IN: jump left OUT: I_TURN_LEFT I_JUMP'."""

import gzip
import pathlib
from collections.abc import Iterator

from anchorjax.errors import UserError, brief
from anchorjax.tasks.scan_grammar import ACTIONS, WORDS

_IN, _OUT = 'IN: ', ' OUT: '


def read_pairs(path: pathlib.Path) -> list[tuple[str, list[str]]]:
    """(command, actions) of every line of a file, which may be gzipped.

    Raises:
      UserError: it is missing, truncated, empty, or holds something else; the line
        names the file and the first line that is wrong.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        command, out, answer = line.removeprefix(_IN).partition(_OUT)
        actions = answer.split(' ')
        is_known = set(command.split(' ')) <= set(WORDS) and set(actions) <= {*ACTIONS}
        if not line.startswith(_IN) or not out or not is_known:
            raise UserError(
                f'{path}, line {number}: {brief(line)!r} is no line of SCAN, such as '
                "'IN: jump left OUT: I_TURN_LEFT I_JUMP'"
            )
        pairs.append((command, actions))
    if not pairs:
        raise UserError(f'{path}: empty; must have lines of SCAN')
    return pairs


def format_line(command: str, actions: list[str]) -> str:
    """The line of a pair, without its end."""
    return f'{_IN}{command}{_OUT}{" ".join(actions)}'


def read_lines(path: pathlib.Path) -> Iterator[str]:
    """The lines of a text file, gzipped or not, without their ends.

    Raises:
      UserError: it is missing, cannot be read, is truncated, or is no UTF-8 text.
    """
    open_file = gzip.open if path.suffix == '.gz' else open
    try:
        with open_file(path, 'rt', encoding='utf-8', newline=None) as f:
            text = f.read()
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except (OSError, EOFError, UnicodeDecodeError) as e:
        reason = getattr(e, 'strerror', None) or brief(str(e))
        raise UserError(f'{path}: cannot be read ({reason})') from None
    if text and not text.endswith('\n'):
        raise UserError(f'{path}: truncated, its last line has no end')
    return iter(text.splitlines())
