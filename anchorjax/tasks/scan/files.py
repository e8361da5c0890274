"""The official text format of SCAN: 'IN: jump left OUT: I_TURN_LEFT I_JUMP'."""

import functools
import pathlib

import numpy as np

from anchorjax.errors import UserError
from anchorjax.tasks.scan import grammar
from anchorjax.tasks.text_files import find_file, parse_lines

_IN, _OUT = 'IN: ', ' OUT: '
_NAMES = {'random': 'simple'}  # official names that are not ours


def find_files(
    folder: pathlib.Path, split: grammar.Split
) -> tuple[pathlib.Path, pathlib.Path]:
    """The files of a split in a folder: what is trained, and what is tested."""
    name = _NAMES.get(split, split)
    trained = find_file(folder, f'tasks_train_{name}.txt')
    return trained, find_file(folder, f'tasks_test_{name}.txt')


def parse_line(line: str) -> tuple[str, list[str]]:
    """(command, actions) of a line.

    Raises:
      ValueError: it is not in SCAN's format, or the command means something else.
    """
    command, out, answer = line.removeprefix(_IN).partition(_OUT)
    if not line.startswith(_IN) or not out:
        raise ValueError("is no line of SCAN: 'IN: jump left OUT: I_TURN_LEFT I_JUMP'")
    actions = answer.split(' ')
    if grammar.interpret(command) != actions:
        raise ValueError('does not have the actions that its command means')
    return command, actions


@functools.lru_cache(maxsize=4)
def read_split(
    folder: pathlib.Path, split: grammar.Split, num_trained: int
) -> grammar.Lines:
    """What the official files of a split train and test.

    They are held to the rules: to what every command means, and to which commands the
    split has. The random split may be any partition of as many commands.

    Args:
      num_trained: training lines that there must be, repeated ones included.

    Raises:
      UserError: as `parse_lines`, or they are not those of the split.
    """
    expected = grammar.list_lines(split)
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
        is_right = np.array_equal(all_rows, np.arange(len(grammar.list_commands())))
    else:
        is_right = np.array_equal(trained, expected.trained)
        is_right &= np.array_equal(tested, expected.tested)
    if not is_right:
        line = f'these are not the commands that {split} trains and tests'
        raise UserError(f'{train_path} and {test_path.name}: {line}')
    return grammar.Lines(trained, tested, expected.primitive)


def _read_rows(path: pathlib.Path) -> np.ndarray:
    """The commands of a file, as indices into `grammar.list_commands()`."""
    index_of = {command: index for index, command in enumerate(grammar.list_commands())}
    pairs = parse_lines(path, parse_line)
    return np.array([index_of[command] for command, _ in pairs])
