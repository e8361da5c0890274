"""The official text format of SCAN: 'IN: jump left OUT: I_TURN_LEFT I_JUMP'."""

import pathlib

import numpy as np

from anchorjax.errors import UserError, brief
from anchorjax.tasks.scan.grammar import (
    ACTIONS,
    WORDS,
    Lines,
    Split,
    interpret,
    list_commands,
    list_lines,
)
from anchorjax.tasks.text_files import read_lines

_IN, _OUT = 'IN: ', ' OUT: '
# The official name of the random split; the files that we write have our own.
_NAMES = {'random': ('simple', 'random')}


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


def read_split(folder: pathlib.Path, split: Split, num_trained: int) -> Lines:
    """What the files of a split in a folder train and test.

    They are held to the rules: to what every command means, and to which commands the
    split has. The random split may be any partition of as many commands.

    Args:
      num_trained: training lines that there must be, repeated ones included.

    Raises:
      UserError: as `read_pairs`, or they are not those of the split.
    """
    expected = list_lines(split)
    train_path, test_path = find_files(folder, split)
    rows = _read_rows(train_path)
    tested = np.sort(_read_rows(test_path))
    trained = np.sort(rows)
    if expected.primitive is not None:
        trained = trained[trained != expected.primitive]
    if len(rows) != num_trained:
        line = f'{len(rows):,} lines, not the {num_trained:,} of {split}'
        raise UserError(f'{train_path}: {line}; truncated, or another split')
    if split == 'random':
        all_rows = np.sort(np.concatenate([trained, tested]))
        is_right = np.array_equal(all_rows, np.arange(len(list_commands())))
    else:
        is_right = np.array_equal(trained, expected.trained)
        is_right &= np.array_equal(tested, expected.tested)
    if not is_right:
        line = f'these are not the commands that {split} trains and tests'
        raise UserError(f'{train_path} and {test_path.name}: {line}')
    return Lines(trained, tested, expected.primitive)


def find_files(folder: pathlib.Path, split: Split) -> tuple[pathlib.Path, pathlib.Path]:
    """The files of a split in a folder: what is trained, and what is tested."""
    return _find_file(folder, 'train', split), _find_file(folder, 'test', split)


def _find_file(folder: pathlib.Path, part: str, split: Split) -> pathlib.Path:
    """The file of a part of a split, gzipped or not; the first name if none exists."""
    paths = []
    for name in _NAMES.get(split, (split,)):
        path = folder / f'tasks_{part}_{name}.txt'
        paths += [path, path.with_name(f'{path.name}.gz')]
    for path in paths:
        if path.exists():
            return path
    return paths[0]


def _read_rows(path: pathlib.Path) -> np.ndarray:
    """The commands of a file, as indices into `list_commands()`."""
    index_of = {command: index for index, command in enumerate(list_commands())}
    rows = []
    for number, (command, actions) in enumerate(read_pairs(path), 1):
        if command not in index_of or interpret(command) != actions:
            line = f'{brief(command)!r} does not mean {brief(" ".join(actions))!r}'
            raise UserError(f'{path}, line {number}: {line}')
        rows.append(index_of[command])
    return np.array(rows)


def format_line(command: str, actions: list[str]) -> str:
    """The line of a pair, without its end."""
    return f'{_IN}{command}{_OUT}{" ".join(actions)}'
