"""The commands of SCAN, what they mean, and which are trained (DATASETS 2).

A command is made of words, 'jump around left twice', and means a list of actions. The
grammar gives 20,910 commands. A split says which of them are trained and which tested;
the random one, of which the official file is a draw, is drawn here anew.
"""

import functools
from typing import Literal, NamedTuple

import numpy as np

UNITS = ('walk', 'look', 'run', 'jump')  # turn is none: it does nothing by itself
DIRECTIONS = ('left', 'right')
WORDS = (*UNITS, 'turn', *DIRECTIONS)
WORDS += ('opposite', 'around', 'twice', 'thrice', 'and', 'after')
ACTIONS = ('I_WALK', 'I_LOOK', 'I_RUN', 'I_JUMP', 'I_TURN_LEFT', 'I_TURN_RIGHT')
LONGEST_COMMAND, MOST_ACTIONS = 9, 48

Split = Literal[
    'random',
    'length',
    'addprim_jump',
    'addprim_turn_left',
    'template_around_right',
    'template_opposite_right',
    'template_right',
    'template_jump_around_right',
    'filler_num0',
    'filler_num1',
    'filler_num2',
    'filler_num3',
]
# The primitive command that is trained only by itself, as a tenth of all lines.
_PRIMITIVES = {'addprim_jump': 'jump', 'addprim_turn_left': 'turn left'}
# (modifier, units that are not trained with it, units that are tested with it).
_TEMPLATES = {
    'template_around_right': ('around right', UNITS, UNITS),
    'template_opposite_right': ('opposite right', UNITS, UNITS),
    'template_right': ('right', UNITS, UNITS),
    'template_jump_around_right': ('around right', ('jump',), ('jump',)),
    'filler_num0': ('around right', UNITS, ('jump',)),
    'filler_num1': ('around right', ('walk', 'run', 'jump'), ('jump',)),
    'filler_num2': ('around right', ('run', 'jump'), ('jump',)),
    'filler_num3': ('around right', ('jump',), ('jump',)),
}
_LONGEST_TRAINED = 22  # actions, in the split by length; there is no command with 23
_RANDOM_SHARE = 0.8  # trained in the random split: 16,728
_MEANINGS = {'walk': 'I_WALK', 'look': 'I_LOOK', 'run': 'I_RUN', 'jump': 'I_JUMP'}
_MEANINGS |= {'left': 'I_TURN_LEFT', 'right': 'I_TURN_RIGHT'}
_REPEATS = {'twice': 2, 'thrice': 3}


class Lines(NamedTuple):
    """Which commands a split trains and tests: indices into `list_commands()`."""

    trained: np.ndarray  # each once, without the primitive
    tested: np.ndarray
    primitive: int | None  # trained in every tenth line besides


@functools.cache
def list_commands() -> tuple[str, ...]:
    """All 20,910 commands."""
    phrases = []
    for verb in _list_verbs():
        phrases += [verb, f'{verb} twice', f'{verb} thrice']
    commands = list(phrases)
    for conjunction in ('and', 'after'):
        for first in phrases:
            commands += [f'{first} {conjunction} {second}' for second in phrases]
    return tuple(commands)


@functools.cache
def _list_verbs() -> tuple[str, ...]:
    """The 34 phrases without twice, thrice, and, after."""
    verbs: list[str] = [*UNITS]
    for unit in (*UNITS, 'turn'):
        for direction in DIRECTIONS:
            verbs.append(f'{unit} {direction}')
            verbs.append(f'{unit} opposite {direction}')
            verbs.append(f'{unit} around {direction}')
    return tuple(verbs)


def interpret(command: str) -> list[str]:
    """The actions that a command means; ValueError if it is none of the grammar."""
    words = command.split(' ')
    for conjunction in ('and', 'after'):
        if conjunction in words:
            at = words.index(conjunction)
            first, second = _repeat(words[:at]), _repeat(words[at + 1 :])
            return first + second if conjunction == 'and' else second + first
    return _repeat(words)


def _repeat(words: list[str]) -> list[str]:
    """The actions of a phrase without a conjunction."""
    if words and words[-1] in _REPEATS:
        return _act(words[:-1]) * _REPEATS[words[-1]]
    return _act(words)


def _act(words: list[str]) -> list[str]:
    """The actions of a verb and its direction."""
    if ' '.join(words) not in _list_verbs():
        raise ValueError(f'{" ".join(words)!r} is no phrase of SCAN')
    unit, direction = words[0], words[-1]
    acts = [] if unit == 'turn' else [_MEANINGS[unit]]
    if len(words) == 1:
        return acts
    turn = [_MEANINGS[direction]]
    if 'opposite' in words:
        return turn + turn + acts
    if 'around' in words:
        return (turn + acts) * 4
    return turn + acts


@functools.cache
def list_lines(split: Split) -> Lines:
    """What a split trains and tests."""
    commands = list_commands()
    if split == 'random':
        order = np.random.default_rng(0).permutation(len(commands))
        number = round(_RANDOM_SHARE * len(commands))
        return Lines(np.sort(order[:number]), np.sort(order[number:]), None)
    trained, tested = [], []
    for index, command in enumerate(commands):
        if is_trained(split, command):
            trained.append(index)
        elif is_tested(split, command):
            tested.append(index)
    primitive = None
    if split in _PRIMITIVES:
        primitive = commands.index(_PRIMITIVES[split])
        trained.remove(primitive)
    return Lines(np.array(trained), np.array(tested), primitive)


def is_trained(split: Split, command: str) -> bool:
    """Whether a split, other than the random one, trains this command."""
    if split == 'length':
        return len(interpret(command)) <= _LONGEST_TRAINED
    if split in _PRIMITIVES:
        return not is_tested(split, command)
    modifier, untrained, _ = _TEMPLATES[split]
    return not _has_any(command, (*untrained, 'turn'), modifier)


def is_tested(split: Split, command: str) -> bool:
    """Whether a split, other than the random one, tests this command."""
    if split == 'length':
        return not is_trained(split, command)
    if split in _PRIMITIVES:
        primitive = _PRIMITIVES[split]
        return primitive in command and command != primitive
    modifier, _, tested = _TEMPLATES[split]
    has_turn = _has_any(command, ('turn',), modifier)
    return _has_any(command, tested, modifier) and not has_turn


def _has_any(command: str, units: tuple[str, ...], modifier: str) -> bool:
    return any(f'{unit} {modifier}' in command for unit in units)
