"""The official text format of SCAN: 'IN: jump left OUT: I_TURN_LEFT I_JUMP'."""

import pathlib

from anchorjax.errors import UserError, brief
from anchorjax.tasks.scan.grammar import ACTIONS, WORDS
from anchorjax.tasks.text_files import read_lines

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
