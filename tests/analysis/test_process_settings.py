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
SETTINGS = [
    {'image.origin': 'lower'},
    {'text.usetex': True},
    {'font.size': 20, 'axes.grid': True, 'figure.autolayout': True},
    {'savefig.transparent': True, 'axes.prop_cycle': "cycler('color', ['r'])"},
    {'image.cmap': 'gray', 'lines.linewidth': 9, 'axes.unicode_minus': False},
]


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


@pytest.mark.parametrize('settings', SETTINGS, ids=lambda one: next(iter(one)))
def test_a_picture_starts_from_the_defaults(settings):
    assert draw_example(settings) == draw_example({})


@pytest.mark.slow
@pytest.mark.parametrize(
    'backend', ['svg', 'nonsense', 'module://no_such_package.backend_inline']
)
def test_figures_are_imported_under_any_backend_and_leave_it(backend):
    code = (
        'import os, sys, analysis.figure as figure; figure.find_figures(); '
        "import matplotlib; assert 'matplotlib.pyplot' not in sys.modules; "
        "print(os.environ['MPLBACKEND'], dict.get(matplotlib.rcParams, 'backend'))"
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        env=os.environ | {'MPLBACKEND': backend},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept, chosen = done.stdout.split(maxsplit=1)
    assert kept == backend and (backend != 'svg' or chosen.strip() == 'svg')


@pytest.mark.slow
@pytest.mark.parametrize(
    ('variables', 'words'),
    [
        ({'PYTHONIOENCODING': 'ascii'}, ['--list']),
        ({'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'}, ['--list']),
        ({'PYTHONIOENCODING': 'latin-1'}, ['phase', '--help']),
        ({'PYTHONOPTIMIZE': '2'}, []),
        ({'PYTHONOPTIMIZE': '2'}, ['phase', '--help']),
        ({'PYTHONOPTIMIZE': '2'}, ['solutions', '--help']),
        ({'COLUMNS': '3', 'TERM': 'dumb'}, ['phase', '--help']),
    ],
    ids=str,
)
def test_a_command_speaks_to_any_terminal(variables, words):
    done = subprocess.run(
        [sys.executable, '-m', 'analysis', *words],
        env=os.environ | variables,
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stderr


def test_numbers_are_there_where_a_picture_fails(tmp_path):
    def fail(result, axes):
        raise ValueError('no picture')

    result = pd.DataFrame({'loss': [0.5]})
    with pytest.raises(ValueError, match='no picture'):
        style.write_figure(result, fail, style.Layout(1, 1, 2.0, 2.0), tmp_path / 'x')
    assert [path.name for path in tmp_path.iterdir()] == ['x.csv']
