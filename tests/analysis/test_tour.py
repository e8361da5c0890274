"""The notebooks: their outputs are stored, and every cell runs, on a small sweep."""

import ast
import json
import pathlib

import numpy as np
import pytest

from analysis.drawing.notebook import Picture
from anchorjax import tasks
from tests.support.sweeps import ROOT

TOUR, CUT = (ROOT / 'analysis' / name for name in ('tour.ipynb', 'cut.ipynb'))
FOLDER = "ROOT / 'runs/phase'"  # what the reader is told to change
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
    assert pictures == 2


@pytest.mark.slow
def test_every_cell_of_the_tour_runs(finished, monkeypatch, capsys):
    monkeypatch.setitem(tasks.TASKS, 'largest', None)  # and is gone afterwards
    code = [''.join(cell['source']) for cell in read_code(TOUR)]
    assert sum(source.count(FOLDER) for source in code) == 1
    folder = repr(str(finished.folder.workdir))
    scope: dict = {}
    values = []
    for number, source in enumerate(code, start=1):
        changed = source.replace(FOLDER, folder)
        name = f'cell {number} of {TOUR.name}'
        values.append(run_cell(changed, name, scope))

    unseen = finished.results.agreement.sel(eval_set='unseen', mapping='composed')
    assert scope['composed'].identical(unseen)
    assert scope['best'].unseen_composed == pytest.approx(float(unseen.max()))
    assert (scope['cut'].unchanged <= 1).all()
    np.testing.assert_array_equal(
        scope['result'].unseen_composed, unseen.values.ravel()
    )
    right = scope['right'].squeeze()
    assert float(right.isel(step=-1).max()) > 0.8  # the new task is learned
    pictures = [value for value in values if isinstance(value, Picture)]
    assert len(pictures) == 2
    for picture in pictures:
        assert picture._repr_png_().startswith(b'\x89PNG')
    assert 'largest' in tasks.TASKS
    assert 'converged' in capsys.readouterr().out


@pytest.mark.slow
def test_every_cell_of_the_cut_runs_on_a_network_that_is_hardly_trained():
    settings = 'c.model.depth = 2\n'  # to which the test adds its own
    scope: dict = {}
    for cell in read_code(CUT):
        source = ''.join(cell['source'])
        run_cell(source.replace(settings, settings + SHORT), CUT.name, scope)
    assert scope['run'].experiment.train.num_steps == 20
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
