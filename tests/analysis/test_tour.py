"""The tour of the README: every cell of analysis/tour.ipynb runs, on a small sweep."""

import ast
import json
import time

import numpy as np
import pytest

from analysis.drawing.notebook import Picture
from anchorjax import tasks
from tests.support.sweeps import ROOT

PATH = ROOT / 'analysis' / 'tour.ipynb'
FOLDER = "ROOT / 'runs/phase'"  # what the reader is told to change
SECONDS = 120  # that the tour may take
LARGEST = 150_000  # bytes of the file, pictures included


def read_code() -> list[dict]:
    cells = json.loads(PATH.read_text())['cells']
    return [cell for cell in cells if cell['cell_type'] == 'code']


def run_cell(source: str, name: str, scope: dict) -> object:
    """Executes a cell; the value of its last line if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, 'exec'), scope)
    if last is not None:
        return eval(compile(ast.Expression(last.value), name, 'eval'), scope)


def test_its_outputs_are_there_and_small():
    assert PATH.stat().st_size < LARGEST
    pictures = 0
    for cell in read_code():
        assert cell['execution_count'], ''.join(cell['source'])
        for output in cell['outputs']:
            assert output['output_type'] != 'error'
            assert output.get('name') != 'stderr', output
            pictures += 'image/png' in output.get('data', {})
    assert pictures == 2


@pytest.mark.slow
def test_every_cell_runs(finished, monkeypatch, capsys):
    monkeypatch.setitem(tasks.TASKS, 'largest', None)  # and is gone afterwards
    code = [''.join(cell['source']) for cell in read_code()]
    assert sum(source.count(FOLDER) for source in code) == 1
    folder = repr(str(finished.folder.workdir))
    scope: dict = {}
    values = []
    began = time.monotonic()
    for number, source in enumerate(code, start=1):
        changed = source.replace(FOLDER, folder)
        name = f'cell {number} of {PATH.name}'
        values.append(run_cell(changed, name, scope))
    assert time.monotonic() - began < SECONDS

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
