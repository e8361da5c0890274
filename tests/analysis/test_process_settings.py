"""What a reader has set changes no picture, and a picture sets nothing of theirs."""

import os
import pathlib
import subprocess
import sys

import matplotlib.style
import pandas as pd
import pytest

from analysis.drawing import style

ROOT = pathlib.Path(__file__).parents[2]
SETTINGS = {
    'image.origin': 'lower',
    'image.cmap': 'gray',
    'text.usetex': True,
    'font.size': 20,
    'lines.linewidth': 9,
    'axes.grid': True,
    'axes.unicode_minus': False,
    'axes.prop_cycle': "cycler('color', ['r'])",
    'figure.autolayout': True,
    'savefig.transparent': True,
}


def draw_example(settings: dict) -> bytes:
    """A heat-map and a line, drawn in a process with these settings."""
    table = pd.DataFrame([[0.0, 1.0, 2.0], [3.0, 4.0, -5.0]])

    def draw(result, axes):
        axes[0, 0].imshow(result)
        axes[0, 1].plot(result[0], label='γ')
        axes[0, 1].legend()

    with matplotlib.style.context(settings):
        before = matplotlib.rcParams.copy()
        layout = style.Layout(1, 2, 3.0, 1.5)
        with style.draw_figure(table, draw, layout) as figure:
            figure.canvas.draw()
            pixels = bytes(figure.canvas.buffer_rgba())
        assert matplotlib.rcParams.copy() == before
    return pixels


def test_a_picture_starts_from_the_defaults():
    assert draw_example(SETTINGS) == draw_example({})


# Every command, and what became of the backend: a process each would take six seconds.
COMMANDS = """
import os, sys
from analysis.__main__ import command
from anchorjax import cli

for words in ([], ['--list'], ['phase', '--help'], ['lazy', '--help']):
    sys.argv = ['analysis', *words]
    try:
        cli.run_command(command)
    except SystemExit as done:
        if done.code:
            sys.exit(f'{words}: {done.code}')
import matplotlib
if 'matplotlib.pyplot' in sys.modules:
    sys.exit('pyplot is imported')
print(os.environ['MPLBACKEND'])
"""


@pytest.mark.slow
def test_commands_speak_to_any_terminal_and_leave_any_backend():
    backend = 'module://no_such.inline'
    variables = {'LC_ALL': 'C', 'PYTHONIOENCODING': 'ascii', 'COLUMNS': '3'}
    done = subprocess.run(
        [sys.executable, '-c', COMMANDS],
        env=os.environ | variables | {'MPLBACKEND': backend},
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    *said, last = done.stdout.splitlines()
    assert said and last.decode().split()[0] == backend


def test_numbers_are_there_where_a_picture_fails(tmp_path):
    def fail(result, axes):
        raise ValueError('no picture')

    result = pd.DataFrame({'loss': [0.5]})
    with pytest.raises(ValueError, match='no picture'):
        style.write_figure(result, fail, style.Layout(1, 1, 2.0, 2.0), tmp_path / 'x')
    assert [path.name for path in tmp_path.iterdir()] == ['x.csv']
