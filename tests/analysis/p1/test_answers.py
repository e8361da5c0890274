"""What a sweep shows at its end, also where a figure or its claims have nothing."""

import errno
import shutil
from unittest.mock import Mock

import pytest

from analysis.first_look import describe_claims, save_figures
from analysis.frame import list_usable, read_members
from analysis.p1 import answers, phase
from anchorjax.errors import EXIT_FAILED, EXIT_USER_ERROR, UserError
from anchorjax.storage.reader import open_run
from tests.support import in_process


def test_a_sweep_that_diverged_ends_without_answers_and_claims(
    finished, monkeypatch, tmp_path
):
    diverged = finished.results.diverged.where(False, 7)
    results = finished.results.assign(diverged=diverged)
    monkeypatch.setitem(finished.__dict__, 'results', results)
    assert save_figures(finished, tmp_path) == []
    assert describe_claims(finished, {}) == []
    with pytest.raises(UserError, match='or all have diverged'):
        answers.compute(read_members(finished))
    with pytest.raises(UserError, match='or all have diverged'):
        list_usable(finished)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('failing', 'error', 'code'),
    [
        (answers, OverflowError('too large'), EXIT_USER_ERROR),
        (phase, OSError(errno.ENOSPC, 'full'), EXIT_FAILED),
    ],
)
def test_a_figure_that_fails_leaves_all_else_done_and_is_an_exit_code(
    finished, tmp_path, monkeypatch, capsys, failing, error, code
):
    run = shutil.copytree(finished.folder.workdir, tmp_path / 'run')
    for path in (run / 'members.csv', run / 'results.nc', *run.glob('figures/*')):
        path.unlink()
    monkeypatch.setattr(failing, 'draw', Mock(side_effect=error))
    said = in_process.run('finalize.py', ['--run', str(run)], monkeypatch, capsys)
    assert said.code == code
    assert 'converged' in said.out  # the table
    (line,) = said.errors.splitlines()
    assert failing.__name__.rpartition('.')[2] in line and error.args[-1] in line
    assert (run / 'members.csv').exists() and (run / 'results.nc').exists()
    (other,) = {answers, phase} - {failing}
    names = {path.stem for path in (run / 'figures').glob('*.png')}
    assert names == {other.__name__.rpartition('.')[2]}


def test_a_sweep_that_no_claim_of_its_name_can_count_ends_all_the_same(
    finished, tmp_path
):
    """Else the command would end as if its input were bad, with all trained."""
    folder = tmp_path / 'memory_reasoning'
    shutil.copytree(finished.folder.workdir, folder)
    (line,) = describe_claims(open_run(folder), {})
    assert line.startswith(f"no claims: {folder}: task 'anchors'")
    overrides = {'model.width': '16', 'grid.seed': '7,8'}
    settings, _ = describe_claims(open_run(folder), overrides)
    assert settings.endswith('here with model.width=16')
