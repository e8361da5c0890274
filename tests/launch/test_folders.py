"""What the command lines say about the paths they get, before anything is computed."""

import pathlib
import shutil

import pytest

from tests.support import in_process
from tests.support.sweeps import opened, tree_hash


def make_page(tmp_path: pathlib.Path, one_member: pathlib.Path) -> pathlib.Path:
    """Where another report is, with its figures."""
    (tmp_path / 'first.html').touch()
    (tmp_path / 'figures').mkdir()
    return tmp_path / 'second.html'


def make_run(tmp_path: pathlib.Path, one_member: pathlib.Path) -> pathlib.Path:
    """In the folder of another run."""
    shutil.copytree(one_member, tmp_path / 'other')
    return tmp_path / 'other' / 'report.html'


def make_folder(tmp_path: pathlib.Path, one_member: pathlib.Path) -> pathlib.Path:
    """A folder instead of a page."""
    (tmp_path / 'notes').mkdir()
    (tmp_path / 'notes' / 'mine.txt').touch()
    return tmp_path / 'notes'


@pytest.mark.parametrize(
    ('make', 'part'),
    [
        (make_page, 'first.html is beside it, with figures that'),
        (make_run, 'other is another run; give another folder'),
        (make_folder, 'notes: is a folder; give the page, such as'),
    ],
)
def test_a_report_is_refused_where_it_would_replace_something(
    make, part, one_member, tmp_path, monkeypatch, capsys
):
    page = make(tmp_path, one_member)
    before = tree_hash(tmp_path)
    words = ['--run', str(one_member), '--out', str(page)]
    said = in_process.run('report.py', words, monkeypatch, capsys)
    assert said.code == 2 and part in said.errors
    assert len(said.errors.splitlines()) == 1  # nothing was computed
    assert tree_hash(tmp_path) == before


def test_finalize_writes_the_tables_and_figures_anew(
    one_member, tmp_path, monkeypatch, capsys
):
    run = shutil.copytree(one_member, tmp_path / 'run')
    (run / 'members.csv').unlink()
    said = in_process.run('finalize.py', ['--run', str(run)], monkeypatch, capsys)
    assert said.code == 0, said.errors
    assert (run / 'members.csv').exists()
    assert str(run / 'figures' / 'answers.png') in said.out


def test_finalize_says_if_nothing_is_trained(tmp_path, monkeypatch, capsys):
    opened(tmp_path)
    said = in_process.run('finalize.py', ['--run', str(tmp_path)], monkeypatch, capsys)
    assert said.code == 0, said.errors
    assert said.out.splitlines()[0] == 'no member is trained yet'
