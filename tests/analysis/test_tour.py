"""The notebooks: their outputs are stored, and every cell runs, on a small sweep."""

import ast
import json
import pathlib

import pytest

from analysis.drawing.notebook import Picture
from tests.support.sweeps import ROOT

TOUR, CUT = (ROOT / 'analysis' / name for name in ('tour.ipynb', 'cut.ipynb'))
SHORT = 'config.set_length(c, 20, 2)\nc.train.snapshot_steps = (0,)\n'
LARGEST = 150_000  # bytes of the file, pictures included


def read_code(path: pathlib.Path) -> list[dict]:
    cells = json.loads(path.read_text())['cells']
    return [cell for cell in cells if cell['cell_type'] == 'code']


def run_cell(source: str, name: str, scope: dict) -> object:
    """Executes a cell; the value of its last line if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, 'exec'), scope)
    if last is not None:
        return eval(compile(ast.Expression(last.value), name, 'eval'), scope)


@pytest.mark.parametrize('path', [TOUR, CUT], ids=lambda path: path.stem)
def test_its_outputs_are_there_and_small(path):
    assert path.stat().st_size < LARGEST
    pictures = 0
    for cell in read_code(path):
        assert cell['execution_count'], ''.join(cell['source'])
        for output in cell['outputs']:
            assert output['output_type'] != 'error'
            assert output.get('name') != 'stderr', output
            pictures += 'image/png' in output.get('data', {})
    assert pictures


def run_cells(path: pathlib.Path, settings: str, short: str) -> dict:
    """The names that all cells leave, with short training in place of `settings`."""
    scope: dict = {}
    for number, cell in enumerate(read_code(path), start=1):
        source = ''.join(cell['source'])
        name = f'cell {number} of {path.name}'
        value = run_cell(source.replace(settings, short), name, scope)
        if isinstance(value, Picture):
            assert value._repr_png_().startswith(b'\x89PNG')
    assert scope['run'].experiment.train.num_steps == 20
    return scope


@pytest.mark.slow
def test_every_cell_of_the_tour_runs_on_a_network_that_is_hardly_trained(capsys):
    scope = run_cells(TOUR, 'config.set_length(c, 3_000, 6)\n', SHORT)
    assert len(json.loads(TOUR.read_text())['cells']) == 12
    assert scope['unchanged'].shape == (2, 4) and scope['path'].exists()
    assert set(scope['activations']) >= {'X_em', 'block_1/X_qkv', 'logits'}
    assert capsys.readouterr().out.endswith('True\n')


@pytest.mark.slow
def test_every_cell_of_the_cut_runs_on_a_network_that_is_hardly_trained():
    settings = 'c.model.depth = 2\n'  # to which the test adds its own
    scope = run_cells(CUT, settings, settings + SHORT)
    edges, shares = scope['edges'], scope['shares']
    assert len(shares) == len(edges) + 1  # with all edges, and after each cut
    assert shares.iloc[0].equals(scope['intact'].iloc[0])
    assert set(scope['circuit']) <= set(edges)


def test_the_stored_network_composes_until_its_circuit_is_cut():
    """The story is told by numbers of the stored outputs."""
    (table,) = [c for c in read_code(CUT) if 'prune_edges' in ''.join(c['source'])]
    lines = ''.join(table['outputs'][0]['text']).splitlines()[2:]
    composed = [float(line.split()[-2]) for line in lines]
    (circuit,) = [c for c in read_code(CUT) if 'find_circuit' in ''.join(c['source'])]
    left = len(''.join(circuit['outputs'][0]['text']).splitlines())
    assert composed[0] > 0.8 and composed[-1 - left] > 0.8 and composed[-1] < 0.1
