"""SCAN: meanings by hand, every split against its rule and the official files."""

import collections
import math
from typing import get_args

import jax
import jax.numpy as jnp
import pytest

from anchorjax.tasks.scan import ScanConfig
from anchorjax.tasks.scan import grammar as scan_grammar
from anchorjax.tasks.text_files import parse_lines
from tests.support.official_data import find_official

COMMANDS = scan_grammar.list_commands()
SIZES = {  # training lines, tested lines (DATASETS 2)
    'random': (16_728, 4_182),
    'length': (16_990, 3_920),
    'addprim_jump': (14_670, 7_706),
    'addprim_turn_left': (21_890, 1_208),
    'template_around_right': (15_225, 4_476),
    'template_opposite_right': (15_225, 4_476),
    'template_right': (15_225, 4_476),
    'template_jump_around_right': (18_528, 1_173),
    'filler_num0': (15_225, 1_173),
    'filler_num1': (16_290, 1_173),
    'filler_num2': (17_391, 1_173),
    'filler_num3': (18_528, 1_173),
}


def read_official(name: str) -> list[str]:
    """The commands of an official file; each is followed by what we say it means."""
    commands = []
    for line in parse_lines(find_official(f'scan/tasks{name}.txt.gz'), str):
        command = line.removeprefix('IN: ').partition(' OUT: ')[0]
        assert line == format_line(command)
        commands.append(command)
    return commands


def format_line(command: str) -> str:
    return f'IN: {command} OUT: {" ".join(scan_grammar.interpret(command))}'


@pytest.mark.parametrize(
    ('command', 'actions'),
    [
        ('jump', 'JUMP'),
        ('turn left', 'TURN_LEFT'),
        ('walk right', 'TURN_RIGHT WALK'),
        ('turn opposite left', 'TURN_LEFT TURN_LEFT'),
        ('run opposite right', 'TURN_RIGHT TURN_RIGHT RUN'),
        ('look around left', ' '.join(4 * ['TURN_LEFT LOOK'])),
        ('turn around right thrice', ' '.join(12 * ['TURN_RIGHT'])),
        ('jump twice and look', 'JUMP JUMP LOOK'),
        ('jump twice after look left', 'TURN_LEFT LOOK JUMP JUMP'),
    ],
)
def test_meanings_by_hand(command, actions):
    expected = [f'I_{action}' for action in actions.split()]
    assert scan_grammar.interpret(command) == expected
    assert command in COMMANDS


def test_there_are_20910_commands_of_1_to_48_actions():
    assert len(COMMANDS) == len(set(COMMANDS)) == 20_910
    sizes = {len(scan_grammar.interpret(command)) for command in COMMANDS}
    assert (min(sizes), max(sizes)) == (1, 48) and 23 not in sizes
    assert max(len(command.split()) for command in COMMANDS) == 9


def test_the_official_pairs_are_ours():
    official = read_official('')
    assert len(official) == 20_910 and set(official) == set(COMMANDS)


@pytest.mark.parametrize('split', get_args(scan_grammar.Split))
def test_sizes_and_disjoint_sets_of_every_split(split):
    lines = scan_grammar.list_lines(split)
    assert ScanConfig(split=split).make().num_train == SIZES[split][0]
    assert len(lines.tested) == SIZES[split][1]
    trained = set(lines.trained.tolist()) | {lines.primitive}
    assert not trained & set(lines.tested.tolist())
    assert len(set(lines.trained.tolist())) == len(lines.trained)


@pytest.mark.parametrize(
    ('split', 'command', 'place'),
    [
        ('length', 'look around right twice and turn opposite left thrice', 'trained'),
        ('length', 'look around right thrice', 'tested'),
        ('addprim_jump', 'jump', 'primitive'),
        ('addprim_jump', 'walk after jump', 'tested'),
        ('addprim_turn_left', 'turn left', 'primitive'),
        ('addprim_turn_left', 'turn left twice', 'tested'),
        ('addprim_turn_left', 'turn around left twice', 'trained'),
        ('template_right', 'walk right', 'tested'),
        ('template_right', 'turn right', 'neither'),
        ('template_right', 'walk around right', 'trained'),
        ('template_jump_around_right', 'jump around right', 'tested'),
        ('template_jump_around_right', 'turn around right', 'neither'),
        ('template_jump_around_right', 'run around right', 'trained'),
        ('filler_num1', 'look around right', 'trained'),
        ('filler_num1', 'walk around right', 'neither'),
        ('filler_num2', 'walk around right', 'trained'),
        ('filler_num2', 'look and jump around right', 'tested'),
    ],
)
def test_where_a_split_puts_a_command(split, command, place):
    lines = scan_grammar.list_lines(split)
    index = COMMANDS.index(command)
    assert (index in lines.trained) == (place == 'trained')
    assert (index in lines.tested) == (place == 'tested')
    assert (index == lines.primitive) == (place == 'primitive')


@pytest.mark.parametrize('number', [1, 500])
def test_a_tenth_of_a_training_set_of_any_size_is_the_primitive(number):
    config = ScanConfig(num_examples=number)
    rows = jax.jit(config.train)(jax.random.key(0), jnp.arange(number))
    counts = collections.Counter(COMMANDS[row] for row in rows.tolist())
    assert counts.pop('turn left') == math.ceil(number / 10)
    assert set(counts.values()) <= {1}


def test_the_rows_of_eval_sets_are_those_of_the_split():
    config = ScanConfig(num_examples=2_000, eval_examples=3_000)
    key = jax.random.key(0)
    trained = set(jax.jit(config.train)(key, jnp.arange(2_000)).tolist())
    asked = jax.jit(config.draw_asked)(key)
    rows = {name: set(of[0][of[1]].tolist()) for name, of in asked.items()}
    lines = scan_grammar.list_lines(config.split)
    assert rows['seen_train'] == trained
    assert rows['seen_heldout'] < {*lines.trained.tolist()} - trained
    assert rows['test'] == {*lines.tested.tolist()}
    assert config.make_table().length_N.max() == config.seq_len + 1


@pytest.mark.parametrize('split', ['addprim_jump', 'addprim_turn_left'])
def test_the_official_lines_of_a_split_are_ours(split):
    lines = scan_grammar.list_lines(split)
    trained, tested = (read_official(f'_{part}_{split}') for part in ('train', 'test'))
    assert (len(trained), len(tested)) == SIZES[split]
    expected = {COMMANDS[row] for row in (*lines.trained, lines.primitive)}
    assert set(trained) == expected
    assert set(tested) == {COMMANDS[row] for row in lines.tested}
